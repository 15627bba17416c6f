// Soups of the reference server: some in memory, one of any size by arithmetic. All give entries in the order of a
// path by rank, so that a page of any of them is found by a binary search.
import { parseExact } from "../../www/data/exact.js";

/** The value at a path of an entry; undefined without one. */
export function valueAt(entry, path) {
  return path.split(".").reduce((value, name) => value?.get?.(name), entry);
}

const isFlag = (value) => value === true || value === "true" || value === 1;

export function stateOf(entry) {
  if (isFlag(entry.get("__locally_deleted__"))) return "deleted";
  if (isFlag(entry.get("__locally_created__"))) return "created";
  return isFlag(entry.get("__locally_updated__")) || isFlag(entry.get("__local__")) ? "updated" : null;
}

/** Null first, then numbers, then texts by their UTF-8, as SQLite orders them. */
export function compare(left, right) {
  const rank = (value) => (value === null || value === undefined ? 0 : typeof value === "number" ? 1 : 2);
  if (rank(left) !== rank(right)) return rank(left) - rank(right);
  if (rank(left) === 0) return 0;
  if (rank(left) === 1) return left - right;
  return left === right ? 0 : Buffer.compare(Buffer.from(left), Buffer.from(right));
}

const key = (value) => (value !== null && typeof value === "object" ? String(value) : typeof value === "boolean" ? (value ? "1" : "0") : value ?? null);

/** What both kinds have in common. `at(rank, path)` gives the entry id at a rank in the order of a path. */
class Soup {
  constructor(name, indexes, number, options = {}) {
    Object.assign(this, { name, indexes, table: `TABLE_${number}`, metadata: false, bases: new Map(), ...options });
    this.id = Buffer.from(name).toString("base64url");
  }

  get indexSpecs() {
    return this.indexes.map(([path, type], index) => ({
      path, type, columnName: type === "json1" ? `json_extract(soup, '$.${path}')` : `${this.table}_${index}`,
    }));
  }

  entry(id) {
    const text = this.text(id);
    return text === undefined ? undefined : parseExact(text);
  }

  keyOf(id, path) {
    if (path === "_soupEntryId") return id;
    return key(valueAt(this.entry(id), path));
  }

