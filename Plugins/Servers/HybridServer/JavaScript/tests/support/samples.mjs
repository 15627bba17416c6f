// A sample of Samples/Hybrid with an org behind it, for tests that click through it in a browser.
//
// Without further ado that is the bridge of the tests with its org in memory. If the environment variable FIELDFORCE_TOOL
// names the program (FIELDFORCE_TOOL=.build/debug/fieldforce), it is `fieldforce hybrid serve` with the mock org: same
// pages, same clicks, same expectations.
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Browser, chromium } from "../../../../../../Tools/Scripts/chromium.mjs";
import { startBridge } from "../bridge.mjs";
import { Person } from "./person.mjs";
import { tool } from "./real-bridge.mjs";

const SAMPLES = fileURLToPath(new URL("../../../../../../Samples/Hybrid/", import.meta.url));

/** Why the samples cannot be tested here, or false. */
export const skip = chromium ? false : "there is no Chromium on this machine";
export const isRealBridge = tool !== null;
/** As `skip`, for samples whose conflicts and trees only the program has. */
export const skipWithoutProgram = skip || (isRealBridge ? false : "needs fieldforce hybrid serve: javascript.sh --bridge sample");

/**
 * Serves a sample, with `prepare(org)` before the page is there, and opens a browser: `{person, org, startUrl}`. `org` has
 * `create(type, fields)`, `update(type, id, fields)`, `delete(type, id)`, `query(soql)` and `reachable(isReachable)`.
 */
export async function openSample(t, name, { loggedIn = true, prepare = async () => {} } = {}) {
  const www = path.join(SAMPLES, name, "www");
  const world = await serve(t, www, { loggedIn, prepare });
  const browser = await Browser.start();
  t.after(async () => {
    await browser.close();
    // An exception in a page, or what the browser refuses, is a failure, whatever the page shows.
    const errors = [...browser.errors, ...browser.complaints];
    if (errors.length > 0) throw new Error(errors.join("\n"));
  });
  return { ...world, person: new Person(browser), browser };
}

async function serve(t, www, { loggedIn, prepare }) {
  const bridge = await startBridge({ www, loggedIn });
  t.after(() => bridge.close());
  const org = {
    create: async (type, fields) => bridge.org.create(type, fields),
    update: async (type, id, fields) => bridge.org.update(type, id, fields),
    delete: async (type, id) => bridge.org.delete(type, id),
    query: async (soql) => (await bridge.org.query(soql)).records,
    reachable: async (isReachable) => {
      if (tool) await bridge.org.setReachable(isReachable);
      else bridge.org.isReachable = isReachable;
    },
  };
  await prepare(org);
  return { org, startUrl: bridge.startUrl, bridge };
}
