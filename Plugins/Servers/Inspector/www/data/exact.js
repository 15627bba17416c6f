// JSON as it is written: order of members, duplicates and the spelling of numbers are kept.

/** A number that JavaScript would write in another way, such as 1.50 or 12345678901234567890. */
export class ExactNumber {
  constructor(text) {
    this.text = text;
  }
  toString() {
    return this.text;
  }
  toJSON() {
    return Number(this.text);
  }
}

/** An object: its members in order, duplicates included. */
export class ExactObject {
  constructor(members = []) {
    /** Pairs of name and value. */
    this.members = members;
  }
  /** The last value of this name, as most parsers take it; undefined without one. */
  get(name) {
    for (let index = this.members.length - 1; index >= 0; index--) {
      if (this.members[index][0] === name) return this.members[index][1];
    }
    return undefined;
  }
}

const MAX_DEPTH = 2000;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\r\n]*/y;
// What needs no unescaping, up to the end of the text.
const PLAIN = /[^"\\\u0000-\u001f]*/y;

class Parser {
  offset = 0;
  constructor(text) {
    this.text = text;
  }

  fail(expected) {
    throw new SyntaxError(`Cannot parse JSON at character ${this.offset}: ${expected} is missing.`);
  }

  space() {
    SPACE.lastIndex = this.offset;
    SPACE.test(this.text);
    this.offset = SPACE.lastIndex;
  }

  take(character) {
    if (this.text[this.offset] !== character) return false;
    this.offset++;
    return true;
  }

  word(word, value) {
    if (!this.text.startsWith(word, this.offset)) this.fail("a value");
    this.offset += word.length;
    return value;
  }

  value(depth) {
    if (depth > MAX_DEPTH) this.fail(`an end above level ${MAX_DEPTH}`);
    this.space();
    const first = this.text[this.offset];
    switch (first) {
      case "{": return this.object(depth);
      case "[": return this.array(depth);
      case '"': return this.string();
      case "t": return this.word("true", true);
      case "f": return this.word("false", false);
      case "n": return this.word("null", null);
      default: return this.number();
    }
  }

  number() {
    NUMBER.lastIndex = this.offset;
    const found = NUMBER.exec(this.text);
    if (!found) this.fail("a value");
    this.offset = NUMBER.lastIndex;
    const number = Number(found[0]);
    return String(number) === found[0] ? number : new ExactNumber(found[0]);
  }

  string() {
    const start = this.offset;
    PLAIN.lastIndex = start + 1;
    PLAIN.test(this.text);
    let end = PLAIN.lastIndex;
    if (this.text[end] === '"') {
      this.offset = end + 1;
      return this.text.slice(start + 1, end);
    }
    while (end < this.text.length && this.text[end] !== '"') end += this.text[end] === "\\" ? 2 : 1;
    this.offset = end + 1;
    // It knows all escapes, and refuses what is none.
    return JSON.parse(this.text.slice(start, end + 1));
  }

  array(depth) {
    const items = [];
    this.offset++;
    this.space();
    if (this.take("]")) return items;
    for (;;) {
      items.push(this.value(depth + 1));
      this.space();
      if (this.take("]")) return items;
      if (!this.take(",")) this.fail("a comma or ]");
    }
  }

  object(depth) {
    const members = [];
    this.offset++;
    this.space();
    if (this.take("}")) return new ExactObject(members);
    for (;;) {
      this.space();
      if (this.text[this.offset] !== '"') this.fail("a name");
      const name = this.string();
      this.space();
      if (!this.take(":")) this.fail("a colon");
      members.push([name, this.value(depth + 1)]);
      this.space();
      if (this.take("}")) return new ExactObject(members);
      if (!this.take(",")) this.fail("a comma or }");
    }
  }
}

/** The value of a JSON text. Throws SyntaxError. */
export function parseExact(text) {
  const parser = new Parser(text);
  const value = parser.value(0);
  parser.space();
  if (parser.offset !== text.length) parser.fail("the end");
  return value;
}

/** The JSON text of a value: the same as was parsed, but for white space and needless escapes. */
export function exactText(value, indent = 0) {
  const parts = [];
  write(value, indent, indent ? "\n" : "", parts);
  return parts.join("");
}

// One frame for each level: entries may have 2,000.
function write(value, indent, line, parts) {
  if (value === null || typeof value !== "object") return parts.push(JSON.stringify(value === undefined ? null : value));
  if (value instanceof ExactNumber) return parts.push(value.text);
  const isArray = Array.isArray(value);
  const items = isArray ? value : value instanceof ExactObject ? value.members : Object.entries(value).filter(([, member]) => member !== undefined);
  const [open, close] = isArray ? "[]" : "{}";
  parts.push(open);
  const inner = line && line + " ".repeat(indent);
  for (let index = 0; index < items.length; index++) {
    parts.push(index ? "," : "", inner);
    if (isArray) {
      write(items[index], indent, inner, parts);
    } else {
      parts.push(JSON.stringify(items[index][0]), indent ? ": " : ":");
      write(items[index][1], indent, inner, parts);
    }
  }
  return parts.push(items.length ? line : "", close);
}

/** The value as plain objects, for members that are known to hold no data of records. */
export function plain(value) {
  if (value instanceof ExactNumber) return Number(value.text);
  if (Array.isArray(value)) return value.map(plain);
  if (!(value instanceof ExactObject)) return value;
  const object = Object.create(null);
  for (const [name, member] of value.members) object[name] = plain(member);
  return object;
}
