// Where the link leads, without a browser.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { pageAddress } from "../www/address.js";

test("the start page is a page of the user's instance", () => {
  const { isLocal, startPage } = JSON.parse(readFileSync(new URL("../www/bootconfig.json", import.meta.url), "utf8"));
  assert.equal(isLocal, false);
  const address = pageAddress("https://acme.my.salesforce.com/", startPage);
  assert.equal(address, `https://acme.my.salesforce.com/${startPage}`);
});

test("a start page on another host is refused", () => {
  assert.throws(() => pageAddress("https://acme.my.salesforce.com", "https://evil.example/"));
});
