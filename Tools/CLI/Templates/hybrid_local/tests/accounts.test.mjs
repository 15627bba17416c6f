// What an edit becomes, without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { edited, isUnsynced } from "../www/accounts.js";

test("an edit is flagged for the next upload and changes one field", () => {
  const account = { Id: "001", Name: "a", Phone: "1", __local__: false };
  const after = edited(account, "Name", "b");
  assert.deepEqual(after, { ...account, Name: "b", __local__: true, __locally_updated__: true });
  assert.ok(isUnsynced(after) && !isUnsynced(account));
});

test("an edited new account is still one to create", () => {
  const after = edited({ Name: "a", __local__: true, __locally_created__: true }, "Name", "b");
  assert.equal(after.__locally_updated__, false);
  assert.equal(after.__locally_created__, true);
});
