import assert from "node:assert/strict";
import test from "node:test";
import { onTestBridge, withPage } from "./support/harness.mjs";
import { openPage, plain } from "./support/page.mjs";
import { startBridge } from "./bridge.mjs";

test("HT-5 a call reaches the bridge and its value reaches the callback", onTestBridge, async (t) => {
  const { call } = await withPage(t);
  const args = [1, "two", { three: [null, true, "\u2028</script>"] }];
  assert.deepEqual(plain(await call("test", "echo", args)), args);
});

test("HT-5 a response without value calls back without an argument", onTestBridge, async (t) => {
  const { cordova } = await withPage(t);
  const count = await new Promise((resolve) => {
    cordova.exec(function () { resolve(arguments.length); }, null, "test", "nothing", []);
  });
  assert.equal(count, 0);
});

test("HT-5 an error is delivered as it came, a text or an object", onTestBridge, async (t) => {
  const { call } = await withPage(t);
  await assert.rejects(call("test", "fail", ["why"]), (error) => error === "why");
  await assert.rejects(call("test", "fail", [{ message: "why" }]), (error) => error.message === "why");
});

test("HT-5 an unknown service and an unknown action are errors", async (t) => {
  const { call } = await withPage(t);
  await assert.rejects(call("no.such.service", "x", []), (error) => /invalid action/.test(error));
  await assert.rejects(call("com.salesforce.oauth", "x", []), (error) => /invalid action/.test(error));
  await assert.rejects(call("com.salesforce.oauth", "toString", []), (error) => /invalid action/.test(error));
});

test("either callback of a call may be missing", onTestBridge, async (t) => {
  const { cordova, call, page } = await withPage(t);
  cordova.exec(null, null, "test", "echo", [1]);
  cordova.exec(undefined, undefined, "test", "fail", ["why"]);
  await call("test", "slow", ["later", 10]);
  assert.deepEqual(page.errors, []);
  assert.equal(Object.keys(cordova.callbacks).length, 0);
});

test("HT-6 a missing argument list is an empty one, and a single value is a list of one", onTestBridge, async (t) => {
  const { call, bridge } = await withPage(t);
  await call("test", "echo");
  await call("test", "echo", "one");
  const { calls } = bridge;
  assert.deepEqual(calls.slice(-2).map((one) => one.args), [[], ["one"]]);
});

test("calls before the socket is open wait for it", onTestBridge, async (t) => {
  const bridge = await startBridge();
  const page = await openPage(bridge.url + "index.html", []);
  t.after(async () => {
    page.unload();
    await bridge.close();
  });
  await page.script("cordova.js");
  const responses = [1, 2, 3].map(
    (value) => new Promise((resolve, reject) => page.window.cordova.exec(resolve, reject, "test", "echo", [value]))
  );
  assert.deepEqual(plain(await Promise.all(responses)), [[1], [2], [3]]);
});

test("responses overtake each other between services", onTestBridge, async (t) => {
  const { call } = await withPage(t);
  const order = [];
  await Promise.all([
    call("test", "slow", ["slow", 40]).then(() => order.push("slow")),
    call("test", "echo", []).then(() => order.push("fast")),
  ]);
  assert.deepEqual(order, ["fast", "slow"]);
});

test("1,000 calls at once get one response each", onTestBridge, async (t) => {
  const { call } = await withPage(t);
  const numbers = Array.from({ length: 1000 }, (_, index) => index);
  const responses = await Promise.all(numbers.map((number) => call("test", "echo", [number])));
  assert.deepEqual(plain(responses), numbers.map((number) => [number]));
});

test("pending responses keep the callback, and one without value does not call it", onTestBridge, async (t) => {
  const { cordova } = await withPage(t);
  const values = [];
  await new Promise((resolve, reject) => {
    const success = (value) => {
      values.push(value);
      if (value === "end") resolve();
    };
    cordova.exec(success, reject, "test", "parts", ["a", null, "b", "end"]);
  });
  assert.deepEqual(values, ["a", "b", "end"]);
  assert.equal(Object.keys(cordova.callbacks).length, 0);
});

test("when the socket closes, pending and later calls get their error callback", onTestBridge, async (t) => {
  const { bridge, call } = await withPage(t);
  const pending = [call("test", "slow", [1, 5000]), call("test", "slow", [2, 5000])];
  const refused = pending.map((one) => assert.rejects(one, (error) => /connection to the bridge is closed/.test(error)));
  await call("test", "echo", []);
  bridge.dropSockets();
  await Promise.all(refused);
  await assert.rejects(call("test", "echo", []), (error) => /connection to the bridge is closed/.test(error));
});

test("without a bridge every call fails and deviceready still comes", onTestBridge, async (t) => {
  const bridge = await startBridge();
  const page = await openPage(bridge.url + "index.html", ["cordova.js"]);
  t.after(() => page.unload());
  await page.deviceReady();
  await bridge.close();
  const call = new Promise((resolve, reject) => page.window.cordova.exec(resolve, reject, "test", "echo", []));
  await assert.rejects(call, (error) => /bridge is closed/.test(error));
});

