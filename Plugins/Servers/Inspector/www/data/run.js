// A run of rows out of a long list: pages join at both ends as they come in sight, and far ones are dropped.

const MOST_ROWS = 3000;

/**
 * `fetch(query, signal)` gives a page: `{ rows, next, previous, complete, scanned, total }`. A run extends itself when the
 * table shows one of its ends.
 */
export class CursorRun {
  #table;
  #fetch;
  #abort = new AbortController();
  #query = {};
  #pages = [];
  #busy = new Set();
  #scanned = 0;
  /** Is called with `{ scanned, isSearching, total, rows }` when something has come. */
  onprogress = () => {};
  /** Is called when a further page could not be read. */
  onerror = () => {};

  constructor(table, fetch) {
    this.#table = table;
    this.#fetch = fetch;
    table.onedge = (edge) => this.#extend(edge);
  }

  /** Begins with another query. Throws what `fetch` throws. */
  async open(query) {
    this.stop();
    const { signal } = (this.#abort = new AbortController());
    this.#query = query;
    this.#pages = [];
    this.#busy.clear();
    this.#scanned = 0;
    const page = await this.#fetch(query, signal);
    signal.throwIfAborted();
    this.#pages = [page];
    this.#table.total = page.total ?? null;
    this.#table.rows = page.rows;
    if (query.edge === "end") this.#table.scrollToEnd();
    else this.#table.scrollToTop();
    this.#report(page);
    return page;
  }

  /** Ends what is under way; the rows stay. */
  stop() {
    this.#abort.abort();
  }

  #cursor(edge) {
    return edge === "end" ? this.#pages.at(-1)?.next : this.#pages[0]?.previous;
  }

  async #extend(edge) {
    const cursor = this.#cursor(edge);
    const { signal } = this.#abort;
    if (!cursor || this.#busy.has(edge) || signal.aborted) return;
    this.#busy.add(edge);
    try {
      // What says where to begin belongs to the first page.
      const { at, from, edge: _, ...query } = this.#query;
      const page = await this.#fetch({ ...query, [edge === "end" ? "after" : "before"]: cursor }, signal);
      signal.throwIfAborted();
      this.#busy.delete(edge);
      // Pages that came at the other end may have dropped the neighbour of this one: another one belongs here.
      if (cursor !== this.#cursor(edge)) return this.#table.checkEdges();
      if (edge === "end") this.#pages.push(page);
      else this.#pages.unshift(page);
      const dropped = this.#drop(edge);
      if (edge === "end") this.#table.extendEnd(page.rows, dropped);
      else this.#table.extendStart(page.rows, dropped);
      this.#report(page);
    } catch (error) {
      if (signal.aborted) return;
      this.#busy.delete(edge);
      this.stop();
      this.onerror(error);
    }
  }

  /** Drops whole pages at the other end: the cursors of those that stay lead there again. */
  #drop(edge) {
    let rows = this.#pages.reduce((sum, page) => sum + page.rows.length, 0);
    let dropped = 0;
    while (rows > MOST_ROWS && this.#pages.length > 2) {
      const page = edge === "end" ? this.#pages.shift() : this.#pages.pop();
      rows -= page.rows.length;
      dropped += page.rows.length;
    }
    return dropped;
  }

  #report(page) {
    this.#scanned += page.scanned ?? page.rows.length;
    const isSearching = page.complete === false && page.next !== null;
    this.onprogress({ scanned: this.#scanned, isSearching, total: page.total ?? null, rows: this.#table.rows });
    // A search continues by itself until it has something to show.
    if (isSearching && this.#table.rows.length < 60) this.#extend("end");
  }
}
