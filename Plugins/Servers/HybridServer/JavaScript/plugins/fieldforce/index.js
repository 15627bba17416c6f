// fieldforce for pages: stores, syncs and REST as promises and async iterators.
import { Connection } from "./core/connection.js";
import { Fieldforce } from "./core/fieldforce.js";

export { BridgeError, RestError, SyncError } from "./core/errors.js";
export { QuerySpec } from "./core/smartstore.js";

/**
 * Connects a page to the bridge that serves it. `socket` is the bridge's socket address; default: `_bridge` in the folder of
 * the bridge's URL, which is the first part of the page's path.
 */
export function connect({ socket } = {}) {
  const address = socket || defaultSocket(globalThis.location);
  return new Fieldforce(new Connection(() => new WebSocket(address)));
}

function defaultSocket({ protocol, host, pathname }) {
  const token = pathname.split("/")[1];
  return `${protocol === "https:" ? "wss:" : "ws:"}//${host}/${token}/_bridge`;
}
