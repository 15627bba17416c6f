// As much of Smart SQL as the console's tests need: one soup or a join of two, conditions joined by AND, an order, a
// group, and the plan that SQLite would make.
import { ExactNumber, exactText } from "../../www/data/exact.js";
import { cutTexts } from "./entries.mjs";
import { fault } from "./faults.mjs";
import { compare, valueAt } from "./soups.mjs";

const REFERENCE = /\{([^{}:]+)(?::([^{}]+))?\}/g;
const CONDITION = /^\s*\{([^{}:]+):([^{}]+)\}\s*(=|<=|>=|<|>|like|is)\s*(\?|null|-?\d+(?:\.\d+)?|'(?:[^']|'')*'|\{[^{}]+\})\s*$/i;

function parse(store, smartSQL) {
  const text = smartSQL.trim().replace(/;\s*$/, "");
  if (!/^select\b/i.test(text)) throw fault("refusedStatement", "Only SELECT are supported. Use the calls of the store to change entries.");
  const names = [...new Set([...text.matchAll(REFERENCE)].map(([, name]) => name))];
  for (const name of names) {
    if (!store.soups.some((soup) => soup.name === name)) throw fault("unknownSoup", `Unknown soup '${name}'. Register it first.`);
  }
  const parts = /^select\s+([\s\S]+?)\s+from\s+([\s\S]+?)(?:\s+where\s+([\s\S]+?))?(?:\s+group\s+by\s+([\s\S]+?))?(?:\s+order\s+by\s+([\s\S]+?))?(?:\s+limit\s+(\d+))?$/i.exec(text);
  if (!parts) throw fault("sql", `near "${text.split(/\s+/)[1] ?? ""}": syntax error`);
  const [, list, from, where, group, order, limit] = parts;
  const join = /^\{([^{}]+)\}\s+(?:inner\s+)?join\s+\{([^{}]+)\}\s+on\s+([\s\S]+)$/i.exec(from);
  const soups = (join ? [join[1], join[2]] : [/^\{([^{}:]+)\}$/.exec(from)?.[1]]).map((name) => store.soups.find((soup) => soup.name === name));
  if (!soups[0]) throw fault("sql", `near "${from}": syntax error`);
  const conditions = [where, join?.[3]].filter(Boolean).flatMap((clause) => clause.split(/\s+and\s+/i)).map((text) => {
    const found = CONDITION.exec(text);
    if (!found) throw fault("sql", `near "${text.trim().split(/\s+/)[0]}": syntax error`);
    return { soup: found[1], path: found[2], operator: found[3].toLowerCase(), value: found[4] };
  });
  return { list: list.split(/,(?![^(]*\))/).map((one) => one.trim()), soups, conditions, group, order, limit: limit ? +limit : Infinity, isJoin: Boolean(join) };
}

function plan(statement) {
  const rows = [];
  const isIndexed = (soup, path) => path.startsWith("_soupEntryId") || soup.indexes.some(([other]) => other === path);
  statement.soups.forEach((soup, depth) => {
    const column = (path) => soup.indexSpecs.find((spec) => spec.path === path);
    const usable = statement.conditions.find(({ soup: name, path, operator, value }) =>
      name === soup.name && operator !== "like" && isIndexed(soup, path) && (!value.startsWith("{") || depth === 1));
    const ordered = /^\{[^{}:]+:([^{}]+)\}/.exec(statement.order ?? "")?.[1];
    let detail = `SCAN ${soup.table}`;
    if (usable?.path === "_soupEntryId") detail = `SEARCH ${soup.table} USING INTEGER PRIMARY KEY (rowid=?)`;
    else if (usable) {
      const spec = column(usable.path);
      const test = usable.operator === "=" || usable.operator === "is" ? `${spec.columnName}=?` : `${spec.columnName}${usable.operator[0]}?`;
      detail = `SEARCH ${soup.table} USING INDEX ${spec.columnName}_idx (${test})`;
    } else if (ordered && column(ordered)) detail = `SCAN ${soup.table} USING INDEX ${column(ordered).columnName}_idx`;
    rows.push({ id: 3 + depth * 4, parent: 0, notused: 0, detail });
    if (depth === 0 && ordered && !column(ordered) && ordered !== "_soupEntryId") rows.push({ id: 40, parent: 0, notused: 0, detail: "USE TEMP B-TREE FOR ORDER BY" });
  });
  if (statement.group && !/^\{[^{}:]+:(Name|Id)\}/.test(statement.group)) rows.push({ id: 41, parent: 0, notused: 0, detail: "USE TEMP B-TREE FOR GROUP BY" });
  return rows;
}

