// fieldforce for pages: stores, syncs and REST as promises and async iterators.
import { Connection } from "./core/connection.js";
import { Fieldforce } from "./core/fieldforce.js";

export { BridgeError, RestError, SyncError } from "./core/errors.js";
export { QuerySpec } from "./core/smartstore.js";

/**
 * Connects a page to the bridge that serves it. `socket` is the bridge's socket address; default: `_bridge` in the folder of
 * the bridge's URL, which is the first part of the page's path, and in a window, where pages are at https://localhost or on
 * the server, `wss://localhost/_bridge`.
 */
export function connect({ socket } = {}) {
  const address = socket || defaultSocket(globalThis.location);
  return new Fieldforce(new Connection(() => new WebSocket(address)));
}

function defaultSocket({ protocol, host, pathname }) {
  // `hybrid serve` itself has no TLS. A page of the server has this file from the window.
  if (protocol === "https:" || import.meta.url.startsWith("https://localhost/")) return "wss://localhost/_bridge";
  const token = pathname.split("/")[1];
  return `ws://${host}/${token}/_bridge`;
}