test("a call of 17 MB fails alone, and one just below 16 MB passes", onTestBridge, async (t) => {
  const { call } = await withPage(t);
  await assert.rejects(call("test", "echo", ["x".repeat(17 * 1024 * 1024)]), (error) => /larger than 16 MB/.test(error));
  await assert.rejects(call("test", "echo", ["€".repeat(6 * 1024 * 1024)]), (error) => /larger than 16 MB/.test(error));
  assert.equal((await call("test", "echo", ["x".repeat(15 * 1024 * 1024)]))[0].length, 15 * 1024 * 1024);
});

test("arguments that are no JSON throw at the caller and leave no callback behind", onTestBridge, async (t) => {
  const { cordova } = await withPage(t);
  const cycle = {};
  cycle.self = cycle;
  assert.throws(() => cordova.exec(null, null, "test", "echo", [cycle]), /circular/i);
  assert.equal(Object.keys(cordova.callbacks).length, 0);
});

test("a callback that throws is reported and does not disturb other responses", onTestBridge, async (t) => {
  const { cordova, call, page, window } = await withPage(t);
  const reported = [];
  window.addEventListener("cordovacallbackerror", (event) => reported.push(event));
  const thrown = new Error("oops");
  cordova.exec(() => { throw thrown; }, null, "test", "echo", []);
  assert.deepEqual(plain(await call("test", "echo", [1])), [1]);
  await call("test", "slow", [1, 10]);
  assert.deepEqual(page.errors.map((error) => error.message), ["oops"]);
  assert.match(reported[0].message, /Error in Success callbackId: test\d+ : Error: oops/);
  assert.deepEqual([reported[0].error === thrown, reported[0].original === thrown, reported.length], [true, true, 1]);
});

test("HT-33 events of the socket are DOM events with a detail", onTestBridge, async (t) => {
  const { bridge, page, call } = await withPage(t);
  const details = [];
  page.document.addEventListener("sync", (event) => details.push(event.detail));
  bridge.emit("sync", { status: "DONE", text: "</script>\u2028" });
  await call("test", "echo", []);
  assert.deepEqual(plain(details), [{ status: "DONE", text: "</script>\u2028" }]);
});

test("HT-21 a page of a former user fails its calls, drops what it kept and reloads", onTestBridge, async (t) => {
  const { bridge, page, call, window } = await withPage(t);
  const dropped = [];
  for (const name of ["localStorage", "sessionStorage"]) window[name] = { clear: () => dropped.push(name) };
  window.caches = { keys: async () => ["c"], delete: async (name) => dropped.push(name) };
  window.indexedDB = { databases: async () => [{ name: "d" }], deleteDatabase: (name) => dropped.push(name) };
  const waiting = call("test", "slow", [1, 5000]);
  await call("test", "echo", []);
  bridge.emit("fieldforceReload", null);
  await assert.rejects(waiting, (error) => /closed/.test(error));
  await assert.rejects(call("test", "echo", []), (error) => /closed/.test(error));
  assert.deepEqual(dropped.sort(), ["c", "d", "localStorage", "sessionStorage"]);
  assert.equal(page.reloads, 1);
});

test("HT-21 a page may handle another user itself", onTestBridge, async (t) => {
  const { bridge, page, call } = await withPage(t);
  page.document.addEventListener("fieldforceReload", (event) => event.preventDefault());
  bridge.emit("fieldforceReload", null);
  await call("test", "echo", []);
  assert.equal(page.reloads, undefined);
});

test("frames without meaning are reported and change nothing", onTestBridge, async (t) => {
  const { page, call } = await withPage(t);
  const waiting = call("test", "slow", ["late", 20]);
  const [socket] = page.sockets;
  for (const data of ["", "{", "null", "5", '"x"', "[]", "{}", '{"id":"unknown","status":"ok"}', '{"event":5}']) socket.onmessage({ data });
  assert.equal(page.messages.filter((line) => /no JSON object/.test(line)).length, 5);
  assert.equal(await waiting, "late");
  assert.deepEqual(page.errors, []);
});

test("a page that comes back from the browser's cache without its socket reloads", onTestBridge, async (t) => {
  const { bridge, page, call } = await withPage(t);
  const show = (persisted) => page.window.dispatchEvent(Object.assign(new Event("pageshow"), { persisted }));
  show(true);
  bridge.dropSockets();
  await assert.rejects(call("test", "echo", []));
  show(false);
  assert.equal(page.reloads, undefined);
  show(true);
  assert.equal(page.reloads, 1);
});

test("a buffer travels as base64", onTestBridge, async (t) => {
  const { call, page } = await withPage(t);
  const buffer = page.run("new Uint8Array([1, 2, 255]).buffer");
  assert.deepEqual(plain(await call("test", "echo", [buffer])), [{ CDVType: "ArrayBuffer", data: "AQL/" }]);
});
