// A person uses the account editor.
import assert from "node:assert/strict";
import test from "node:test";
import { openSample, skip } from "./support/samples.mjs";

const NAMES = ["Harbor Repair", "Analytical Engines", "Coastal Freight", "Delta Pumps", "Evergreen Farms", "Fjord Ferries", "Granite Tools"];

async function accounts(org) {
  for (const [index, Name] of NAMES.entries()) {
    await org.create("Account", { Name, Industry: index % 2 ? "Engineering" : "Shipping", Phone: `555-01${10 + index}`, Website: `https://${Name.split(" ")[0].toLowerCase()}.example` });
  }
}

async function withEditor(t, options) {
  const sample = await openSample(t, "AccountEditor", { prepare: accounts, ...options });
  const { org, person, startUrl } = sample;
  const onServer = async (name) => (await org.query(`SELECT Id, Name, Industry, Phone, Website FROM Account WHERE Name = '${name}'`))[0];
  const open = async (name) => {
    await person.click("button", new RegExp(`^${name}`));
    await person.find("heading", name);
  };
  // As another user.
  const change = async (name, fields) => org.update("Account", (await onServer(name)).Id, fields);
  const offline = (isOffline) => person.click("switch", "Work offline").then(() => person.sees(isOffline ? "Working offline" : "Online"));
  await person.open(startUrl);
  await person.sees("7 accounts downloaded");
  return { ...sample, onServer, open, change, offline };
}

test("accounts are downloaded, edited, created and deleted online", { skip }, async (t) => {
  const { person, org, open, onServer } = await withEditor(t);
  assert.deepEqual(await person.nameless(), []);
  await open("Delta Pumps");
  await person.type("textbox", "Phone", "555-7777");
  await person.click("button", "Save");
  await person.sees("Delta Pumps was saved.");
  assert.equal((await onServer("Delta Pumps")).Phone, "555-7777");

  await person.click("button", "New account");
  await person.until("the focus in the name", async () => (await person.focused()) === "Name");
  await person.browser.type("Island Boats");
  await person.type("textbox", "Industry", "Shipping");
  await person.press("Enter");
  await person.sees("Island Boats was saved.");
  assert.equal((await onServer("Island Boats")).Industry, "Shipping");

  await person.type("textbox", "Phone", "5".repeat(41));
  await person.click("button", "Save");
  await person.sees("STRING_TOO_LONG");
  assert.equal(await person.value("textbox", "Phone"), "5".repeat(41));
  await person.picture("account-editor-refused");
  await person.click("button", /^Coastal Freight/);
  await person.sees("This account has changes that are not saved.");
  await person.click("button", "Discard them");
  await person.find("heading", "Coastal Freight");

  await person.click("button", "Delete");
  await person.sees("Coastal Freight was deleted.");
  assert.equal(await onServer("Coastal Freight"), undefined);
  await person.type("searchbox", "Find accounts", "engines");
  await person.sees("1 account");
  assert.equal((await org.query("SELECT Id FROM Account")).length, 7);
});

