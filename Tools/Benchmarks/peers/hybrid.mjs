// Times a client in Node on the bridge. Arguments: the bridge's first line, and a file with entries. Prints one JSON object.
import { readFile } from "node:fs/promises";
import { connect, QuerySpec } from "../../../Plugins/Servers/HybridServer/JavaScript/plugins/fieldforce/node/index.js";

const [line, file] = process.argv.slice(2);
const client = connect(line);
const { connection } = client;
const store = { isGlobalStore: true, soupName: "accounts" };
const entries = JSON.parse(await readFile(file, "utf8"));

/** The seconds that `body` takes. */
async function seconds(body) {
  const start = performance.now();
  await body();
  return (performance.now() - start) / 1000;
}
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const small = () => connection.call("com.salesforce.smartstore", "pgSoupExists", store);

await Promise.all(Array.from({ length: 1000 }, small));
const calls = 10_000 / (await seconds(() => Promise.all(Array.from({ length: 10_000 }, small))));
const callsInTurn = 2_000 / (await seconds(async () => { for (let i = 0; i < 2_000; i++) await small(); }));

const upsert = await seconds(() => connection.call("com.salesforce.smartstore", "pgUpsertSoupEntries", { ...store, entries }));

const querySpec = QuerySpec.all("Name", { pageSize: 100 });
const query = () => connection.call("com.salesforce.smartstore", "pgQuerySoup", { ...store, querySpec });
const pages = [];
for (let i = 0; i < 300; i++) pages.push(await seconds(query));

client.close();
console.log(JSON.stringify({ calls, callsInTurn, upsert, page: median(pages.slice(50)) }));
