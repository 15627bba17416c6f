// The programs of Docs/Guides/Node.md run.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { promisify } from "node:util";
import { startBridge } from "./bridge.mjs";

const guide = await readFile(new URL("../../../../../Docs/Guides/Node.md", import.meta.url), "utf8");
const library = new URL("../plugins/fieldforce/node/index.js", import.meta.url).href;

test("the programs of the guide for Node run, one after the other", async (t) => {
  const blocks = [...guide.matchAll(/^```js\n([^]*?)^```/gm)].map((match) => match[1]).filter((block) => !block.includes("com.example"));
  assert.equal(blocks.length, 4);
  const replaced = [
    ['from "fieldforce"', `from "${library}"`],
    ['import { launch,', "import { connect,"],
    ['await launch({ state: "/var/lib/orders" })', "connect()"],
    ["await fieldforce.close();\n", ""],
  ];
  let program = `${blocks.join("")}fieldforce.close();\n`;
  for (const [text, other] of replaced) {
    assert.ok(program.includes(text), text);
    program = program.replace(text, other);
  }
  const bridge = await startBridge();
  const folder = await mkdtemp(path.join(tmpdir(), "guide-"));
  t.after(async () => {
    await bridge.close();
    await rm(folder, { recursive: true });
  });
  await bridge.org.create("Account", { Name: "Analytical Engines", Phone: "1" });
  const file = path.join(folder, "program.mjs");
  await writeFile(file, program);
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env: { ...process.env, FIELDFORCE_BRIDGE: bridge.line }, timeout: 60000 });
  const lines = stdout.trim().split("\n");
  assert.equal(lines[0], "RUNNING 0");
  for (const line of ["DONE 100", "Analytical Engines", "1 of 1", "0 records"]) assert.ok(lines.includes(line), `${line} in:\n${stdout}`);
  const { records } = await bridge.org.query("SELECT Name, Phone FROM Account ORDER BY Name");
  assert.deepEqual(records.map(({ Name, Phone }) => [Name, Phone]), [["Analytical Engines", "1"], ["Harbor Repair", "555-0100"]]);
});
