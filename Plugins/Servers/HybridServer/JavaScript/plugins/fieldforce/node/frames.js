// WebSocket frames (RFC 6455): written by encodeFrame, read by FrameParser. For clients and servers.
import { randomFillSync } from "node:crypto";

export const OPCODE = { CONTINUATION: 0, TEXT: 1, BINARY: 2, CLOSE: 8, PING: 9, PONG: 10 };

/** A frame that breaks the protocol. `code` is the close code of the response. */
export class FrameError extends Error {
  constructor(code, message) {
    super(message);
    this.name = "FrameError";
    this.code = code;
  }
}

/**
 * Encodes one frame. A client masks its frames, a server does not.
 */
export function encodeFrame(opcode, payload, { masked = false, fin = true } = {}) {
  const length = payload.length;
  const lengthBytes = length < 126 ? 0 : length < 65536 ? 2 : 8;
  const header = Buffer.alloc(2 + lengthBytes + (masked ? 4 : 0));
  header[0] = (fin ? 0x80 : 0) | opcode;
  header[1] = (masked ? 0x80 : 0) | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127);
  if (lengthBytes === 2) header.writeUInt16BE(length, 2);
  if (lengthBytes === 8) header.writeBigUInt64BE(BigInt(length), 2);
  if (!masked) return Buffer.concat([header, payload]);
  const mask = header.subarray(2 + lengthBytes);
  randomFillSync(mask);
  return Buffer.concat([header, applyMask(payload, mask)]);
}

function applyMask(payload, mask) {
  // Memory of its own begins at a multiple of four, so that four bytes are masked at once.
  const result = Buffer.allocUnsafeSlow(payload.length);
  result.set(payload);
  const count = payload.length >> 2;
  const words = new Uint32Array(result.buffer, result.byteOffset, count);
  const word = new Uint32Array(Uint8Array.from(mask).buffer)[0];
  for (let i = 0; i < count; i++) words[i] ^= word;
  for (let i = count << 2; i < payload.length; i++) result[i] ^= mask[i & 3];
  return result;
}

/**
 * Turns bytes, in pieces of any size, into messages: `{opcode, payload}`, with fragments joined and control frames as
 * they come.
 */
export class FrameParser {
  #chunks = [];
  #length = 0;
  #fragments = [];
  #fragmentedOpcode = null;
  #fragmentedLength = 0;
  #expectsMask;
  #maximum;

  constructor({ expectsMask, maximumMessageBytes = 16 * 1024 * 1024 }) {
    this.#expectsMask = expectsMask;
    this.#maximum = maximumMessageBytes;
  }

  /** The messages that `chunk` completes. Throws FrameError; the connection cannot be used afterwards. */
  push(chunk) {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    const messages = [];
    for (let frame = this.#nextFrame(); frame; frame = this.#nextFrame()) {
      const message = this.#join(frame);
      if (message) messages.push(message);
    }
    return messages;
  }

  #peek(count) {
    if (this.#length < count) return null;
    if (this.#chunks[0].length < count) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0];
  }

  #take(count) {
    const first = this.#peek(count);
    this.#chunks[0] = first.subarray(count);
    if (this.#chunks[0].length === 0) this.#chunks.shift();
    this.#length -= count;
    return first.subarray(0, count);
  }

  #nextFrame() {
    if (this.#length < 2) return null;
    const start = this.#peek(2);
    const [first, second] = start;
    const masked = (second & 0x80) !== 0;
    const short = second & 0x7f;
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
    const headerLength = 2 + lengthBytes + (masked ? 4 : 0);
    const opcode = first & 0x0f;
    this.#check(first, opcode, masked, short);
    if (this.#length < headerLength) return null;
    const header = this.#peek(headerLength);
    let length = short;
    if (lengthBytes === 2) length = header.readUInt16BE(2);
    if (lengthBytes === 8) length = Number(header.readBigUInt64BE(2));
    if (length + this.#fragmentedLength > this.#maximum) throw new FrameError(1009, "The message is too large.");
    if (this.#length < headerLength + length) return null;
    const mask = this.#take(headerLength).subarray(2 + lengthBytes);
    const payload = length === 0 ? Buffer.alloc(0) : this.#take(length);
    return { fin: (first & 0x80) !== 0, opcode, payload: masked ? applyMask(payload, mask) : payload };
  }

  #check(first, opcode, masked, short) {
    const isControl = opcode >= 8;
    if ((first & 0x70) !== 0) throw new FrameError(1002, "A frame uses an extension that was not agreed on.");
    if (!Object.values(OPCODE).includes(opcode)) throw new FrameError(1002, `Unknown opcode ${opcode}.`);
    if (isControl && ((first & 0x80) === 0 || short > 125)) throw new FrameError(1002, "A control frame is too long.");
    if (masked !== this.#expectsMask) {
      throw new FrameError(1002, masked ? "A server must not mask its frames." : "A client must mask its frames.");
    }
  }

  #join({ fin, opcode, payload }) {
    if (opcode >= 8) return { opcode, payload };
    if (opcode === OPCODE.CONTINUATION) {
      if (this.#fragmentedOpcode === null) throw new FrameError(1002, "A continuation has nothing to continue.");
    } else if (this.#fragmentedOpcode !== null) {
      throw new FrameError(1002, "A new message starts before the last one ended.");
    } else if (fin) {
      return { opcode, payload };
    } else {
      this.#fragmentedOpcode = opcode;
    }
    this.#fragments.push(payload);
    this.#fragmentedLength += payload.length;
    if (!fin) return null;
    const message = { opcode: this.#fragmentedOpcode, payload: Buffer.concat(this.#fragments) };
    this.#fragments = [];
    this.#fragmentedOpcode = null;
    this.#fragmentedLength = 0;
    return message;
  }
}
