// The offline notes without a bridge: mock Cordova, mock store, mock sync and an org, all in the page.
import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { Browser } from "../../../../../Tools/Scripts/chromium.mjs";
import { startBridge } from "./bridge.mjs";
import { onTestBridge } from "./support/harness.mjs";
import { Person } from "./support/person.mjs";
import { skip } from "./support/samples.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const sample = path.join(here, "../../../../../Samples/Hybrid/OfflineNotes/www");

// In the place of cordova.js.
const MOCKS = ["mock/MockCordova.js", "mock/MockSmartStore.js", "plugins/com.salesforce/libs/cordova.force.js"];

// What a container would do: a user, the network, and the soups and syncs of the configuration files.
const CONTAINER = `
  import { Org } from "./org.mjs";
  const org = (window.org = new Org());
  const user = { userId: "005", orgId: "00D", username: "ada@example.com" };
  cordova.interceptExec("com.salesforce.oauth", "getAuthCredentials", (success) => success(user));
  cordova.interceptExec("com.salesforce.sfaccountmanager", "getCurrentUser", (success) => success(user));
  force.init({
    requestHandler({ path, method, params, data }, success, error) {
      const { status, headers, body } = org.handle({ path, method, queryParams: data || params });
      if (status < 300) success(body);
      else error(JSON.stringify({ response: { headers, statusCode: status, body } }));
    },
  });
  const read = async (name) => (await fetch(name)).json();
  for (const { soupName, indexes } of (await read("userstore.json")).soups) mockStore.registerSoup(soupName, indexes);
  for (const { syncType, ...sync } of (await read("usersyncs.json")).syncs) mockMobileSync.create(syncType, sync);
  await import("./app.js");
`;

test("the notes run on the mocks, without a bridge", { skip: skip || onTestBridge.skip }, async (t) => {
  const www = await mkdtemp(path.join(tmpdir(), "www-"));
  await cp(sample, www, { recursive: true });
  await cp(path.join(here, "../mock"), path.join(www, "mock"), { recursive: true });
  for (const name of ["org.mjs", "soql.mjs"]) await cp(path.join(here, "support", name), path.join(www, name));
  await writeFile(path.join(www, "container.js"), CONTAINER);
  const script = (src, type) => `<script ${type ? `type="${type}" ` : ""}src="${src}"></script>`;
  const page = (await readFile(path.join(sample, "index.html"), "utf8"))
    .replace(script("cordova.js"), MOCKS.map((src) => script(src)).join("\n"))
    .replace(script("app.js", "module"), `<script>window.Force = window;</script>${script("mock/MockMobileSyncPlugin.js")}${script("container.js", "module")}`);
  await writeFile(path.join(www, "index.html"), page);
  const server = await startBridge({ www });
  const browser = await Browser.start();
  t.after(async () => {
    await browser.close();
    await server.close();
    await rm(www, { recursive: true });
  });
  const person = new Person(browser);
  await person.open(server.startUrl);
  await person.sees(/Synced at \d/);
  await person.click("button", "New note");
  await person.until("the focus in the title", async () => (await person.focused()) === "Title");
  await person.browser.type("Boiler room");
  await person.type("textbox", "Text", "Pressure 2.4 bar.");
  await person.find("button", /^Boiler room New Pressure/);
  await person.click("button", "Sync");
  await person.sees(/Synced at \d/);
  const records = await browser.evaluate(`org.query("SELECT Subject, Description FROM Task").records.map((one) => [one.Subject, one.Description])`);
  assert.deepEqual(records, [["Boiler room", "Pressure 2.4 bar."]]);
  await person.type("textbox", "Text", "Pressure 2.5 bar.");
  await person.find("button", /^Boiler room Edited Pressure/);
  await browser.evaluate(`org.update("Task", org.query("SELECT Id FROM Task").records[0].Id, { Description: "Pressure 2.6 bar." })`);
  await person.click("button", "Sync");
  await person.sees("1 note needs your decision.");
  await person.find("radio", "Text on the server: Pressure 2.6 bar.");
  assert.equal(server.connections, 0);
  assert.deepEqual(browser.errors, []);
});
