// The event stream, read with fetch, since an EventSource cannot send the token.

/** The events in the text of a stream, part by part. */
export class FrameReader {
  #unread = "";

  /** The events that `part` completes: `{ id, event, data }`, data as text. */
  read(part) {
    const frames = (this.#unread + part).replaceAll("\r\n", "\n").split("\n\n");
    this.#unread = frames.pop();
    return frames.map((frame) => {
      const event = { id: null, event: "message", data: [] };
      for (const line of frame.split("\n")) {
        const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line);
        if (name === "data") event.data.push(value);
        else if (name === "id" || name === "event") event[name] = value;
      }
      return { ...event, data: event.data.join("\n") };
    }).filter(({ data }) => data);
  }
}

/** Keeps a stream open and dispatches its events; `state` says whether it is. */
export class LiveStream extends EventTarget {
  #api;
  #abort = null;
  #lastId = null;
  state = "closed";

  constructor(api) {
    super();
    this.#api = api;
  }

  async start() {
    let wait = 500;
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    while (!signal.aborted) {
      try {
        const headers = this.#lastId === null ? {} : { "Last-Event-ID": this.#lastId };
        const response = await this.#api.fetch("events", { signal, headers, query: { topics: "syncs,requests,logs,analytics,stores" } });
        const frames = new FrameReader();
        const decoder = new TextDecoder();
        for (const reader = response.body.getReader(); ;) {
          const { done, value } = await reader.read();
          if (done) break;
          for (const { id, event, data } of frames.read(decoder.decode(value, { stream: true }))) {
            if (id !== null) this.#lastId = id;
            if (event === "hello") {
              wait = 500;
              this.#set("open");
            }
            this.dispatchEvent(new CustomEvent(event, { detail: JSON.parse(data) }));
          }
        }
      } catch (error) {
        if (error.status === 403 || signal.aborted) break;
      }
      this.#set("closed");
      await new Promise((done) => setTimeout(done, wait));
      wait = Math.min(wait * 2, 10_000);
    }
    this.#set("closed");
  }

  #set(state) {
    if (state === this.state) return;
    this.state = state;
    this.dispatchEvent(new CustomEvent("state", { detail: state }));
  }

  stop() {
    this.#abort?.abort();
  }

  /** Calls `listener` with the data of each event until `signal` ends. */
  listen(event, signal, listener) {
    this.addEventListener(event, async ({ detail }) => {
      try {
        await listener(detail);
      } catch (error) {
        // What the listener had begun ends with its page.
        if (!signal.aborted) throw error;
      }
    }, { signal });
  }
}
