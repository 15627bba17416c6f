// The words for a plan, and the index that a scan lacks.
import assert from "node:assert/strict";
import { test } from "node:test";
import { alterCommand, explain, summary } from "../www/data/explain.js";

const accounts = {
  name: "accounts", table: "TABLE_1", count: 1_000_000,
  indexes: [{ path: "Id", type: "string", columnName: "TABLE_1_0" }, { path: "Name", type: "string", columnName: "TABLE_1_1" }],
};
const visits = { name: "visits", table: "TABLE_2", count: 240, indexes: [{ path: "Account__c", type: "string", columnName: "TABLE_2_0" }] };
const soups = [accounts, visits];
const plan = (...details) => ({ rows: details.map((detail, index) => ({ id: index + 1, parent: 0, detail })) });
const one = (detail, smartSQL) => explain(plan(detail), smartSQL, soups)[0];

test("a search names the paths of its index, in the forms of all SQLite versions", () => {
  const sql = "SELECT * FROM {accounts} WHERE {accounts:Name} = ?";
  for (const detail of ["SEARCH TABLE_1 USING INDEX TABLE_1_1_idx (TABLE_1_1=?)", "SEARCH TABLE TABLE_1 USING INDEX TABLE_1_1_idx (TABLE_1_1=?)"]) {
    assert.deepEqual([one(detail, sql).kind, one(detail, sql).text], ["good", "Finds entries of soup accounts by Name = …, with an index."]);
  }
  assert.match(one("SEARCH TABLE_1 USING COVERING INDEX TABLE_1_1_idx (TABLE_1_1>? AND TABLE_1_1<?)", sql).text, /by Name > … and Name < ….*no entry is read/);
  assert.match(one("SEARCH TABLE_1 USING INTEGER PRIMARY KEY (rowid=?)", sql).text, /by its entry id/);
});

test("a scan names the index that its condition lacks, with a command that keeps the others", () => {
  const step = one("SCAN TABLE_1", "SELECT {accounts:Id} FROM {accounts} WHERE {accounts:BillingCity} = 'Bergen'");
  assert.equal(step.kind, "bad");
  assert.equal(step.text, "Scan: reads every entry of soup accounts (1,000,000).");
  assert.equal(step.advice.text, "An index on BillingCity (string) would find the entries without reading the others.");
  assert.equal(step.advice.command, "fieldforce soup alter accounts --index Id:string --index Name:string --index BillingCity:string");
});

test("the type of a missing index follows the value that it is compared with", () => {
  const type = (condition) => one("SCAN TABLE_1", `SELECT * FROM {accounts} WHERE {accounts:Size} ${condition}`).advice.type;
  assert.deepEqual([type("> 10"), type("<= 1.5"), type("= 'x'"), type("= ?")], ["integer", "floating", "string", "string"]);
});

test("what stands in a text or a comment is no condition", () => {
  const step = one("SCAN TABLE_1", "SELECT * FROM {accounts} WHERE {accounts:City} = '{accounts:Other} where' -- {accounts:Third}");
  assert.equal(step.advice.path, "City");
});

test("an order or a group without an index is named after the conditions", () => {
  assert.equal(one("SCAN TABLE_1", "SELECT * FROM {accounts} ORDER BY {accounts:City}").advice.path, "City");
  assert.equal(one("SCAN TABLE_1", "SELECT count(*) FROM {accounts} WHERE {accounts:A} = 1 GROUP BY {accounts:B}").advice.path, "A");
  assert.match(one("USE TEMP B-TREE FOR ORDER BY", "").text, /sorts all rows found, for ORDER BY/);
});

test("a LIKE with a leading % leads to full text, an indexed path in another form is explained", () => {
  assert.equal(one("SCAN TABLE_1", "SELECT * FROM {accounts} WHERE {accounts:Name} LIKE '%pump'").advice.type, "full_text");
  assert.match(one("SCAN TABLE_1", "SELECT * FROM {accounts} WHERE lower({accounts:Name}) = 'a'").advice.text, /without a function around it/);
  assert.match(one("SCAN TABLE_1", "SELECT * FROM {accounts} WHERE {accounts:Name} <> 'a'").advice.text, /excludes few entries/);
  assert.match(one("SCAN TABLE_1", "SELECT * FROM {accounts}").advice.text, /no condition/);
});

test("aliases lead to their soups, and a join without an index names the one of its side", () => {
  const sql = "SELECT * FROM {accounts} a JOIN {visits} AS v ON {accounts:Id} = {visits:Place__c}";
  const steps = explain(plan("SCAN v", "SEARCH a USING INDEX TABLE_1_0_idx (TABLE_1_0=?)"), sql, soups);
  assert.deepEqual(steps.map(({ kind }) => kind), ["bad", "good"]);
  assert.equal(steps[0].advice.path, "Place__c");
  const automatic = one("SEARCH v USING AUTOMATIC COVERING INDEX (TABLE_2_0=?)", sql);
  assert.deepEqual([automatic.kind, automatic.advice.path], ["bad", "Place__c"]);
});

test("a scan along an index is no alarm, and unknown steps are shown as they are", () => {
  assert.match(one("SCAN TABLE_1 USING INDEX TABLE_1_1_idx", "").text, /in the order of Name: reads every entry, until enough/);
  assert.equal(one("SCAN TABLE_1 USING INDEX TABLE_1_1_idx", "SELECT * FROM {accounts} ORDER BY {accounts:Name}").kind, "note");
  const tested = one("SCAN TABLE_1 USING INDEX TABLE_1_1_idx", "SELECT * FROM {accounts} WHERE {accounts:City} = 'x' ORDER BY {accounts:Name}");
  assert.deepEqual([tested.kind, tested.advice.path], ["bad", "City"]);
  assert.match(one("SCAN TABLE_1 USING COVERING INDEX TABLE_1_1_idx", "").text, /reads the index alone/);
  assert.match(one("SCAN TABLE_1_fts VIRTUAL TABLE INDEX 0:M1", "").text, /full-text index of soup accounts/);
  assert.deepEqual(one("SOMETHING NEW", ""), { kind: "note", text: "SOMETHING NEW", detail: "SOMETHING NEW", level: 0 });
});

test("a step of a subquery stands below it", () => {
  const rows = [{ id: 2, parent: 0, detail: "LIST SUBQUERY 1" }, { id: 5, parent: 2, detail: "SCAN TABLE_2" }];
  assert.deepEqual(explain({ rows }, "", soups).map(({ level }) => level), [0, 1]);
});

test("the summary is the worst of the steps", () => {
  assert.equal(summary([{ kind: "good" }, { kind: "bad" }]).text, "One step reads every entry of a soup.");
  assert.equal(summary([{ kind: "bad" }, { kind: "bad" }]).text, "2 steps read every entry of a soup.");
  assert.equal(summary([{ kind: "good" }]).kind, "good");
});

test("names with other characters are quoted for a shell", () => {
  const soup = { name: "it's; rm -rf", table: "T", count: 1, indexes: [{ path: "a b", type: "string", columnName: "T_0" }] };
  assert.equal(alterCommand(soup, "c", "integer"), `fieldforce soup alter 'it'\\''s; rm -rf' --index 'a b:string' --index c:integer`);
});

test("hostile statements and names end in time", () => {
  const name = "a".repeat(200) + "(".repeat(50) + "[+*?";
  const found = explain(plan("SCAN T"), `SELECT ${"{a:b} where ".repeat(5000)}`, [{ name, table: "T", count: 1, indexes: [] }, { ...accounts, table: "T" }]);
  assert.ok(found);
});
