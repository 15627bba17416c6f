import { BridgeError } from "./errors.js";

const MAXIMUM_FRAME_BYTES = 16 * 1024 * 1024;

/**
 * Calls and events over one WebSocket to the bridge.
 *
 * The socket opens with the first call. When it closes, the calls without a response fail with `closed` and the next call
 * opens a new one: calls are never sent twice, because the first may have been carried out.
 */
export class Connection {
  #openSocket;
  #socket = null;
  #opening = null;
  #pending = new Map();
  #listeners = new Map();
  #nextId = 1;
  #isClosed = false;

  /** `openSocket` makes a WebSocket. */
  constructor(openSocket) {
    this.#openSocket = openSocket;
  }

  /** Calls an action of a service and returns the value of its response. Rejects with BridgeError. */
  async call(service, action, ...args) {
    const id = this.#nextId++;
    const text = JSON.stringify({ id, service, action, args });
    if (text.length * 3 > MAXIMUM_FRAME_BYTES && new TextEncoder().encode(text).length > MAXIMUM_FRAME_BYTES) {
      const message = `The call ${service}.${action} is larger than 16 MB. Send the data in several calls.`;
      throw new BridgeError("tooLarge", message, { service, action });
    }
    // Without a turn of the event loop between two calls on an open socket: they are sent in the order of the calls.
    const socket = this.#socket || (await this.#open(service, action));
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, service, action });
      try {
        socket.send(text);
      } catch (error) {
        this.#pending.delete(id);
        reject(new BridgeError("closed", `${service}.${action} was not sent. ${error.message}`, { service, action }));
      }
    });
  }

  /** Calls `listener` with the detail of each event of that name. Gives a function that ends this. */
  on(event, listener) {
    if (!this.#listeners.has(event)) this.#listeners.set(event, new Set());
    this.#listeners.get(event).add(listener);
    return () => this.#listeners.get(event).delete(listener);
  }

  /** Ends the connection. Calls without a response fail with `closed`, and so does every later call. */
  close() {
    this.#isClosed = true;
    if (this.#socket) this.#socket.close();
    this.#lost("The connection was closed.");
  }

  #open(service, action) {
    if (this.#isClosed) {
      return Promise.reject(new BridgeError("closed", "The connection was closed.", { service, action }));
    }
    if (!this.#opening) {
      this.#opening = new Promise((resolve, reject) => {
        const socket = this.#openSocket();
        socket.onopen = () => {
          this.#opening = null;
          if (this.#isClosed) {
            socket.close();
            reject(new BridgeError("closed", "The connection was closed."));
            return;
          }
          this.#socket = socket;
          resolve(socket);
        };
        socket.onmessage = (message) => this.#receive(message.data);
        socket.onclose = ({ reason } = {}) => {
          this.#opening = null;
          reject(new BridgeError("unreachable", `Cannot reach the bridge. ${reason || ""}`.trim()));
          if (this.#socket === socket) this.#lost("The bridge closed the connection.");
        };
      });
    }
    return this.#opening;
  }

  #lost(message) {
    this.#socket = null;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject, service, action } of pending) {
      reject(new BridgeError("closed", `${service}.${action} has no response. ${message}`, { service, action }));
    }
    this.#emit("close", message);
  }

  #receive(text) {
    let frame = null;
    try {
      frame = JSON.parse(text);
    } catch {
      // A frame without meaning is dropped: the call that it may have been for ends with the connection.
    }
    if (frame === null || typeof frame !== "object") return;
    if (typeof frame.event === "string") {
      this.#emit(frame.event, frame.detail);
      return;
    }
    const call = this.#pending.get(frame.id);
    if (!call || frame.status === "pending") return;
    this.#pending.delete(frame.id);
    if (frame.status === "ok") {
      call.resolve(frame.value);
    } else {
      const { service, action } = call;
      const message = typeof frame.value === "string" ? frame.value : (frame.value && frame.value.message) || "";
      const text = message || `${service}.${action} failed.`;
      call.reject(new BridgeError("refused", text, { service, action, details: frame.value }));
    }
  }

  #emit(event, detail) {
    for (const listener of [...(this.#listeners.get(event) || [])]) listener(detail);
  }
}
