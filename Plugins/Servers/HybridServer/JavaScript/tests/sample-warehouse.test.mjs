// The program of Docs/Guides/Tutorial-Warehouse.md, on `fieldforce hybrid serve` and the mock org.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { RealBridge, tool } from "./support/real-bridge.mjs";

const path = (name) => fileURLToPath(new URL(`../../../../../Samples/Warehouse/${name}`, import.meta.url));

test("HT-66 the warehouse lists, shows and changes merchandise", { skip: tool ? false : "needs fieldforce hybrid serve" }, async (t) => {
  const bridge = await RealBridge.start({ orgOptions: ["--source", path("org")] });
  t.after(() => bridge.close());
  const run = (...args) => new Promise((resolve) => {
    const env = { ...process.env, FIELDFORCE_BRIDGE: bridge.line };
    execFile(process.execPath, [path("warehouse.mjs"), ...args], { env, timeout: 60000 }, (error, stdout, stderr) => resolve({ status: error ? error.code : 0, stdout, stderr }));
  });
  for (const [Name, Price__c, Quantity__c] of [["Wee-Jets", 9.99, 12], ["O'Reilly's Box", 2.5, 7]]) {
    await bridge.org.create("Merchandise__c", { Name, Price__c, Quantity__c });
  }
  assert.deepEqual(await run("list"), { status: 0, stdout: "O'Reilly's Box: 7 at 2.50\nWee-Jets: 12 at 9.99\n", stderr: "" });
  assert.equal((await run("show", "O'Reilly's Box")).stdout, "O'Reilly's Box: 7 at 2.50\n");
  assert.equal((await run("set", "Wee-Jets", "11")).stdout, "Wee-Jets: 11 at 9.99\n");
  const { records } = await bridge.org.query("SELECT Quantity__c FROM Merchandise__c WHERE Name = 'Wee-Jets'");
  assert.equal(records[0].Quantity__c, 11);
  for (const args of [["set", "Wee-Jets", "many"], ["show", "Nothing"], ["sell"]]) {
    const { status, stdout, stderr } = await run(...args);
    assert.equal(status, 1);
    assert.equal(stdout, "");
    assert.match(stderr, /^error: /);
  }
});
