// The test bridge itself: what it promises is what the clients' tests rely on.
import assert from "node:assert/strict";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { encodeFrame, OPCODE } from "../plugins/fieldforce/node/frames.js";
import { connect } from "../plugins/fieldforce/node/index.js";
import { NodeWebSocket } from "../plugins/fieldforce/node/websocket.js";
import { startBridge } from "./bridge.mjs";
import { onTestBridge, random } from "./support/harness.mjs";
import { openPage } from "./support/page.mjs";
import { tool } from "./support/real-bridge.mjs";

async function withBridge(t, options) {
  const bridge = await startBridge(options);
  const client = connect(bridge.line);
  t.after(async () => {
    client.close();
    await bridge.close();
  });
  return { bridge, client };
}

const opened = (address) =>
  new Promise((resolve, reject) => {
    const socket = new NodeWebSocket(address);
    socket.onopen = () => resolve(socket);
    socket.onclose = reject;
  });

// ------------------------------------------------------------------------------------------ sockets

test("the id comes back as it went, a text or a number", onTestBridge, async (t) => {
  const { bridge } = await withBridge(t);
  const socket = await opened(bridge.socket);
  t.after(() => socket.close());
  const responses = [];
  const all = new Promise((resolve) => {
    socket.onmessage = ({ data }) => {
      responses.push(JSON.parse(data));
      if (responses.length === 3) resolve();
    };
  });
  for (const id of [0, "0", -1.5]) socket.send(JSON.stringify({ id, service: "test", action: "echo", args: [] }));
  await all;
  assert.deepEqual(responses.map(({ id, status }) => [id, status]), [[0, "ok"], ["0", "ok"], [-1.5, "ok"]]);
});

test("broken frames are responded or end their own socket, never the bridge", async (t) => {
  const { bridge, client } = await withBridge(t);
  const seed = Date.now();
  t.diagnostic(`seed ${seed}`);
  const draw = random(seed);
  const good = () => JSON.stringify({ id: draw.below(9), service: "com.salesforce.smartstore", action: "pgSoupExists", args: [{ soupName: "s" }] });
  const mutate = (text) => {
    const at = draw.below(text.length);
    return draw.pick([
      () => text.slice(0, at),
      () => text.slice(0, at) + draw.pick(["{", "}", "[", '"', ",", "\\u0000", "null", "1e999", "\u2028"]) + text.slice(at),
      () => text.slice(0, at) + text.slice(at + 1 + draw.below(9)),
      () => "[".repeat(10000),
      () => draw.pick(["", "null", "5", "[]", '"x"', "{}", '{"id":1}', '{"id":{},"service":"test","action":"echo","args":[]}']),
      () => '{"id":1,"service":"__proto__","action":"toString","args":[]}',
      () => '{"id":1,"service":"test","action":"constructor","args":[]}',
      () => '{"id":1,"service":"com.salesforce.smartstore","action":"pgUpsertSoupEntries","args":[{"soupName":"s","entries":5}]}',
      () => text,
    ])();
  };
  let socket = null;
  const outcomes = { responded: 0, closed: 0 };
  for (let round = 0; round < 1500; round++) {
    if (!socket) socket = await opened(bridge.socket);
    // A good call after it: its response says that the socket lives.
    const outcome = new Promise((resolve) => {
      socket.onmessage = ({ data }) => JSON.parse(data).id === "after" && resolve("responded");
      socket.onclose = () => resolve("closed");
    });
    socket.send(mutate(good()));
    socket.send('{"id":"after","service":"com.salesforce.smartstore","action":"pgSoupExists","args":[{"soupName":"s"}]}');
    const result = await outcome;
    outcomes[result] += 1;
    if (result === "closed") socket = null;
    if (round % 50 === 0) assert.equal(await client.store().soupExists("s"), false);
  }
  if (socket) socket.close();
  assert.ok(outcomes.responded > 100 && outcomes.closed > 100, JSON.stringify(outcomes));
  assert.equal(await client.store().soupExists("s"), false);
});