  /** The first rank whose entry does not come before (value, id). */
  seek(path, value, id = -Infinity) {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.at(middle, path);
      if ((compare(this.keyOf(other, path), value) || other - id) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export class SmallSoup extends Soup {
  #texts = new Map();
  #orders = new Map();

  get count() {
    return this.#texts.size;
  }
  get ids() {
    return this.#texts.keys();
  }
  text(id) {
    return this.#texts.get(id);
  }
  add(id, entry) {
    const text = typeof entry === "string" ? entry : JSON.stringify({ ...entry, _soupEntryId: id, _soupLastModifiedDate: 1_790_000_000_000 + id * 1000 });
    this.#texts.set(id, text);
    this.#orders.clear();
  }
  remove(id) {
    this.#texts.delete(id);
    this.#orders.clear();
  }
  at(rank, path) {
    if (!this.#orders.has(path)) {
      const pairs = [...this.ids].map((id) => [this.keyOf(id, path), id]);
      pairs.sort((left, right) => compare(left[0], right[0]) || left[1] - right[1]);
      this.#orders.set(path, pairs.map(([, id]) => id));
    }
    return this.#orders.get(path)[rank];
  }
  unsynced() {
    return [...this.ids].filter((id) => stateOf(this.entry(id)) !== null);
  }
  get bytes() {
    return [...this.#texts.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  }
}

const FIRST = [
  "Amber", "Arctic", "Atlas", "Aurora", "Beacon", "Birch", "Blue", "Bright", "Canyon", "Cedar", "Citrus", "Clear", "Coastal", "Cobalt", "Copper",
  "Coral", "Crescent", "Delta", "Eagle", "Ember", "Falcon", "Fjord", "Forest", "Garnet", "Glacier", "Golden", "Granite", "Harbor", "Hazel", "Heron",
  "Indigo", "Iron", "Ivory", "Jade", "Juniper", "Kestrel", "Lagoon", "Laurel", "Lunar", "Maple", "Meadow", "Mesa", "Mistral", "Noble", "North", "Oak",
  "Ocean", "Olive", "Onyx", "Opal",
];
const SECOND = [
  "Analytics", "Bakery", "Brewing", "Builders", "Catering", "Clinics", "Couriers", "Dairy", "Design", "Dynamics", "Electric", "Energy", "Farms", "Fittings",
  "Foods", "Freight", "Gardens", "Glass", "Health", "Hotels", "Imports", "Joinery", "Kitchens", "Labs", "Logistics", "Machines", "Marine", "Metals",
  "Motors", "Networks", "Optics", "Packaging", "Paints", "Partners", "Pharma", "Plumbing", "Printing", "Railways", "Repair", "Roofing",
];
const CITIES = ["Aarhus", "Bergen", "Cork", "Delft", "Espoo", "Fulda", "Ghent", "Halle", "Izmir", "Jena"];

/** A soup of `count` accounts that exist as arithmetic alone; edited ones are kept. */
export class LargeSoup extends Soup {
  edited = new Map();
  constructor(name, indexes, number, count, options) {
    super(name, indexes, number, options);
    this.count = count;
    // Names stand in an order that has nothing to do with the ids.
    this.step = 7919;
    while (gcd(this.step, count) !== 1) this.step++;
    this.inverse = inverse(this.step, count);
  }

  nameAt(rank) {
    const cell = Math.floor((rank * FIRST.length * SECOND.length) / this.count);
    const words = `${FIRST[Math.floor(cell / SECOND.length)]} ${SECOND[cell % SECOND.length]}`;
    return `${words} ${String(rank).padStart(7, "0")}`;
  }
  text(id) {
    if (!(id >= 1 && id <= this.count)) return undefined;
    if (this.edited.has(id)) return this.edited.get(id);
    const rank = Number((BigInt(id - 1) * BigInt(this.step)) % BigInt(this.count));
    return `{"attributes":{"type":"Account"},"Id":"001${String(id).padStart(12, "0")}AAA","Name":"${this.nameAt(rank)}",`
      + `"Phone":"+49 30 555-${String((id * 37) % 10_000).padStart(4, "0")}","BillingCity":"${CITIES[id % CITIES.length]}",`
      + `"NumberOfEmployees":${(id * 13) % 5000},"AnnualRevenue":${(id * 131) % 1_000_000}.50,"LastModifiedDate":"2026-0${1 + (id % 9)}-1${id % 10}T08:00:00.000+0000",`
      + `"__local__":false,"__locally_created__":false,"__locally_updated__":false,"__locally_deleted__":false,"__sync_id__":1,`
      + `"_soupEntryId":${id},"_soupLastModifiedDate":${1_790_000_000_000 + id}}`;
  }
  edit(id, members) {
    const entry = JSON.parse(this.text(id));
    this.bases.set(id, this.text(id));
    this.edited.set(id, JSON.stringify({ ...entry, ...members, __local__: true, __locally_updated__: true }));
  }
  at(rank, path) {
    if (path !== "Name") return rank + 1;
    return Number((BigInt(rank) * BigInt(this.inverse)) % BigInt(this.count)) + 1;
  }
  // Only these orders exist; the others would need an index of values.
  keyOf(id, path) {
    if (path === "Name") return this.nameAt(Number((BigInt(id - 1) * BigInt(this.step)) % BigInt(this.count)));
    return super.keyOf(id, path === "Id" || path === "_soupLastModifiedDate" ? path : "_soupEntryId");
  }
  unsynced() {
    return [...this.edited.keys()].sort((left, right) => left - right);
  }
  get bytes() {
    return this.count * 420;
  }
}

function gcd(a, b) {
  return b ? gcd(b, a % b) : a;
}

function inverse(a, modulus) {
  let [r, next, t, other] = [modulus, a % modulus, 0, 1];
  while (next) {
    const q = Math.floor(r / next);
    [r, next] = [next, r - q * next];
    [t, other] = [other, t - q * other];
  }
  return ((t % modulus) + modulus) % modulus || 1;
}
