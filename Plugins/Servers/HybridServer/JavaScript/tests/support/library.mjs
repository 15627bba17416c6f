// A page with mobilesync.js, on a test bridge.
import { withPage } from "./harness.mjs";
import { plain } from "./page.mjs";

const file = (name) => new URL(`../../${name}`, import.meta.url).href;
export const LIBRARIES = [
  file("tests/support/backbone.js"),
  "cordova.js",
  file("plugins/com.salesforce/libs/force.js"),
  file("plugins/com.salesforce/libs/force+files.js"),
  file("plugins/com.salesforce/libs/mobilesync.js"),
];

/** `Force` after its init, with two caches, "cache" and "originals". */
export async function withLibrary(t, options) {
  const all = await withPage(t, options, LIBRARIES);
  const { Force } = all.window;
  Force.init();
  const specs = [{ path: "Name", type: "string" }];
  const cache = new Force.StoreCache("cache", specs);
  const originals = new Force.StoreCache("originals", specs);
  await Promise.all([cache.init(), originals.init()]);
  const { org } = all.bridge;
  const onServer = async (id) => (await org.query(`SELECT Name, Industry, Phone FROM Account WHERE Id = '${id}'`)).records[0];
  const names = (records) => plain(records.map((record) => record.Name));
  return { ...all, Force, cache, originals, org, onServer, names };
}

export const flags = (record) =>
  ["__local__", "__locally_created__", "__locally_updated__", "__locally_deleted__"].map((name) => record[name]);

/** Calls a method that ends in options with success and error. */
export const withOptions = (object, method, ...args) =>
  new Promise((resolve, reject) => {
    const options = { ...args.pop(), success: resolve, error: (model, error) => reject(error) };
    object[method](...args, options);
  });
