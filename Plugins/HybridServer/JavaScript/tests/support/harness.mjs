// A page on a test bridge, ended with its test.
import { startBridge } from "../bridge.mjs";
import { openPage } from "./page.mjs";

/** Starts a bridge and opens a page with `scripts`. Waits for "deviceready". */
export async function withPage(t, options = {}, scripts = ["cordova.js"]) {
  const bridge = await startBridge(options);
  const page = await openPage(bridge.url + "index.html", scripts);
  t.after(async () => {
    page.unload();
    await bridge.close();
  });
  await page.deviceReady();
  const { cordova } = page.window;
  const call = (service, action, args) =>
    new Promise((resolve, reject) => cordova.exec(resolve, reject, service, action, args));
  return { bridge, page, call, window: page.window, cordova };
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