test("bytes that are no WebSocket frames end their own socket", async (t) => {
  const { bridge, client } = await withBridge(t);
  const url = new URL(bridge.url);
  const upgrade = { Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==" };
  const frames = [Buffer.from("GET / HTTP/1.1\r\n\r\n"), encodeFrame(OPCODE.TEXT, Buffer.from("{}")), Buffer.from([0x81, 0xff, 0xff, 0xff])];
  for (const bytes of frames) {
    await new Promise((resolve) => {
      const call = request({ host: url.hostname, port: url.port, path: `${url.pathname}_bridge`, headers: upgrade });
      call.on("upgrade", (response, stream) => {
        stream.on("error", () => {});
        stream.on("close", resolve);
        stream.write(bytes);
        stream.end();
        stream.resume();
      });
      call.end();
    });
  }
  assert.equal(await client.store().soupExists("s"), false);
});

test("a foreign origin, a foreign host and a wrong token get no socket", async (t) => {
  const { bridge } = await withBridge(t);
  const url = new URL(bridge.url);
  const attempt = (headers, pathname = `${url.pathname}_bridge`) =>
    new Promise((resolve) => {
      const upgrade = { Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==" };
      const call = request({ host: url.hostname, port: url.port, path: pathname, headers: { ...upgrade, ...headers } });
      call.on("upgrade", (response, stream) => {
        stream.destroy();
        resolve(101);
      });
      call.on("response", (response) => resolve(response.statusCode));
      call.end();
    });
  assert.equal(await attempt({}), 101);
  assert.equal(await attempt({ Origin: url.origin }), 101);
  assert.equal(await attempt({ Origin: "http://evil.example" }), 403);
  assert.equal(await attempt({ Origin: "null" }), 403);
  assert.equal(await attempt({ Host: "evil.example" }), 403);
  assert.equal(await attempt({}, "/0/_bridge"), 403);
});

test("a page that goes away in the middle of bulk upserts and a sync leaves the bridge and its store usable", async (t) => {
  const { bridge, client } = await withBridge(t);
  const store = client.store();
  await store.registerSoup("s", [{ path: "Id", type: "string" }]);
  for (let round = 0; round < 10; round++) {
    const page = await openPage(bridge.url + "index.html", ["cordova.js"]);
    await page.deviceReady();
    const { smartstore } = page.window.navigator;
    for (let call = 0; call < 20; call++) {
      smartstore.upsertSoupEntries("s", Array.from({ length: 50 }, (_, i) => ({ Id: `${round}-${call}-${i}` })), () => {}, () => {});
    }
    page.window.cordova.require("com.salesforce.plugin.mobilesync").syncDown({ type: "soql", query: "SELECT Id FROM Account" }, "s", {});
    page.unload();
  }
  const rows = await store.sql("select count(*) from {s}").toArray();
  assert.equal(rows[0][0] % 50, 0);
  await new Promise((resolve) => setTimeout(resolve, 50));
  if (!tool) assert.equal(bridge.connections, 1);
});

test("two pages of one app share the stores and both get the events", onTestBridge, async (t) => {
  const { bridge } = await withBridge(t);
  const pages = [];
  for (let i = 0; i < 2; i++) pages.push(await openPage(bridge.url + "index.html", ["cordova.js"]));
  t.after(() => pages.forEach((page) => page.unload()));
  await Promise.all(pages.map((page) => page.deviceReady()));
  const [one, other] = pages.map((page) => page.window.navigator.smartstoreClient);
  await one.registerSoup("s", [{ path: "Id", type: "string" }]);
  assert.equal(await other.soupExists("s"), true);
  const events = pages.map((page) => new Promise((resolve) => page.document.addEventListener("sync", (event) => resolve(event.detail.status))));
  bridge.emit("sync", { status: "DONE" });
  assert.deepEqual(await Promise.all(events), ["DONE", "DONE"]);
});

// ------------------------------------------------------------------------------------------ files

const get = (bridge, pathname, { method = "GET", host } = {}) =>
  new Promise((resolve, reject) => {
    const url = new URL(bridge.url);
    const headers = host ? { Host: host } : {};
    const call = request({ host: url.hostname, port: url.port, path: url.pathname + pathname, method, headers, agent: false });
    call.on("response", async (response) => {
      let text = "";
      for await (const chunk of response) text += chunk;
      resolve({ status: response.statusCode, type: response.headers["content-type"]?.split(";")[0], policy: response.headers["content-security-policy"], text });
    });
    call.on("error", reject);
    call.end();
  });

test("files: the bridge's own, those of www, and nothing outside of it", async (t) => {
  const www = await mkdtemp(path.join(tmpdir(), "www-"));
  t.after(() => rm(www, { recursive: true }));
  await writeFile(path.join(www, "index.html"), "<p>start</p>");
  await writeFile(path.join(www, "a b.css"), "p {}");
  await writeFile(path.join(www, "cordova.js"), "the app's own");
  await symlink("/etc/passwd", path.join(www, "link"));
  const { bridge } = await withBridge(t, { www });
  const start = await get(bridge, "");
  assert.deepEqual([start.status, start.type, start.text], [200, "text/html", "<p>start</p>"]);
  assert.match(start.policy, /'unsafe-inline' 'unsafe-eval'/);
  assert.equal((await get(bridge, "a%20b.css?x=1#y")).type, "text/css");
  assert.match((await get(bridge, "cordova.js")).text, /Cordova's JavaScript runtime/);
  assert.match((await get(bridge, "plugins/fieldforce/index.js")).text, /export function connect/);
  assert.equal((await get(bridge, "index.html", { method: "HEAD" })).text, "");
  for (const bad of ["none", "link", "../package.json", "%2e%2e/x", "..%2f..%2fetc/passwd", "plugins/../tests/bridge.mjs/../../../../etc/passwd", "%00", "%zz"]) {
    const { status } = await get(bridge, bad);
    assert.ok(status >= 400 && status < 500, `${bad} ${status}`);
  }
  assert.equal((await get(bridge, "index.html", { method: "POST" })).status, 405);
  assert.equal((await get(bridge, "index.html", { host: "evil.example" })).status, 403);
});
