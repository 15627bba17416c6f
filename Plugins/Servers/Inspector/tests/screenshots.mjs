// Takes the pictures of the guide:
//
//   node Plugins/Servers/Inspector/tests/screenshots.mjs            into Docs/Guides/Inspector
//   node Plugins/Servers/Inspector/tests/screenshots.mjs FOLDER     all pages, light and dark, wide and narrow, to be looked at
import { mkdir, stat } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Browser } from "../../../../Tools/Scripts/chromium.mjs";
import { startInspector } from "./server/server.mjs";

const guide = fileURLToPath(new URL("../../../../Docs/Guides/Inspector/", import.meta.url));
const SCAN = "SELECT {accounts:Name}, {accounts:Phone} FROM {accounts}\nWHERE {accounts:BillingCity} = 'Bergen'\nORDER BY {accounts:Name}";
const MAX_BYTES = 150_000;

const server = await startInspector({ live: true });
const browser = await Browser.start();
const [main] = server.world.stores;
const soup = (name) => main.soups.find((one) => one.name === name).id;
const at = (rest) => `#/store/${main.id}/${rest}`;
const run = async () => {
  await browser.evaluate(`document.querySelector("textarea").value = ${JSON.stringify(SCAN)}`);
  await browser.evaluate("[...document.querySelectorAll('main button')].find((one) => one.innerText === 'Run').click()");
  await browser.waitFor("document.querySelector('.plan')");
};
const choose = () => browser.evaluate(`document.querySelectorAll("[data-field]").forEach((row, index) => row.querySelector("[data-choice=" + ["mine", "theirs", "mine", "theirs"][index] + "]")?.click())`);

const least = () => browser.evaluate(`(() => {
  const [level] = document.querySelectorAll("main select");
  level.value = "info";
  level.dispatchEvent(new Event("change"));
})()`);

// Name: address, what to do there, and the window of the guide's picture.
const PAGES = {
  stores: ["#/stores"], soups: [at("soups")],
  entries: [at(`soup/${soup("accounts")}`), null, { width: 1180, height: 700, scheme: "light" }],
  entry: [at(`soup/${soup("visits")}/1`), null, { width: 1180, height: 760, scheme: "dark" }],
  console: [at("console"), run, { width: 1180, height: 760, scheme: "light" }],
  syncs: [at("syncs"), () => new Promise((done) => setTimeout(done, 4000)), { width: 1180, height: 740, scheme: "light" }],
  sync: [at("syncs/3")], "failed-sync": [at("syncs/4")],
  conflict: [at("conflicts"), choose, { width: 1180, height: 700, scheme: "light" }],
  doubt: [at("conflicts?key=visits%2F5")], parent: [at("conflicts?key=parts%2F2")], unsynced: [at("unsynced")], files: [at("files"), null, { width: 1180, height: 460, scheme: "light" }], accounts: ["#/accounts"],
  keys: [`#/keyvalues/${server.world.keyValues[0].id}/${Buffer.from("photo").toString("base64url")}`], requests: ["#/requests"],
  logs: ["#/logs", least, { width: 1180, height: 560, scheme: "dark" }], events: ["#/events"], developer: ["#/developer"],
  locked: [`#/store/${server.world.stores.find(({ status }) => status === "locked").id}/soups`],
  narrow: [at("conflicts?key=visits%2F5"), null, { width: 420, height: 760, scheme: "light" }],
};

async function shoot(file, [hash, action], { width, height, scheme }, quality) {
  await browser.emulate({ width, height, scheme });
  await browser.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await browser.waitFor("document.querySelector('main h1') && !document.querySelector('main [aria-busy=true]')");
  await action?.();
  await browser.evaluate("document.activeElement.blur(); new Promise((done) => setTimeout(done, 700))");
  await browser.screenshot(file, quality);
}

await browser.emulate({ width: 1180, height: 740 });
await browser.open(server.url);
const [, , folder] = process.argv;
await mkdir(folder ?? guide, { recursive: true });
for (const [name, page] of Object.entries(PAGES)) {
  if (folder) {
    for (const scheme of ["light", "dark"]) for (const width of [1280, 420]) await shoot(path.join(folder, `${name}-${scheme}-${width}.png`), page, { width, height: 800, scheme });
  } else if (page[2]) {
    const file = path.join(guide, `${name}.webp`);
    await shoot(file, page, page[2], 82);
    const { size } = await stat(file);
    if (size > MAX_BYTES) throw new Error(`${file} has ${size} bytes, more than ${MAX_BYTES}.`);
  }
}
await browser.close();
await server.close();
