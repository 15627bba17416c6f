// A bridge for tests: the contract of `fieldforce hybrid serve` over HTTP and WebSocket, with mock stores and an org in
// memory behind it. It is strict where the contract is, so that clients that bend it fail here.
import { randomBytes } from "node:crypto";
import { readFile, realpath } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";
import "../mock/MockSmartStore.js";
import "../mock/MockMobileSyncPlugin.js";
import { encodeFrame, FrameError, FrameParser, OPCODE } from "../plugins/fieldforce/node/frames.js";
import { acceptValue } from "../plugins/fieldforce/node/websocket.js";
import { Org, UnreachableError } from "./support/org.mjs";
import { RealBridge, tool } from "./support/real-bridge.mjs";

const { MockMobileSync, MockSmartStore, MockStores } = globalThis;
const HERE = fileURLToPath(new URL("..", import.meta.url));
const TYPES = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".mjs": "text/javascript", ".json": "application/json" };
const POLICY = "default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval'";

const user = {
  authToken: "token",
  refreshToken: "refresh",
  loginServer: "https://login.salesforce.com",
  idUrl: "https://login.salesforce.com/id/00D/005",
  instanceServer: "https://org.example.com",
  orgId: "00D000000000001AAA",
  userId: "005000000000001AAA",
  username: "ada@example.com",
  clientId: "client",
};
const credentials = {
  accessToken: user.authToken,
  refreshToken: user.refreshToken,
  clientId: user.clientId,
  userId: user.userId,
  orgId: user.orgId,
  loginUrl: user.loginServer,
  identityUrl: user.idUrl,
  instanceUrl: user.instanceServer,
  userAgent: "SalesforceMobileSDK/14.0.0 test",
  communityId: null,
  communityUrl: null,
};

class Failure extends Error {
  constructor(value) {
    super(typeof value === "string" ? value : JSON.stringify(value));
    this.value = value;
  }
}

/**
 * Starts a bridge on a free port. Options: `www`, `startPage`, `org`, `testRunner`, `loggedIn`. Where the environment
 * variable FIELDFORCE_TOOL names the program, it is that of `fieldforce hybrid serve`.
 */
export async function startBridge(options = {}) {
  if (tool) return RealBridge.start(options);
  const bridge = new Bridge(options);
  await bridge.listen();
  return bridge;
}

class Bridge {
  stores = new MockStores();
  calls = [];
  features = new Set();
  tests = [];
  #sockets = new Set();
  #server = createServer((request, response) => this.#serve(request, response));
  #token = randomBytes(16).toString("hex");
  #services;

  constructor({ www, startPage = "index.html", org = new Org(), testRunner = false, loggedIn = true }) {
    Object.assign(this, { www, startPage, org, loggedIn });
    this.sync = new MockMobileSync({ stores: this.stores, server: org.client(), emit: (detail) => this.emit("sync", detail) });
    this.#services = this.#makeServices(testRunner);
    this.#server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
  }

  async listen() {
    if (this.www) await this.#setUp();
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const { port } = this.#server.address();
    this.host = `127.0.0.1:${port}`;
    this.url = `http://${this.host}/${this.#token}/`;
    this.socket = `ws://${this.host}/${this.#token}/_bridge`;
    this.startUrl = this.www ? this.url + this.startPage : null;
  }

