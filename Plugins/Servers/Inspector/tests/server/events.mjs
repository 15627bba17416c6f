// What has happened, and the streams of those who watch (Docs/Inspector-interface.md, "Event stream").
import { fault } from "./faults.mjs";

const KEPT = 2000;
const MAX_STREAMS = 4;
const MAX_UNREAD = 1 << 20;
const TOPIC = { sync: "syncs", outcome: "syncs", request: "requests", log: "logs", analytics: "analytics", store: "stores", change: "stores" };

export class EventHub {
  #streams = new Set();
  #id = 0;
  #recent = [];
  lists = { requests: [], logs: [], analytics: [] };
  #sequence = 0;

  get streams() {
    return this.#streams.size;
  }

  /** Adds an item to a list, newest last, and sends it. */
  add(list, event, item) {
    const kept = { sequence: ++this.#sequence, ...item };
    this.lists[list].push(kept);
    if (this.lists[list].length > KEPT) this.lists[list].shift();
    this.send(event, kept);
    return kept;
  }

  send(event, data) {
    const one = { id: ++this.#id, event, data: JSON.stringify(data) };
    this.#recent.push(one);
    if (this.#recent.length > KEPT) this.#recent.shift();
    for (const stream of this.#streams) this.#write(stream, one);
  }

  #write(stream, { id, event, data }) {
    if (!stream.topics.has(TOPIC[event] ?? "") && event !== "hello" && event !== "lost") return;
    if (stream.response.writableLength > MAX_UNREAD) {
      stream.lost.set(TOPIC[event], (stream.lost.get(TOPIC[event]) ?? 0) + 1);
      return;
    }
    for (const [topic, count] of stream.lost) stream.response.write(`event: lost\ndata: ${JSON.stringify({ topic, count })}\n\n`);
    stream.lost.clear();
    stream.response.write(`id: ${id}\nevent: ${event}\ndata: ${data}\n\n`);
  }

  open(request, response, topics) {
    if (this.#streams.size >= MAX_STREAMS) throw fault("tooManyStreams", `There are ${MAX_STREAMS} event streams already.`, "Close another tab of this page.");
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const stream = { response, topics: new Set(topics), lost: new Map() };
    const last = Number(request.headers["last-event-id"]);
    const missed = this.#recent.filter(({ id }) => id > last);
    const resumed = Number.isInteger(last) && (missed.length === 0 ? last === this.#id : missed[0].id === last + 1);
    this.#write(stream, { id: resumed ? last : this.#id, event: "hello", data: JSON.stringify({ now: Date.now(), resumed }) });
    if (resumed) for (const one of missed) this.#write(stream, one);
    const heartbeat = setInterval(() => response.write(": still here\n\n"), 15_000);
    this.#streams.add(stream);
    response.on("close", () => {
      clearInterval(heartbeat);
      this.#streams.delete(stream);
    });
  }

  close() {
    for (const { response } of this.#streams) response.destroy();
  }
}