function literal(text, args) {
  if (text === "?") return args.shift() ?? null;
  if (/^null$/i.test(text)) return null;
  return text.startsWith("'") ? text.slice(1, -1).replaceAll("''", "'") : Number(text);
}

const cell = (value) => (value === undefined ? null : typeof value === "boolean" ? Number(value) : value !== null && typeof value === "object" && !(value instanceof ExactNumber) ? exactText(value) : value);

function test(condition, entry) {
  const value = cell(valueAt(entry, condition.path));
  const other = condition.value;
  const order = compare(value instanceof ExactNumber ? Number(value.text) : value, other);
  switch (condition.operator) {
    case "=": case "is": return order === 0;
    case "<": return value !== null && order < 0;
    case ">": return value !== null && order > 0;
    case "<=": return value !== null && order <= 0;
    case ">=": return value !== null && order >= 0;
    default: return new RegExp(`^${String(other).replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("%", ".*").replaceAll("_", ".")}$`, "is").test(String(value ?? ""));
  }
}

/** Runs a request of the console. */
export function runQuery(store, { smartSQL, args = [], pageSize = 100, page = 0, plan: wantsPlan = false, count = false }, limits) {
  if (typeof smartSQL !== "string" || !smartSQL.trim()) throw fault("invalidRequest", "No query specified");
  const statement = parse(store, smartSQL);
  const holders = (smartSQL.match(/\?/g) ?? []).length;
  if (holders !== args.length) throw fault("bindArgumentCount", `The statement has ${holders} placeholders and ${args.length} arguments. Give one for each.`);
  const values = [...args];
  const [soup] = statement.soups;
  const conditions = statement.conditions.filter(({ value }) => !value.startsWith("{")).map((one) => ({ ...one, value: literal(one.value, values) }));
  const paths = statement.list.map((text) => /^(?:[a-z]+\()?\{[^{}:]+:([^{}]+)\}\)?/i.exec(text)?.[1] ?? text);
  const wanted = Math.min(statement.limit, (page + 1) * pageSize + 1);

  // An equal id or name leads to its entry; anything else is read in order until the page is full.
  const key = conditions.find(({ operator, path }) => operator === "=" && (path === "Name" || path === "_soupEntryId" || path === "Id"));
  const rows = [];
  let total = 0;
  if (/^count\(\*\)/i.test(statement.list[0]) && !conditions.length && !statement.group) rows.push([soup.count]);
  else if (statement.group) {
    const groups = new Map();
    const path = /\{[^{}:]+:([^{}]+)\}/.exec(statement.group)[1];
    for (let rank = 0; rank < Math.min(soup.count, 20_000); rank++) {
      const value = cell(valueAt(soup.entry(soup.at(rank, "_soupEntryId")), path));
      groups.set(value, (groups.get(value) ?? 0) + 1);
    }
    for (const [value, number] of [...groups].sort(([left], [right]) => compare(left, right))) rows.push(statement.list.map((text) => (/^count/i.test(text) ? number : value)));
  } else if (!statement.isJoin) {
    const path = /^\{[^{}:]+:([^{}]+)\}/.exec(statement.order ?? "")?.[1] ?? "_soupEntryId";
    const order = soup.indexes.some(([other]) => other === path) ? path : "_soupEntryId";
    const descending = /\bdesc\b/i.test(statement.order ?? "");
    let rank = key ? soup.seek(key.path, key.value) : 0;
    const end = key ? Math.min(rank + 1, soup.count) : soup.count;
    const deadline = performance.now() + limits.queryMilliseconds;
    for (; rank < end && rows.length < wanted; rank++) {
      if (rank % 4096 === 0 && performance.now() > deadline) throw fault("interrupted", `The query ran longer than ${limits.queryMilliseconds} ms and was stopped.`, "Add an index, or a condition that an index serves.");
      const entry = soup.entry(soup.at(key || !descending ? rank : soup.count - 1 - rank, key ? key.path : order));
      if (conditions.every((condition) => test(condition, entry))) rows.push(paths.map((path) => (path === "*" || path === "_soup" ? exactText(entry) : cell(valueAt(entry, path)))));
    }
  }
  total = rows.length;
  const found = rows.slice(page * pageSize, (page + 1) * pageSize);
  const cut = [];
  return {
    columns: statement.list.map((text, index) => (/^\{/.test(text) && paths[index] ? paths[index] : text)),
    rows: found.map((row, index) => row.map((value, column) => cutTexts(value, limits.textCharacters, `/rows/${index}/${column}`, cut))),
    page, pageSize, total: count || total <= (page + 1) * pageSize ? total : null,
    plan: wantsPlan ? { sql: `EXPLAIN QUERY PLAN ${smartSQL}`, ...(args.length ? { args } : {}), rows: plan(statement) } : null, cut,
  };
}