  // Soups and syncs of the files that the app brings.
  async #setUp() {
    const read = async (name) => JSON.parse(await readFile(path.join(this.www, name), "utf8").catch(() => "{}"));
    for (const [kind, isGlobalStore] of [["global", true], ["user", false]]) {
      const { soups = [] } = await read(`${kind}store.json`);
      for (const { soupName, indexes } of soups) this.stores.get({ isGlobalStore }).registerSoup(soupName, indexes);
      const { syncs = [] } = await read(`${kind}syncs.json`);
      for (const { syncType, ...message } of syncs) this.sync.create(syncType, { ...message, isGlobalStore });
    }
  }

  /** What the first line of standard output says. */
  get line() {
    return JSON.stringify({ url: this.url, startUrl: this.startUrl, socket: this.socket });
  }

  emit(event, detail) {
    for (const socket of this.#sockets) socket.send(JSON.stringify({ event, detail }));
  }

  /** Ends all sockets at once, as a crash does. */
  dropSockets() {
    for (const socket of this.#sockets) socket.destroy();
  }

  get connections() {
    return this.#sockets.size;
  }

  async close() {
    this.dropSockets();
    this.#server.closeAllConnections?.();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  // ------------------------------------------------------------------------------------------ services

  #makeServices(testRunner) {
    const requireUser = () => {
      if (!this.loggedIn) throw new Failure("Not authenticated");
    };
    const storeActions = MockSmartStore.actions(this.stores);
    for (const name of Object.keys(storeActions)) {
      const action = storeActions[name];
      storeActions[name] = (message) => {
        if (!this.loggedIn && !message.isGlobalStore) throw new Failure("No user account found");
        return action(message);
      };
    }
    const services = {
      "com.salesforce.smartstore": storeActions,
      "com.salesforce.mobilesync": this.sync.actions(),
      "com.salesforce.network": { pgSendRequest: (message) => this.#sendRequest(message) },
      "com.salesforce.oauth": {
        getAuthCredentials: () => (requireUser(), credentials),
        authenticate: () => ((this.loggedIn = true), credentials),
        logoutCurrentUser: () => this.#logOut(),
        getAppHomeUrl: () => "",
      },
      "com.salesforce.sfaccountmanager": {
        getUsers: () => (this.loggedIn ? [user] : []),
        getCurrentUser: () => (this.loggedIn ? user : {}),
        logout: () => this.#logOut(),
        switchToUser: ({ userId } = {}) => {
          if (userId !== undefined && userId !== user.userId) throw new Failure(`No user with id ${userId}`);
        },
      },
      "com.salesforce.sdkinfo": {
        getInfo: () => ({
          sdkVersion: "14.0.0",
          appName: "Test",
          appVersion: "1.0",
          forcePluginsAvailable: Object.keys(this.#services).filter((name) => name !== "com.salesforce.smartsync"),
          bootConfig: { isLocal: true, startPage: this.startPage, shouldAuthenticate: true },
        }),
        registerAppFeature: ({ feature }) => void this.features.add(feature),
        unregisterAppFeature: ({ feature }) => void this.features.delete(feature),
      },
      // For tests of the transport alone.
      test: {
        echo: (...args) => args,
        nothing: () => undefined,
        fail: (value) => {
          throw new Failure(value);
        },
        slow: (value, milliseconds) => new Promise((resolve) => setTimeout(() => resolve(value), milliseconds)),
        // Parts with a "pending" status before the response.
        parts: async function* (...parts) {
          const last = parts.pop();
          yield* parts;
          return last;
        },
        drop: () => this.dropSockets(),
      },
    };
    services["com.salesforce.smartsync"] = services["com.salesforce.mobilesync"];
    if (testRunner) {
      services["com.salesforce.testrunner"] = {
        onReadyForTests: () => undefined,
        onTestComplete: (result) => void this.tests.push(result),
      };
    }
    return services;
  }

  // The pages load again, after the response.
  #logOut() {
    this.loggedIn = false;
    setTimeout(() => this.emit("fieldforceReload"), 0);
  }

  #sendRequest(message) {
    const { status, headers, body } = this.#orgResponse(message);
    if (status < 300) return body;
    throw new Failure(JSON.stringify({ response: { headers, statusCode: status, body } }));
  }

  #orgResponse(message) {
    try {
      return this.org.handle(message);
    } catch (error) {
      throw error instanceof UnreachableError ? new Failure(JSON.stringify({ error: error.message })) : error;
    }
  }

  async #carryOut({ service, action, args = [] }) {
    const list = typeof args[0] === "string" && args[0].startsWith("pluginSDKVersion") ? args.slice(1) : args;
    this.calls.push({ service, action, args: list });
    const actions = Object.hasOwn(this.#services, service) ? this.#services[service] : null;
    if (!actions || !Object.hasOwn(actions, action)) throw new Failure(`invalid action: ${service}.${action}`);
    return actions[action](...list);
  }

  // ------------------------------------------------------------------------------------------ sockets

  #upgrade(request, stream, head) {
    const key = request.headers["sec-websocket-key"];
    const { origin, host } = request.headers;
    const isAllowed = request.url === `/${this.#token}/_bridge` && (!origin || origin === `http://${this.host}`);
    if (!key || !isAllowed || host !== this.host) {
      stream.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n");
      return;
    }
    stream.write(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
        `Sec-WebSocket-Accept: ${acceptValue(key)}\r\n\r\n`
    );
    const parser = new FrameParser({ expectsMask: true });
    // Calls of the store follow each other; others may overtake.
    let storeQueue = Promise.resolve();
    const socket = {
      send: (text) => stream.writable && stream.write(encodeFrame(OPCODE.TEXT, Buffer.from(text))),
      destroy: () => stream.destroy(),
    };
    const close = (code) => {
      const payload = Buffer.alloc(2);
      payload.writeUInt16BE(code);
      if (stream.writable) stream.end(encodeFrame(OPCODE.CLOSE, payload));
      this.#sockets.delete(socket);
    };
    const receive = (chunk) => {
      try {
        for (const { opcode, payload } of parser.push(chunk)) {
          if (opcode === OPCODE.CLOSE) close(1000);
          else if (opcode === OPCODE.PING) stream.write(encodeFrame(OPCODE.PONG, payload));
          else if (opcode === OPCODE.TEXT) storeQueue = this.#response(socket, payload.toString("utf8"), storeQueue);
          else if (opcode === OPCODE.BINARY) throw new FrameError(1003, "Text frames only.");
        }
      } catch (error) {
        close(error instanceof FrameError ? error.code : 1007);
      }
    };
    this.#sockets.add(socket);
    stream.setNoDelay(true);
    stream.on("data", receive);
    // Half open is not open: what is left unread of a frame never comes.
    stream.on("end", () => stream.destroy());
    stream.on("error", () => {});
    stream.on("close", () => this.#sockets.delete(socket));
    if (head.length > 0) receive(head);
  }

  // Throws for a frame that is no call. Gives the queue of store calls with this one at its end.
  #response(socket, text, storeQueue) {
    const call = JSON.parse(text);
    const isId = ["string", "number"].includes(typeof call?.id);
    if (!isId) throw new FrameError(1007, "A call needs an id.");
    const isCall = typeof call.service === "string" && typeof call.action === "string" && Array.isArray(call.args);
    const run = async () => {
      let response;
      try {
        if (!isCall) throw new Failure("invalid action: a call needs a service, an action and args");
        let value = await this.#carryOut(call);
        if (typeof value?.next === "function") value = await this.#sendParts(socket, call.id, value);
        response = { id: call.id, status: "ok", ...(value === undefined ? {} : { value }) };
      } catch (error) {
        response = { id: call.id, status: "error", value: error instanceof Failure ? error.value : error.message };
      }
      socket.send(JSON.stringify(response));
    };
    if (call.service !== "com.salesforce.smartstore") {
      run();
      return storeQueue;
    }
    return storeQueue.then(run);
  }

  async #sendParts(socket, id, parts) {
    for (;;) {
      const { done, value } = await parts.next();
      if (done) return value;
      socket.send(JSON.stringify({ id, status: "pending", ...(value === null ? {} : { value }) }));
    }
  }

  // ------------------------------------------------------------------------------------------ files

  async #serve(request, response) {
    const refuse = (status) => response.writeHead(status, { "Content-Type": "text/plain" }).end();
    const address = request.url.split(/[?#]/)[0];
    const prefix = `/${this.#token}/`;
    if (request.headers.host !== this.host || !address.startsWith(prefix)) return refuse(403);
    if (!["GET", "HEAD"].includes(request.method)) return refuse(405);
    try {
      const file = await this.#fileOf(decodeURIComponent(address.slice(prefix.length)));
      const content = await readFile(file);
      const type = TYPES[path.extname(file)] || "application/octet-stream";
      response.writeHead(200, { "Content-Type": type, "Content-Security-Policy": POLICY });
      return response.end(request.method === "HEAD" ? undefined : content);
    } catch (error) {
      return refuse(404);
    }
  }

  async #fileOf(name) {
    if (name === "cordova.js") return path.join(HERE, "cordova/cordova.js");
    const own = this.www && (await inside(this.www, "cordova_plugins.js").catch(() => null));
    if (!own && name === "cordova_plugins.js") return path.join(HERE, "cordova/cordova_plugins.js");
    if (!own && name.startsWith("plugins/")) return inside(HERE, name);
    if (!this.www) throw new Error("There is no www folder.");
    return inside(this.www, name || this.startPage);
  }
}

// The file under `folder`, also after links.
async function inside(folder, name) {
  const root = await realpath(folder);
  const file = await realpath(path.join(root, name));
  if (!file.startsWith(root + path.sep)) throw new Error("The file is outside of the folder.");
  return file;
}
