// `fieldforce inspect` on a state folder with stores, syncs and conflicts, in place of the reference server, where the
// environment variable FIELDFORCE_TOOL names the program (FIELDFORCE_TOOL=.build/debug/fieldforce).
import { spawn } from "node:child_process";
import { mkdtemp, rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";

/** The path of the program, or null. */
export const tool = process.env.FIELDFORCE_TOOL ? path.resolve(process.env.FIELDFORCE_TOOL) : null;

const INDEXES = ["Id:string", "Name:string", "__local__:string", "__sync_id__:integer"];

/** A program that goes on until it is ended; its first line of output is JSON. */
class Program {
  errors = "";

  static async start(args) {
    const program = new Program();
    program.process = spawn(tool, args, { stdio: ["ignore", "pipe", "pipe"] });
    program.ended = new Promise((resolve) => program.process.once("exit", (code, signal) => resolve(code ?? signal)));
    program.process.stderr.on("data", (text) => (program.errors += text));
    const line = await Promise.race([
      new Promise((resolve) => createInterface({ input: program.process.stdout }).once("line", resolve)), program.ended.then(() => null),
    ]);
    if (line === null) throw new Error(`fieldforce ${args.join(" ")} ended: ${program.errors}`);
    program.line = JSON.parse(line);
    return program;
  }

  end() {
    this.process.kill("SIGTERM");
    return this.ended;
  }
}

/** A state folder with its mock org: soups of several kinds, a large one, syncs, an edit and a conflict. */
export class RealState {
  static async make({ entries = 2_000 } = {}) {
    const real = new RealState();
    real.folder = await mkdtemp(path.join(tmpdir(), "inspector-"));
    real.state = ["--state", path.join(real.folder, "state")];
    try {
      real.org = await Program.start(["org", "serve", "--generate", "Account=60", "--generate", "Contact=30"]);
      await real.#fill(entries);
    } catch (error) {
      await real.close();
      throw error;
    }
    return real;
  }

  async #fill(entries) {
    const { instanceUrl, accessToken, refreshToken, clientId, redirectUri } = this.org.line;
    await this.run(["login", "--url", instanceUrl, "--access-token", accessToken, "--refresh-token", refreshToken, "--client-id", clientId, "--redirect-uri", redirectUri]);
    for (const [soup, more] of [["accounts", ["Phone:string", "Notes:full_text"]], ["contacts", ["Age:integer", "Score:floating", "Title:json1"]]]) {
      await this.run(["soup", "register", soup, ...[...INDEXES, ...more].flatMap((index) => ["--index", index])]);
    }
    await this.run(["soup", "register", HOSTILE, "--index", "kind:string"]);
    const mode = ["--merge-mode", "MERGE_FIELDS"];
    await this.run(["sync", "down", "--soup", "accounts", "--query", "SELECT Name, Phone FROM Account", "--name", "accounts", ...mode]);
    await this.run(["sync", "down", "--soup", "contacts", "--query", "SELECT LastName, Title FROM Contact", "--name", "contacts", ...mode]);
    await this.run(["soup", "register", "readings", "--index", "Id:string", "--index", "Name:string"]);
    const lines = Array.from({ length: entries }, (_, index) => `{"Id":"r${index}","Name":"Reading ${String(index).padStart(7, "0")}","value":${index}.50,"note":null}`);
    await this.run(["store", "upsert", "readings"], lines.join("\n"));
    await this.run(["store", "upsert", HOSTILE], [
      `{"kind":"exact","a":12345678901234567890.10,"10":1.50,"2":-0,"a":"again","__proto__":{"polluted":1}}`,
      `{"kind":"markup","html":"<script>window.hacked=1</script>","line":"a\\u0000b\\u001b[31m\\r\\nd\\u2028e\\u202Ef"}`,
      JSON.stringify({ kind: "long", text: "Alle Dichtungen geprüft 😀. ".repeat(2_000) }),
      `{"kind":"deep","value":${"[".repeat(300)}${"]".repeat(300)}}`,
    ].join("\n"));
    const records = (await this.run(["store", "query", "SELECT {accounts:Id} FROM {accounts} ORDER BY {accounts:Name} LIMIT 4"])).rows.map(([id]) => id);
    await this.run(["store", "edit", "accounts", records[0], "Phone=555-0001"]);
    await this.run(["store", "edit", "accounts", records[1], "Name=Edited here"]);
    await this.run(["store", "delete", "accounts", records[2]]);
    await this.run(["store", "create", "accounts", "--type", "Account", "Name=Created here"]);
    await this.send("POST", "/mock-org/clock", { advanceSeconds: 2 });
    await this.send("PATCH", `/services/data/v${this.org.line.apiVersion}/sobjects/Account/${records[0]}`, { Phone: "555-9999" });
    await this.run(["sync", "run", "accounts"]);
    await this.run(["sync", "up", "--soup", "accounts", "--fields", "Name", "Phone", "--name", "accounts-up", ...mode], "", [3]);
    const { conflicts } = await this.run(["sync", "conflicts"]);
    if (conflicts.length !== 1) throw new Error(`The state has ${conflicts.length} conflicts in place of one.`);
    await this.run(["store", "edit", "accounts", records[3], "Name=Edited again"]);
    await this.run(["soup", "register", "settings", "--index", "key:string", "--global"]);
    await this.run(["soup", "register", "old", "--index", "key:string", "--global", "--store", "damaged"]);
    await truncate(path.join(this.folder, "state/stores/stores/damaged/store.sqlite"), 4096);
  }

  /** The JSON document of a command that ends. */
  async run(args, input = "", expected = [0]) {
    const process = spawn(tool, [...args, ...this.state, "--json"], { stdio: ["pipe", "pipe", "pipe"] });
    let [output, errors] = ["", ""];
    process.stdout.on("data", (text) => (output += text));
    process.stderr.on("data", (text) => (errors += text));
    process.stdin.end(input);
    const code = await new Promise((resolve) => process.once("close", resolve));
    if (!expected.includes(code)) throw new Error(`fieldforce ${args.join(" ")} ended with ${code}: ${errors}${output}`);
    return output ? JSON.parse(output) : null;
  }

  async send(method, address, body) {
    const { instanceUrl, accessToken } = this.org.line;
    const response = await fetch(instanceUrl + address, { method, headers: { Authorization: `Bearer ${accessToken}`, "Content-Type": "application/json" }, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${address}: ${response.status} ${await response.text()}`);
  }

  /** Starts the inspector; gives its address. */
  async inspect(options = []) {
    this.inspector = await Program.start(["inspect", "--json", ...this.state, ...options]);
    return this.inspector.line.url;
  }

  async close() {
    const status = await this.inspector?.end();
    await this.org?.end();
    if (this.folder) await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
    if (status) throw new Error(`inspect ended with ${status}: ${this.inspector.errors}`);
  }
}

/** A soup's name that would be markup, or turn the line around. */
export const HOSTILE = `<img src=x onerror="window.hacked=1">\u202Egnp.exe\u2066{soup:path}`;
