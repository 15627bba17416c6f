// Pages of entries by keys (Docs/Inspector-interface.md, "Entries").
import { ExactObject, exactText, parseExact } from "../../www/data/exact.js";
import { fault } from "./faults.mjs";
import { compare, stateOf, valueAt } from "./soups.mjs";

const PARAMETERS = new Set(["order", "direction", "edge", "at", "from", "columns", "state", "search", "path", "match", "limit", "after", "before"]);

/** Cuts the texts of a value, and notes where. */
export function cutTexts(value, characters, pointer, cut) {
  if (typeof value === "string") {
    // An upper bound, so that most texts are not walked.
    if (value.length <= characters) return value;
    const scalars = scalarCount(value);
    if (scalars <= characters) return value;
    cut.push({ pointer, characters: scalars });
    return scalarSlice(value, 0, characters);
  }
  const step = (name) => `${pointer}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
  if (Array.isArray(value)) return value.map((item, index) => cutTexts(item, characters, step(index), cut));
  if (value instanceof ExactObject) {
    return new ExactObject(value.members.map(([name, member]) => [name, cutTexts(member, characters, step(name), cut)]));
  }
  return value;
}

export function scalarCount(text) {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    if (text.charCodeAt(index) >> 10 === 0x36 && text.charCodeAt(index + 1) >> 10 === 0x37) count--;
  }
  return count;
}

export function scalarSlice(text, from, length) {
  let [index, passed, start] = [0, 0, -1];
  for (; index < text.length && passed < from + length; passed++) {
    if (passed === from) start = index;
    index += text.codePointAt(index) > 0xffff ? 2 : 1;
  }
  return start < 0 ? "" : text.slice(start, index);
}

/** The columns of a comma-separated list in which a backslash precedes commas and backslashes of a path. */
function columnsOf(text) {
  const columns = [""];
  for (let index = 0; index < text.length; index++) {
    if (text[index] === "\\" && index + 1 < text.length) columns[columns.length - 1] += text[++index];
    else if (text[index] === ",") columns.push("");
    else columns[columns.length - 1] += text[index];
  }
  return columns.filter(Boolean);
}

export function checkParameters(parameters, known) {
  for (const name of parameters.keys()) {
    if (!known.has(name)) throw fault("invalidRequest", `Unknown parameter '${name}'. Remove it.`);
  }
}

export function limitOf(parameters, limits) {
  const text = parameters.get("limit") ?? "100";
  if (!/^\d{1,6}$/.test(text) || +text < 1 || +text > limits.pageEntries) {
    throw fault("invalidRequest", `The limit is a number from 1 to ${limits.pageEntries}.`);
  }
  return +text;
}

export function cursorText(value) {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

export function cursorOf(text, query) {
  let cursor;
  try {
    cursor = JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    cursor = null;
  }
  if (!cursor || cursor.query !== query) throw fault("invalidCursor", "The cursor belongs to another query. Begin at the first page.");
  return cursor;
}

function oneOf(parameters, name, values) {
  const value = parameters.get(name) ?? values[0];
  if (!values.includes(value)) throw fault("invalidRequest", `The parameter '${name}' is one of ${values.filter(Boolean).join(", ")}.`);
  return value;
}

/** A page of a soup's entries. */
export function entriesPage(soup, parameters, limits, conflicts) {
  checkParameters(parameters, PARAMETERS);
  const limit = limitOf(parameters, limits);
  const paths = new Set(soup.indexes.map(([path]) => path));
  const order = parameters.get("order") ?? "_soupEntryId";
  if (!paths.has(order) && order !== "_soupEntryId" && order !== "_soupLastModifiedDate") {
    throw fault("notIndexed", `The path '${order}' of soup '${soup.name}' has no index. Order by an indexed path.`);
  }
  const descending = oneOf(parameters, "direction", ["ascending", "descending"]) === "descending";
  const atEnd = oneOf(parameters, "edge", ["start", "end"]) === "end";
  const match = oneOf(parameters, "match", ["contains", "prefix", "exact"]);
  const state = oneOf(parameters, "state", [null, "unsynced", "created", "updated", "deleted", "conflict"]);
  const search = parameters.get("search") || null;
  const path = parameters.get("path") || null;
  if (search && match !== "contains" && !paths.has(path)) {
    throw fault("notIndexed", `A search for a ${match === "prefix" ? "beginning" : "whole value"} needs an indexed path.`);
  }
  const columns = parameters.has("columns") ? columnsOf(parameters.get("columns")) : [...paths];
  if (columns.length > 20) throw fault("invalidRequest", "At most 20 columns can be requested.");
  const query = JSON.stringify([order, descending, state, search, path, match]);

  // The ranks in question: all, those of unsynced entries, or those with a beginning.
  let ranks = { length: soup.count, at: (rank) => rank };
  if (state) {
    const wanted = soup.unsynced().filter((id) => state === "unsynced" || (state === "conflict" ? conflicts.has(id) : stateOf(soup.entry(id)) === state));
    const list = wanted.map((id) => soup.seek(order, soup.keyOf(id, order), id)).sort((left, right) => left - right);
    ranks = { length: list.length, at: (rank) => list[rank] };
  }
  const holds = (id) => {
    if (!search) return true;
    if (!path) return soup.text(id).toLowerCase().includes(search.toLowerCase());
    const value = String(valueAt(soup.entry(id), path) ?? "");
    if (match === "exact") return value === search;
    return match === "prefix" ? value.startsWith(search) : value.toLowerCase().includes(search.toLowerCase());
  };

  const cursor = parameters.has("after") ? cursorOf(parameters.get("after"), query) : parameters.has("before") ? cursorOf(parameters.get("before"), query) : null;
  const backwards = parameters.has("before") || (!cursor && atEnd);
  // Along the ranks or against them.
  const up = descending === backwards;
  let rank;
  if (cursor) rank = after(soup, order, ranks, cursor, up);
  else if (parameters.has("at")) rank = Math.min(Math.floor(Number(parameters.get("at")) * soup.count), soup.count - 1);
  else if (parameters.has("from")) rank = after(soup, order, ranks, { value: startOf(soup, order, parameters.get("from")), id: up ? -Infinity : Infinity }, up);
  else rank = up ? 0 : ranks.length - 1;
  const startRank = rank;

  // An index leads to a beginning at once.
  if (search && match !== "contains" && path === order && !state && !cursor) {
    if (up) rank = Math.max(rank, soup.seek(order, search));
    else rank = Math.min(rank, soup.seek(order, match === "exact" ? search + "\u0000" : search + "\uffff") - 1);
  }
  const deadline = performance.now() + limits.searchMilliseconds;
  const found = [];
  let scanned = 0;
  let last = null;
  let complete = true;
  for (; rank >= 0 && rank < ranks.length; rank += up ? 1 : -1) {
    if (found.length === limit) break;
    if (search && scanned % 64 === 63 && performance.now() > deadline) {
      complete = false;
      break;
    }
    last = soup.at(ranks.at(rank), order);
    scanned++;
    if (holds(last)) found.push(last);
    else if (search && match !== "contains" && path === order && !state) {
      const value = soup.keyOf(last, order);
      if (up ? compare(value, search + "\uffff") > 0 : compare(value, search) < 0) {
        rank = -1;
        break;
      }
    }
  }
  const more = rank >= 0 && rank < ranks.length;
  if (backwards) found.reverse();
  const cursorAt = (id) => cursorText({ query, value: soup.keyOf(id, order), id });
  const onward = more && last !== null ? cursorAt(found.length === limit ? (backwards ? found[0] : found.at(-1)) : last) : null;
  const first = backwards ? found.at(-1) : found[0];
  const isInside = cursor || (up ? startRank > 0 : startRank < ranks.length - 1);
  const back = isInside && first !== undefined ? cursorAt(first) : null;
  const cut = [];
  const entries = found.map((id, index) => row(soup, id, columns, limits, conflicts, `/entries/${index}/values`, cut));
  return {
    columns, total: search ? null : ranks.length, scanned, complete, next: backwards ? back : onward, previous: backwards ? onward : back,
    entries, cut,
  };
}

/** The first rank behind a key, along the ranks or against them. */
function after(soup, order, ranks, { value, id }, up) {
  let [low, high] = [0, ranks.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = soup.at(ranks.at(middle), order);
    const difference = compare(soup.keyOf(other, order), value) || other - id;
    if (up ? difference <= 0 : difference < 0) low = middle + 1;
    else high = middle;
  }
  return up ? low : low - 1;
}

function startOf(soup, order, text) {
  const type = order.startsWith("_soup") ? "integer" : soup.indexes.find(([path]) => path === order)?.[1];
  if (type !== "integer" && type !== "floating") return text;
  if (text.trim() === "" || Number.isNaN(Number(text))) throw fault("invalidRequest", `'${order}' holds numbers. Give a number.`);
  return Number(text);
}

function row(soup, id, columns, limits, conflicts, pointer, cut) {
  const text = soup.text(id);
  const entry = parseExact(text);
  return {
    id, bytes: Buffer.byteLength(text), lastModified: Number(entry.get("_soupLastModifiedDate") ?? 0), state: stateOf(entry),
    conflict: conflicts.get(id)?.kind ?? null,
    values: columns.map((path, index) => {
      const value = valueAt(entry, path) ?? null;
      const short = value instanceof ExactObject || Array.isArray(value) ? exactText(value) : value;
      return cutTexts(short, limits.cellCharacters, `${pointer}/${index}`, cut);
    }),
  };
}