test("what is done offline stays on the device, survives a reload, and is uploaded by the next sync", { skip }, async (t) => {
  const { person, org, open, onServer, offline, startUrl } = await withEditor(t);
  await offline(true);
  assert.equal((await person.find("button", "Sync")).properties.find((one) => one.name === "disabled")?.value.value, true);
  await open("Delta Pumps");
  await person.type("textbox", "Phone", "555-8888");
  await person.click("button", "Save");
  await person.sees("Delta Pumps was saved on this device.");
  await open("Evergreen Farms");
  await person.click("button", "Delete");
  await person.find("button", /^Evergreen Farms.*Deleted/);
  await open("Fjord Ferries");
  await person.click("button", "Delete");
  await person.click("button", "Undelete");
  await person.sees("Fjord Ferries was restored.");
  await open("Granite Tools");
  await person.type("textbox", "Phone", "1");
  await person.click("button", "Save");
  await person.click("button", "Undo my changes");
  await person.until("the old phone number", async () => (await person.value("textbox", "Phone")) === "555-0116");
  await person.click("button", "New account");
  await person.type("textbox", "Name", "Island Boats");
  await person.click("button", "Save");
  await person.find("button", /^Island Boats.*New/);
  await open("Delta Pumps");
  await person.find("button", "Sync (3)");
  await person.picture("account-editor-offline");
  assert.equal((await onServer("Delta Pumps")).Phone, "555-0113");

  await org.reachable(false);
  await person.open(startUrl);
  await person.sees("The server does not respond");
  await person.sees("No connection");
  await person.find("button", /^Evergreen Farms.*Deleted/);
  await org.reachable(true);
  await person.click("button", "Sync (3)");
  await person.sees("3 changes uploaded, 7 accounts downloaded.");
  await person.find("button", "Sync");
  assert.equal((await onServer("Delta Pumps")).Phone, "555-8888");
  assert.equal(await onServer("Evergreen Farms"), undefined);
  assert.notEqual(await onServer("Island Boats"), undefined);
  await org.delete("Account", (await onServer("Granite Tools")).Id);
  await person.click("button", "Sync");
  await person.sees("6 accounts downloaded");
  await person.misses("Granite Tools");
});

test("each conflict mode does what it says", { skip }, async (t) => {
  const { person, open, onServer, change, offline } = await withEditor(t);
  const both = async (mode, mine, theirs) => {
    await person.choose("When the server has changed too", mode);
    await offline(true);
    await open("Delta Pumps");
    for (const [field, value] of Object.entries(mine)) await person.type("textbox", field, value);
    await person.click("button", "Save");
    await person.sees("saved on this device");
    await change("Delta Pumps", theirs);
    await offline(false);
    await person.click("button", "Sync (1)");
  };
  const phoneAndIndustry = async () => {
    const { Phone, Industry } = await onServer("Delta Pumps");
    return [Phone, Industry];
  };

  await t.test("merging asks only where both have changed a field", async () => {
    await both("Merge; ask if both changed a field", { Phone: "555-0170" }, { Industry: "Energy" });
    await person.sees("1 change uploaded");
    assert.deepEqual(await phoneAndIndustry(), ["555-0170", "Energy"]);
    await both("Merge; ask if both changed a field", { Phone: "555-0180", Website: "https://pumps.example" }, { Phone: "555-0190", Industry: "Utilities" });
    await person.sees("1 account needs your decision");
    await person.find("button", /^Delta Pumps.*Conflict/);
    await person.find("radio", "Phone on this device: 555-0180");
    assert.deepEqual(await person.nameless(), []);
    await person.picture("account-editor");
    await person.click("radio", "Phone on the server: 555-0190");
    await person.click("button", "Save what is chosen");
    await person.sees("Delta Pumps was saved.");
    assert.deepEqual(await phoneAndIndustry(), ["555-0190", "Utilities"]);
    assert.equal((await onServer("Delta Pumps")).Website, "https://pumps.example");
  });

  await t.test("a conflict that is left open is found again, and the server's values can be taken", async () => {
    await both("Merge; ask if both changed a field", { Phone: "mine 3" }, { Phone: "theirs 3" });
    await person.sees("1 account needs your decision");
    await person.click("button", "Decide later");
    await person.misses("1 account needs your decision");
    await person.click("button", "Sync (1)");
    await person.sees("1 account needs your decision");
    await open("Delta Pumps");
    await person.click("button", "Take the server's");
    await person.sees("replaced by the server's");
    await person.find("button", "Sync");
    assert.equal(await person.value("textbox", "Phone"), "theirs 3");
    assert.equal((await phoneAndIndustry())[0], "theirs 3");
  });

  await t.test("asking always asks, overwriting never does", async () => {
    await both("Ask", { Phone: "mine 4" }, { Industry: "theirs 4" });
    await person.sees("1 account needs your decision");
    await person.click("button", "Save what is chosen");
    await person.sees("Delta Pumps was saved.");
    assert.deepEqual(await phoneAndIndustry(), ["mine 4", "theirs 4"]);
    await both("Merge; my values win", { Phone: "mine 5" }, { Phone: "theirs 5", Industry: "theirs 5" });
    await person.sees("1 change uploaded");
    assert.deepEqual(await phoneAndIndustry(), ["mine 5", "theirs 5"]);
    await both("Overwrite the server", { Phone: "mine 6" }, { Phone: "theirs 6", Industry: "theirs 6" });
    await person.sees("1 change uploaded");
    assert.deepEqual(await phoneAndIndustry(), ["mine 6", "theirs 5"]);
  });
});

