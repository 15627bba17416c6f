// Times a page in headless Chromium on the bridge, and IndexedDB in the same browser. Arguments: the bridge's first line,
// whose www holds entries.json, and the fields that a sync downloads. Prints one JSON object.
import { Browser } from "../../../Tools/Scripts/chromium.mjs";

const [line, fields] = process.argv.slice(2);

/** Runs in the page. */
async function measure(fields) {
  await new Promise((resolve) => document.addEventListener("deviceready", resolve));
  const call = (service, action, message) =>
    new Promise((resolve, reject) => cordova.exec(resolve, (error) => reject(new Error(JSON.stringify(error))), service, action, [message]));
  const seconds = async (body) => {
    const start = performance.now();
    await body();
    return (performance.now() - start) / 1000;
  };
  const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
  const smartstore = "com.salesforce.smartstore";
  const store = { isGlobalStore: true, soupName: "page" };
  const indexes = [
    { path: "Name", type: "string" }, { path: "AccountNumber", type: "string" },
    { path: "NumberOfEmployees", type: "integer" }, { path: "AnnualRevenue", type: "floating" },
    { path: "Industry", type: "json1" },
  ];
  await call(smartstore, "pgRegisterSoup", { ...store, indexes });
  const entries = await (await fetch("entries.json")).json();
  const upsert = await seconds(() => call(smartstore, "pgUpsertSoupEntries", { ...store, entries }));

  const querySpec = { queryType: "range", indexPath: "Name", orderPath: "Name", order: "ascending", pageSize: 100 };
  const pages = [];
  for (let i = 0; i < 300; i++) pages.push(await seconds(() => call(smartstore, "pgQuerySoup", { ...store, querySpec })));

  const request = (one) =>
    new Promise((resolve, reject) => {
      one.onsuccess = () => resolve(one.result);
      one.onerror = () => reject(one.error);
    });
  const opening = indexedDB.open("bench");
  opening.onupgradeneeded = () => {
    const objects = opening.result.createObjectStore("accounts", { keyPath: "Id" });
    for (const { path } of indexes) objects.createIndex(path, path);
  };
  const database = await request(opening);
  const indexed = await seconds(
    () =>
      new Promise((resolve, reject) => {
        const transaction = database.transaction("accounts", "readwrite");
        const objects = transaction.objectStore("accounts");
        for (const entry of entries) objects.put(entry);
        transaction.oncomplete = resolve;
        transaction.onerror = () => reject(transaction.error);
      })
  );

  const user = { isGlobalStore: false, soupName: "accounts" };
  const synced = [...indexes, { path: "Id", type: "string" }, { path: "__local__", type: "string" }];
  await call(smartstore, "pgRegisterSoup", { ...user, indexes: synced });
  let total = 0;
  const sync = await seconds(async () => {
    const ended = new Promise((resolve, reject) =>
      document.addEventListener("sync", ({ detail }) => {
        if (detail.status === "DONE") resolve(detail.totalSize);
        if (detail.status === "FAILED") reject(new Error(detail.error));
      })
    );
    const target = { type: "soql", query: `SELECT ${fields} FROM Account` };
    await call("com.salesforce.mobilesync", "syncDown", { ...user, target, options: { mergeMode: "OVERWRITE" } });
    total = await ended;
  });
  return { upsert, page: median(pages.slice(50)), indexed, sync, total };
}

const browser = await Browser.start();
try {
  await browser.open(JSON.parse(line).startUrl);
  console.log(JSON.stringify(await browser.evaluate(`(${measure})(${JSON.stringify(fields)})`)));
} finally {
  await browser.close();
}
