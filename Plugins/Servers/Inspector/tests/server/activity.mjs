// What moves by itself: syncs that run, the requests and log lines that belong to them.
export function makeActivity(world, hub, settings) {
  const timers = new Set();
  const [store] = world.stores;
  let requestId = 0;

  const every = (milliseconds, action) => {
    const timer = setInterval(action, milliseconds);
    timers.add(timer);
    return timer;
  };
  const end = (timer) => {
    clearInterval(timer);
    timers.delete(timer);
  };

  function log(component, level, message, more = {}) {
    hub.add("logs", "log", { time: Date.now(), component, level, tag: null, message, error: null, file: `${component}/Log.swift`, function: "run()", ...more });
  }

  function request(method, path, { status = 200, milliseconds = 40, sentBytes = 0, receivedBytes = 0, syncId = null, time = Date.now() } = {}) {
    const item = { id: ++requestId, time, method, path, host: "acme.my.salesforce.com", status: null, milliseconds: null, sentBytes, receivedBytes: 0, repetitions: 0, syncId, store: store.id };
    return { start: () => hub.send("request", { sequence: 0, ...item }), end: () => hub.add("requests", "request", { ...item, status, milliseconds, receivedBytes }) };
  }

  /** Runs a sync in steps; each step is a page of records and a request. */
  function run(sync, { steps = settings.steps ?? 20, interval = 150 } = {}) {
    const total = Math.max(sync.totalSize, 2000);
    Object.assign(sync, { status: "RUNNING", progress: 0, totalSize: total, moved: 0, error: null, startTime: Date.now(), endTime: 0, elapsedSeconds: 0 });
    log("MobileSync", "info", `Sync ${sync.id} (${sync.type}) started.`);
    hub.send("sync", { store: store.id, sync });
    let step = 0;
    const timer = every(interval, () => {
      step++;
      const path = sync.type === "syncDown" ? "/services/data/v66.0/query" : "/services/data/v66.0/composite/sobjects";
      const one = request(sync.type === "syncDown" ? "GET" : "PATCH", path, { milliseconds: 60 + ((step * 31) % 90), receivedBytes: 48_000 + step * 17, sentBytes: sync.type === "syncUp" ? 20_000 : 0, syncId: sync.id });
      one.start();
      one.end();
      log("SalesforceSDKCore", "debug", `GET ${path}: 200, ${60 + ((step * 31) % 90)} ms, 0 bytes sent, ${48_000 + step * 17} bytes received`);
      sync.elapsedSeconds = (Date.now() - sync.startTime) / 1000;
      sync.moved = Math.floor((total * step) / steps);
      sync.progress = Math.min(Math.floor((100 * step) / steps), 99);
      sync.recordsPerSecond = sync.moved / sync.elapsedSeconds;
      sync.remainingSeconds = (total - sync.moved) / sync.recordsPerSecond;
      if (step >= steps) {
        end(timer);
        sync.timer = undefined;
        Object.assign(sync, { status: "DONE", progress: 100, moved: total, endTime: Date.now(), remainingSeconds: null });
        log("MobileSync", "info", `Sync ${sync.id} (${sync.type}) ended: DONE, ${total} records, ${Math.round(sync.elapsedSeconds * 1000)} ms.`);
        hub.send("change", { store: store.id, soups: [sync.soupName] });
        if (settings.live) setTimeout(() => settings.live && sync.status === "DONE" && run(sync, { steps, interval }), 3000).unref();
      }
      hub.send("sync", { store: store.id, sync });
    });
    Object.defineProperty(sync, "timer", { value: timer, enumerable: false, configurable: true, writable: true });
  }

  function stopSyncs() {
    for (const sync of store.syncs.filter(({ status }) => status === "RUNNING")) {
      if (sync.timer) end(sync.timer);
      Object.assign(sync, { status: "STOPPED", endTime: Date.now(), remainingSeconds: null });
      log("MobileSync", "warn", `Sync ${sync.id} (${sync.type}) ended: STOPPED.`);
      hub.send("sync", { store: store.id, sync });
    }
  }

  // What had happened before the page was opened.
  const past = world.now - 120_000;
  for (let index = 0; index < 60; index++) {
    const slow = index % 17 === 16;
    const failed = index % 23 === 22;
    request(index % 5 ? "GET" : "PATCH", index % 5 ? "/services/data/v66.0/query" : "/services/data/v66.0/sobjects/Visit__c/a01000000000001AAA", {
      status: failed ? 503 : index === 40 ? null : 200, milliseconds: slow ? 4210 : 40 + ((index * 29) % 120), receivedBytes: 900 + index * 977, sentBytes: index % 5 ? 0 : 640, syncId: (index % 3) + 1, time: past + index * 1500,
    }).end();
    log(["MobileSync", "SalesforceSDKCore", "SmartStore"][index % 3], ["debug", "info", "debug", "warn", "error", "info"][index % 6], [
      `Sync ${(index % 3) + 1} (syncDown) started.`, `GET /services/data/v66.0/query: 200, ${40 + ((index * 29) % 120)} ms, 0 bytes sent, ${900 + index * 977} bytes received`,
      "Checkpointed 412 pages of the WAL of store 'smartstore'.",
    ][index % 3], { time: past + index * 1500, error: index % 6 === 4 ? "TransportError: the connection was reset by the server" : null });
    if (index % 6 === 0) hub.add("analytics", "analytics", { time: past + index * 1500, name: index % 12 ? "syncDown" : "registerSoup", attributes: index % 12 ? { syncId: 2, numRecords: index * 10 } : { soupName: "visits" }, startTime: past + index * 1500, endTime: past + index * 1500 + 240 });
  }
  if (settings.live) run(store.syncs[1], { steps: 40, interval: 400 });

  return { run, stopSyncs, log, request, stop: () => [...timers].forEach(end) };
}
