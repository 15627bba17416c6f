// The part of SOQL that the org of the tests knows: fields and parents, COUNT(), WHERE with AND, OR, NOT and parentheses,
// ORDER BY, LIMIT and OFFSET.
const TOKEN = /\s+|'(?:[^'\\]|\\.)*'|\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d))?|-?\d+(?:\.\d+)?|[A-Za-z_][\w.]*|!=|<>|<=|>=|[=<>(),]|./gy;
const UNESCAPED = { n: "\n", r: "\r", t: "\t" };

export class SoqlError extends Error {}

/** {fields, isCount, type, matches(record), compare(a, b), limit, offset}. `valueAt(record, path)` reads a field. */
export function parseSoql(soql, valueAt) {
  const tokens = soql.match(TOKEN).filter((token) => token.trim() !== "");
  let position = 0;
  const isNext = (word) => position < tokens.length && tokens[position].toLowerCase() === word;
  const accept = (word) => isNext(word) && Boolean(++position);
  const fail = () => {
    throw new SoqlError(`unexpected token: '${tokens[position] ?? "<EOF>"}' in ${soql}`);
  };
  const expect = (word) => accept(word) || fail();
  const name = () => (/^[A-Za-z_][\w.]*$/.test(tokens[position] ?? "") ? tokens[position++] : fail());

  function list(item) {
    const items = [item()];
    while (accept(",")) items.push(item());
    return items;
  }

  function literal() {
    const token = tokens[position++] ?? fail();
    if (token.startsWith("'")) return token;
    if (/^(null|true|false)$/i.test(token)) return JSON.parse(token.toLowerCase());
    if (/^-?\d+(\.\d+)?$/.test(token)) return Number(token);
    if (/^\d{4}-/.test(token)) return new Date(token);
    position -= 1;
    return fail();
  }

  function condition() {
    if (accept("not")) {
      const inner = condition();
      return (record) => !inner(record);
    }
    if (accept("(")) {
      const inner = either();
      expect(")");
      return inner;
    }
    const path = name();
    if (accept("like")) {
      const pattern = likePattern(literal());
      return (record) => pattern.test(String(valueAt(record, path) ?? ""));
    }
    const isNot = accept("not");
    if (accept("in")) {
      expect("(");
      const values = list(literal).map(plain);
      expect(")");
      return (record) => values.includes(valueAt(record, path)) !== isNot;
    }
    const operator = tokens[position++];
    const holds = COMPARISONS[operator] ?? (position--, fail());
    const wanted = plain(literal());
    return (record) => holds(order(valueAt(record, path) ?? null, wanted));
  }

  function chain(operand, word, combine) {
    const operands = [operand()];
    while (accept(word)) operands.push(operand());
    return (record) => operands[combine]((holds) => holds(record));
  }
  const both = () => chain(condition, "and", "every");
  const either = () => chain(both, "or", "some");

  expect("select");
  const isCount = accept("count");
  if (isCount) expect("(") && expect(")");
  const fields = isCount ? [] : list(name);
  expect("from");
  const type = name();
  const matches = accept("where") ? either() : () => true;
  const keys = [];
  if (accept("order")) {
    expect("by");
    keys.push(
      ...list(() => {
        const path = name();
        const sign = accept("desc") ? -1 : (accept("asc"), 1);
        return { path, sign };
      })
    );
  }
  const number = (word, otherwise) => (accept(word) ? literal() : otherwise);
  const limit = number("limit", Infinity);
  const offset = number("offset", 0);
  if (position < tokens.length) fail();
  const compare = (a, b) => {
    for (const { path, sign } of keys) {
      const difference = sign * order(valueAt(a, path) ?? null, valueAt(b, path) ?? null);
      if (difference !== 0) return difference;
    }
    return 0;
  };
  return { fields, isCount, type, matches, compare, limit, offset };
}

const COMPARISONS = {
  "=": (order) => order === 0,
  "!=": (order) => order !== 0,
  "<>": (order) => order !== 0,
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0,
};

const unescape = (text) => text.slice(1, -1).replace(/\\(.)/g, (_, character) => UNESCAPED[character] ?? character);
const plain = (value) => (typeof value === "string" ? unescape(value) : value);

// Texts are compared without regard to case; null is first.
function order(a, b) {
  if (b instanceof Date) return a === null ? NaN : Date.parse(a) - b.getTime();
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  const [left, right] = [a, b].map((value) => (typeof value === "string" ? value.toLowerCase() : value));
  return left === right ? 0 : left < right ? -1 : 1;
}

// In a pattern `\%` and `\_` are plain characters.
function likePattern(token) {
  const source = token.slice(1, -1).replace(/\\(.)|%|_|[.*+?^${}()|[\]]/g, (match, escaped) => {
    if (escaped !== undefined) return (UNESCAPED[escaped] ?? escaped).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return { "%": "[^]*", _: "[^]" }[match] ?? `\\${match}`;
  });
  return new RegExp(`^${source}$`, "i");
}
