import assert from "node:assert/strict";
import { createServer } from "node:http";
import test from "node:test";
import { encodeFrame, FrameError, FrameParser, OPCODE } from "../plugins/fieldforce/node/frames.js";
import { acceptValue, NodeWebSocket } from "../plugins/fieldforce/node/websocket.js";
import { random } from "./support/harness.mjs";

// Lengths on both sides of each step in the encoding of a length.
const LENGTHS = [0, 1, 125, 126, 127, 65535, 65536, 70000];

function cut(bytes, { below }) {
  const pieces = [];
  for (let start = 0; start < bytes.length; ) {
    const size = 1 + below(below(10) === 0 ? 7 : 5000);
    pieces.push(bytes.subarray(start, start + size));
    start += size;
  }
  return pieces;
}

test("messages come out as they went in, masked or not, in fragments, in pieces of any size", (t) => {
  const seed = Date.now();
  t.diagnostic(`seed ${seed}`);
  const draw = random(seed);
  for (let round = 0; round < 150; round++) {
    const masked = draw.below(2) === 0;
    const expected = [];
    const bytes = [];
    for (let count = draw.below(6) + 1; count > 0; count--) {
      const payload = Buffer.from(Array.from({ length: draw.pick(LENGTHS) }, () => draw.below(256)));
      const opcode = draw.pick([OPCODE.TEXT, OPCODE.BINARY]);
      const middle = draw.below(payload.length + 1);
      if (draw.below(2) === 0) {
        bytes.push(encodeFrame(opcode, payload, { masked }));
      } else {
        // A control frame may stand between two fragments.
        bytes.push(encodeFrame(opcode, payload.subarray(0, middle), { masked, fin: false }));
        bytes.push(encodeFrame(OPCODE.PING, Buffer.from("p"), { masked }));
        expected.push({ opcode: OPCODE.PING, payload: Buffer.from("p") });
        bytes.push(encodeFrame(OPCODE.CONTINUATION, payload.subarray(middle), { masked }));
      }
      expected.push({ opcode, payload });
    }
    const parser = new FrameParser({ expectsMask: masked });
    const messages = cut(Buffer.concat(bytes), draw).flatMap((piece) => parser.push(piece));
    assert.equal(messages.length, expected.length);
    messages.forEach((message, index) => {
      assert.equal(message.opcode, expected[index].opcode);
      assert.ok(message.payload.equals(expected[index].payload));
    });
  }
});

