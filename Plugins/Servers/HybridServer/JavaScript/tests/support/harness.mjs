// A page on a test bridge, ended with its test.
import { startBridge } from "../bridge.mjs";
import { openPage } from "./page.mjs";
import { tool } from "./real-bridge.mjs";

/** Marks a test of what only the bridge of the tests can do or show. */
export const onTestBridge = { skip: tool ? "needs the bridge of the tests" : false };

/** Starts a bridge and opens a page with `scripts`. Waits for "deviceready". */
export async function withPage(t, options = {}, scripts = ["cordova.js"]) {
  const bridge = await startBridge(options);
  const page = await openPage(bridge.url + "index.html", scripts);
  t.after(async () => {
    page.unload();
    await bridge.close();
  });
  await page.deviceReady();
  if (tool) bridge.record(page.sockets[0]);
  const { cordova } = page.window;
  const call = (service, action, args) =>
    new Promise((resolve, reject) => cordova.exec(resolve, reject, service, action, args));
  /** Waits until the calls before it have reached the bridge. */
  const fence = () => call("com.salesforce.sdkinfo", "getInfo", []);
  return { bridge, page, call, fence, window: page.window, cordova };
}

/** A pseudo-random generator, for tests that print their seed. */
export function random(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return { next, below: (limit) => Math.floor(next() * limit), pick: (list) => list[Math.floor(next() * list.length)] };
}

/** Creates records one after another, so that their ids and dates are in this order, and gives their ids. */
export async function createAll(org, type, records) {
  const ids = [];
  for (const record of records) ids.push(await org.create(type, record));
  return ids;
}
