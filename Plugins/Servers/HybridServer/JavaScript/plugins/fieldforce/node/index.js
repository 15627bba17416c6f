// fieldforce for Node and Electron: stores, syncs and REST of a bridge that runs beside the program.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Connection } from "../core/connection.js";
import { BridgeError } from "../core/errors.js";
import { Fieldforce } from "../core/fieldforce.js";
import { loopbackAddress, NodeWebSocket } from "./websocket.js";

export { BridgeError, RestError, SyncError } from "../core/errors.js";
export { QuerySpec } from "../core/smartstore.js";

const START_TIMEOUT_MS = 30000;
const STOP_TIMEOUT_MS = 10000;

/**
 * Connects to a running bridge. `bridge` is the first line that `fieldforce hybrid serve` prints (as text or parsed), or
 * the address of its socket. Default: the environment variable FIELDFORCE_BRIDGE. A bridge listens on its own computer
 * only: any other host is refused, because the address has the token that opens the stores.
 */
export function connect(bridge = process.env.FIELDFORCE_BRIDGE) {
  const address = socketAddress(bridge);
  return new Fieldforce(new Connection(() => new NodeWebSocket(address)));
}

function socketAddress(bridge) {
  let line = bridge;
  if (typeof bridge === "string" && bridge.trimStart().startsWith("{")) {
    try {
      line = JSON.parse(bridge);
    } catch {
      line = null;
    }
  }
  const address = line && typeof line === "object" ? line.socket : line;
  const hostname = typeof address === "string" && /^ws:\/\//.test(address) ? hostOf(address) : undefined;
  if (hostname === undefined) {
    const message =
      "Cannot tell the address of the bridge. " +
      "Pass the first line that 'fieldforce hybrid serve' prints, or set FIELDFORCE_BRIDGE to it.";
    throw new BridgeError("unreachable", message);
  }
  if (!loopbackAddress(hostname)) {
    const message =
      `Cannot connect to a bridge on '${hostname}': it is not this computer. ` +
      "Start a bridge with launch(), or pass the first line of 'fieldforce hybrid serve' on this computer.";
    throw new BridgeError("unreachable", message);
  }
  return address;
}

/** The host of an address; undefined if it is not one. */
function hostOf(address) {
  try {
    return new URL(address).hostname;
  } catch {
    return undefined;
  }
}

/**
 * Starts a bridge and connects to it. `close()` of the result ends both and resolves when the process has ended.
 * `options`: `command` (default `["fieldforce"]`), `www`, `state`, `port`, `appName`, `appVersion`, `testRunner`.
 */
export async function launch({ command = ["fieldforce"], www, state, port, appName, appVersion, testRunner } = {}) {
  const options = { www, state, port, "app-name": appName, "app-version": appVersion };
  const args = Object.entries(options).flatMap(([name, value]) => (value == null ? [] : [`--${name}`, String(value)]));
  if (testRunner) args.push("--test-runner");
  const [program, ...first] = command;
  const child = spawn(program, [...first, "hybrid", "serve", ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.once("close", resolve));
  let bridge;
  try {
    bridge = JSON.parse(await firstLine(child));
    const client = connect(bridge);
    const closeConnection = client.close.bind(client);
    client.bridge = bridge;
    client.close = async () => {
      closeConnection();
      await stop(child, ended);
    };
    return client;
  } catch (error) {
    await stop(child, ended);
    throw error instanceof BridgeError
      ? error
      : new BridgeError("unreachable", `The bridge did not start. ${error.message}`, { details: bridge });
  }
}

function firstLine(child) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`No first line within ${START_TIMEOUT_MS} ms.`)), START_TIMEOUT_MS);
    const finish = (action, value) => {
      clearTimeout(timer);
      action(value);
    };
    child.once("error", (error) => finish(reject, error));
    child.once("close", (code) => finish(reject, new Error(`It ended with ${code}.`)));
    const lines = createInterface({ input: child.stdout });
    lines.once("line", (line) => finish(resolve, line));
    // Later lines are read and dropped: a full pipe would stop the bridge.
    lines.on("line", () => {});
  });
}

async function stop(child, ended) {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(timer);
}