test("frames that break the protocol are refused with their close code", () => {
  const text = Buffer.from("x");
  const cases = {
    "not masked": [encodeFrame(OPCODE.TEXT, text), 1002],
    "reserved bit": [Buffer.from([0xc1, 0x80, 0, 0, 0, 0]), 1002],
    "unknown opcode": [Buffer.from([0x83, 0x80, 0, 0, 0, 0]), 1002],
    "long control frame": [encodeFrame(OPCODE.PING, Buffer.alloc(126), { masked: true }), 1002],
    "fragmented control frame": [encodeFrame(OPCODE.PING, text, { masked: true, fin: false }), 1002],
    "continuation of nothing": [encodeFrame(OPCODE.CONTINUATION, text, { masked: true }), 1002],
    "message inside a message": [
      Buffer.concat([0, 1].map(() => encodeFrame(OPCODE.TEXT, text, { masked: true, fin: false }))), 1002,
    ],
    "length of 2^53": [Buffer.from([0x81, 0xff, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), 1009],
  };
  for (const [name, [bytes, code]] of Object.entries(cases)) {
    const parser = new FrameParser({ expectsMask: true, maximumMessageBytes: 1000 });
    assert.throws(() => parser.push(bytes), (error) => error instanceof FrameError && error.code === code, name);
  }
});

test("the limit counts all fragments of a message together", () => {
  const parser = new FrameParser({ expectsMask: true, maximumMessageBytes: 1000 });
  parser.push(encodeFrame(OPCODE.TEXT, Buffer.alloc(600), { masked: true, fin: false }));
  const rest = encodeFrame(OPCODE.CONTINUATION, Buffer.alloc(600), { masked: true });
  assert.throws(() => parser.push(rest), { code: 1009 });
});

test("the response to the key of RFC 6455 is the one that it prints", () => {
  assert.equal(acceptValue("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
});

// A server that completes the handshake and then does what `serve` does with the stream.
async function serverThat(t, serve, accept = acceptValue) {
  const server = createServer((request, response) => response.writeHead(403).end());
  const streams = new Set();
  server.on("upgrade", (request, stream) => {
    streams.add(stream);
    stream.on("error", () => {});
    const value = accept(request.headers["sec-websocket-key"]);
    stream.write(`HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${value}\r\n\r\n`);
    serve(stream);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    for (const stream of streams) stream.destroy();
    server.close();
  });
  return `ws://127.0.0.1:${server.address().port}/`;
}

const ending = (socket) => new Promise((resolve) => (socket.onclose = resolve));

test("a socket that cannot open closes once, with a reason", async (t) => {
  const closed = await ending(new NodeWebSocket("ws://127.0.0.1:1/"));
  assert.equal(closed.code, 1006);
  assert.match(closed.reason, /ECONNREFUSED/);
  const wrong = await serverThat(t, () => {}, () => "wrong");
  assert.match((await ending(new NodeWebSocket(wrong))).reason, /handshake/);
  assert.throws(() => new NodeWebSocket("http://127.0.0.1/"), /only ws: addresses/);
});

test("frames in the same packet as the handshake are not lost", async (t) => {
  const address = await serverThat(t, (stream) => stream.write(encodeFrame(OPCODE.TEXT, Buffer.from("hello"))));
  const socket = new NodeWebSocket(address);
  assert.equal((await new Promise((resolve) => (socket.onmessage = resolve))).data, "hello");
  const closed = ending(socket);
  socket.close();
  await closed;
});

test("a masked frame, bytes that are no UTF-8 and binary frames end the connection with their code", async (t) => {
  const cases = [
    [encodeFrame(OPCODE.TEXT, Buffer.from("x"), { masked: true }), 1002],
    [encodeFrame(OPCODE.TEXT, Buffer.from([0xff, 0xfe])), 1007],
    [encodeFrame(OPCODE.BINARY, Buffer.from("x")), 1003],
  ];
  for (const [bytes, code] of cases) {
    const socket = new NodeWebSocket(await serverThat(t, (stream) => stream.write(bytes)));
    assert.equal((await ending(socket)).code, code);
  }
});

test("a ping is responded, and a close is responded with its code", async (t) => {
  const received = [];
  const address = await serverThat(t, (stream) => {
    const parser = new FrameParser({ expectsMask: true });
    stream.on("data", (chunk) => received.push(...parser.push(chunk)));
    stream.write(encodeFrame(OPCODE.PING, Buffer.from("are you there")));
    stream.write(encodeFrame(OPCODE.CLOSE, Buffer.from([0x0f, 0xa0, 0x62, 0x79, 0x65])));
  });
  const closed = await ending(new NodeWebSocket(address));
  assert.deepEqual(closed, { code: 4000, reason: "bye" });
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(received.map(({ opcode }) => opcode), [OPCODE.PONG, OPCODE.CLOSE]);
  assert.equal(received[0].payload.toString(), "are you there");
});

test("a peer that ends without a close frame closes the socket", async (t) => {
  const address = await serverThat(t, (stream) => setTimeout(() => stream.destroy(), 5));
  assert.equal((await ending(new NodeWebSocket(address))).code, 1006);
});

test("promises of one message run before the next message, also when both come in one packet", async (t) => {
  const both = Buffer.concat(["a", "b"].map((text) => encodeFrame(OPCODE.TEXT, Buffer.from(text))));
  const address = await serverThat(t, (stream) => {
    stream.write(both);
    setTimeout(() => stream.end(encodeFrame(OPCODE.CLOSE, Buffer.alloc(0))), 5);
  });
  const order = [];
  const socket = new NodeWebSocket(address);
  socket.onmessage = async ({ data }) => {
    order.push(data);
    for (let i = 0; i < 5; i++) await null;
    order.push(`${data} done`);
  };
  await ending(socket);
  assert.deepEqual(order, ["a", "a done", "b", "b done"]);
});
