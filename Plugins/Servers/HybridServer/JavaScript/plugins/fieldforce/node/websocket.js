// A WebSocket client for Node versions that have none. Text messages only, as the bridge's protocol needs.
import { createHash, randomBytes } from "node:crypto";
import { request } from "node:http";
import { encodeFrame, FrameError, FrameParser, OPCODE } from "./frames.js";

const ACCEPT_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/**
 * The address to connect to for the host of a URL: the token of a bridge is sent to this computer alone. `localhost` is not
 * looked up, because a name can lead anywhere. Undefined for any other host.
 */
export function loopbackAddress(hostname) {
  // URLs have one spelling of an IPv4 address: `127.1` and `0x7f000001` have become this one.
  if (/^127(\.\d{1,3}){3}$/.test(hostname)) return hostname;
  if (hostname === "localhost") return "127.0.0.1";
  return hostname === "[::1]" ? "::1" : undefined;
}

/** The value of Sec-WebSocket-Accept for a key. */
export const acceptValue = (key) => createHash("sha1").update(key + ACCEPT_SUFFIX).digest("base64");

/**
 * The part of the browsers' WebSocket that the connection uses: send, close, readyState and the on… callbacks.
 * `onclose` gets `{code, reason}` and is called exactly once, also when the connection never opened.
 */
export class NodeWebSocket {
  onopen = null;
  onmessage = null;
  onclose = null;
  onerror = null;
  readyState = 0;
  #socket = null;
  #inbox = [];
  #parser = new FrameParser({ expectsMask: false });
  #request;
  #decoder = new TextDecoder("utf-8", { fatal: true });

  constructor(address) {
    const url = new URL(address);
    if (url.protocol !== "ws:") throw new SyntaxError(`Cannot connect to '${address}': only ws: addresses work.`);
    const hostname = loopbackAddress(url.hostname);
    if (!hostname) throw new SyntaxError(`Cannot connect to '${url.hostname}': only addresses of this computer work.`);
    const key = randomBytes(16).toString("base64");
    this.#request = request({
      hostname,
      port: url.port || 80,
      path: url.pathname + url.search,
      headers: {
        Connection: "Upgrade",
        Upgrade: "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": key,
      },
      agent: false,
    });
    this.#request.on("upgrade", (response, socket, head) => this.#opened(key, response, socket, head));
    this.#request.on("response", (response) => {
      response.resume();
      this.#fail(`The server responded with ${response.statusCode} instead of opening a socket.`);
    });
    this.#request.on("error", (error) => this.#fail(error.message));
    this.#request.end();
  }

  send(text) {
    if (this.readyState !== 1) throw new Error("The socket is not open.");
    this.#write(OPCODE.TEXT, Buffer.from(text, "utf8"));
  }

  close(code = 1000) {
    if (this.readyState >= 2) return;
    const wasOpen = this.readyState === 1;
    this.readyState = 2;
    if (!wasOpen) {
      this.#request.destroy();
      this.#ended(1006, "");
      return;
    }
    this.#writeClose(code);
    // A peer that never responds must not keep the process alive.
    this.#socket.setTimeout(1000, () => this.#socket.destroy());
  }

  #opened(key, response, socket, head) {
    if (response.headers["sec-websocket-accept"] !== acceptValue(key)) {
      socket.destroy();
      this.#fail("The server's handshake is wrong.");
      return;
    }
    if (this.readyState !== 0) {
      socket.destroy();
      return;
    }
    this.#socket = socket;
    socket.setNoDelay(true);
    this.readyState = 1;
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.on("error", () => {});
    socket.on("close", () => this.#enqueue(() => this.#ended(1006, "")));
    if (this.onopen) this.onopen({});
    if (head.length > 0) this.#receive(head);
  }

  #receive(chunk) {
    const guarded = (action) => {
      try {
        action();
      } catch (error) {
        // What the decoder throws: the bytes are no UTF-8.
        const code = error instanceof FrameError ? error.code : 1007;
        if (this.readyState === 1) this.#writeClose(code);
        this.#socket.destroy();
        this.#ended(code, error.message);
      }
    };
    guarded(() => {
      for (const message of this.#parser.push(chunk)) this.#enqueue(() => guarded(() => this.#handle(message)));
    });
  }

  // One message per turn of the event loop, as in a browser: what a promise does with a response happens before the
  // event that follows it in the same packet.
  #enqueue(action) {
    this.#inbox.push(action);
    if (this.#inbox.length === 1) this.#takeNext();
  }

  #takeNext() {
    this.#inbox[0]();
    setImmediate(() => {
      this.#inbox.shift();
      if (this.#inbox.length > 0) this.#takeNext();
    });
  }

  #handle({ opcode, payload }) {
    if (opcode === OPCODE.PING) this.#write(OPCODE.PONG, payload);
    else if (opcode === OPCODE.TEXT) this.#deliver(this.#decoder.decode(payload));
    else if (opcode === OPCODE.BINARY) throw new FrameError(1003, "The bridge sends text only.");
    else if (opcode === OPCODE.CLOSE) {
      const code = payload.length >= 2 ? payload.readUInt16BE(0) : 1005;
      if (this.readyState === 1) this.#writeClose(code === 1005 ? 1000 : code);
      this.#socket.end();
      this.#ended(code, payload.subarray(2).toString("utf8"));
    }
  }

  // An error of the receiver is not one of the connection.
  #deliver(data) {
    if (this.readyState !== 1 || !this.onmessage) return;
    try {
      this.onmessage({ data });
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  #write(opcode, payload) {
    if (this.#socket.writable) this.#socket.write(encodeFrame(opcode, payload, { masked: true }));
  }

  #writeClose(code) {
    const payload = Buffer.alloc(2);
    payload.writeUInt16BE(code);
    this.#write(OPCODE.CLOSE, payload);
  }

  #fail(message) {
    if (this.readyState === 3) return;
    if (this.onerror) this.onerror({ message });
    this.#ended(1006, message);
  }

  #ended(code, reason) {
    if (this.readyState === 3) return;
    this.readyState = 3;
    if (this.onclose) this.onclose({ code, reason });
  }
}