test("a conflict of an online save keeps what was typed", { skip }, async (t) => {
  const { person, open, onServer, change } = await withEditor(t);
  await open("Harbor Repair");
  await change("Harbor Repair", { Phone: "theirs" });
  await person.type("textbox", "Phone", "mine");
  await person.click("button", "Save");
  await person.sees("Harbor Repair was changed on the server too.");
  await person.find("radio", "Phone on this device: mine");
  await person.click("button", "Save what is chosen");
  await person.sees("Harbor Repair was saved.");
  assert.equal((await onServer("Harbor Repair")).Phone, "mine");
});

test("deletions on one side and edits on the other are decided by the person", { skip }, async (t) => {
  const { person, org, open, onServer, change, offline } = await withEditor(t);
  await offline(true);
  for (const name of ["Harbor Repair", "Delta Pumps"]) {
    await open(name);
    await person.click("button", "Delete");
    await person.find("button", "Undelete");
  }
  for (const name of ["Fjord Ferries", "Granite Tools"]) {
    await open(name);
    await person.type("textbox", "Phone", "mine");
    await person.click("button", "Save");
    await person.sees(`${name} was saved on this device.`);
  }
  for (const name of ["Harbor Repair", "Delta Pumps"]) await change(name, { Phone: "theirs" });
  for (const name of ["Fjord Ferries", "Granite Tools"]) await org.delete("Account", (await onServer(name)).Id);
  await offline(false);
  await person.click("button", "Sync (4)");
  await person.sees("4 accounts need your decision");
  await open("Harbor Repair");
  await person.sees("Another user has changed it since.");
  await person.find("cell", "theirs");
  await person.picture("account-editor-deleted");
  await person.click("button", "Delete it all the same");
  await person.sees("Harbor Repair was deleted.");
  await open("Delta Pumps");
  await person.click("button", "Keep it");
  await person.sees("Delta Pumps was kept.");
  await open("Fjord Ferries");
  await person.click("button", "Create it again");
  await person.sees("Fjord Ferries was created again.");
  await open("Granite Tools");
  await person.click("button", "Remove it here too");
  await person.sees("Granite Tools was removed.");
  await person.find("button", "Sync");
  assert.equal(await onServer("Harbor Repair"), undefined);
  assert.equal((await onServer("Delta Pumps")).Phone, "theirs");
  assert.equal((await onServer("Fjord Ferries")).Phone, "mine");
  assert.equal(await onServer("Granite Tools"), undefined);
});

test("a save without a connection stays on the device, and says so", { skip }, async (t) => {
  const { person, org, open } = await withEditor(t);
  await org.reachable(false);
  await open("Harbor Repair");
  await person.type("textbox", "Phone", "555-9999");
  await person.click("button", "Save");
  await person.sees(/Harbor Repair was saved on this device. The server does not respond/);
  await person.find("button", /^Harbor Repair.*Edited/);
  await person.click("button", "Sync (1)");
  await person.sees("Your changes are kept on this device.");
});

test("a narrow, dark window shows the list or an account, and nothing is cut off", { skip }, async (t) => {
  const { person, startUrl, open } = await withEditor(t);
  await person.open(startUrl, { width: 380, height: 760, scheme: "dark" });
  await person.sees("7 accounts");
  assert.equal(await person.overflows(), false);
  await person.picture("account-editor-narrow-list");
  await open("Harbor Repair");
  assert.equal(await person.overflows(), false);
  await person.picture("account-editor-narrow");
  await person.click("button", "← All accounts");
  await person.find("button", "New account");
});
