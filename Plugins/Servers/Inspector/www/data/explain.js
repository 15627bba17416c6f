// Says in words what the plan of a Smart SQL statement means, and which index a scan lacks.
import { count as formatted } from "./format.js";

const SYSTEM = new Set(["_soup", "_soupEntryId", "_soupLastModifiedDate", "_soupCreatedDate"]);
const REFERENCE = /\{([^{}:]+):([^{}]+)\}/g;

/** The statement without its text literals and comments, which may hold anything. */
function bare(smartSQL) {
  return smartSQL.replace(/'(?:[^']|'')*'/g, (text) => (text.startsWith("'%") ? "'%'" : "''")).replace(/--[^\n]*/g, "").replace(/\/\*[\s\S]*?\*\//g, "");
}

/** The part of a statement behind one of the words, up to the next clause. */
function clauses(text, word) {
  const pattern = new RegExp(`\\b${word}\\b([\\s\\S]*?)(?=\\b(?:where|on|group\\s+by|order\\s+by|having|limit|join|union|left|inner)\\b|$)`, "gi");
  return [...text.matchAll(pattern)].map(([, clause]) => clause).join(" ");
}

/** The tables of a plan by name: soups by their table, their full-text table and their alias in the statement. */
function tablesOf(smartSQL, soups) {
  const tables = new Map();
  for (const soup of soups) {
    tables.set(soup.table, soup);
    tables.set(`${soup.table}_fts`, soup);
    const alias = new RegExp(`\\{${soup.name.replace(/[.*+?^$()|[\]\\]/g, "\\$&")}\\}\\s+(?:as\\s+)?([A-Za-z_]\\w*)`, "gi");
    for (const [, name] of bare(smartSQL).matchAll(alias)) {
      if (!/^(where|on|join|inner|left|cross|group|order|limit|union|having|natural)$/i.test(name)) tables.set(name, soup);
    }
  }
  return tables;
}

/** Paths that a statement compares or orders by, and that have no index. */
function wanted(smartSQL, soup) {
  const text = bare(smartSQL);
  const indexed = new Set(soup.indexes.map(({ path }) => path));
  const lacking = (clause) => [...clause.matchAll(REFERENCE)]
    .filter(([, name, path]) => name === soup.name && !indexed.has(path) && !SYSTEM.has(path))
    .map(([, , path]) => path);
  const conditions = `${clauses(text, "where")} ${clauses(text, "on")}`;
  const found = [...new Set(lacking(conditions))];
  const order = [...new Set(lacking(`${clauses(text, "order\\s+by")} ${clauses(text, "group\\s+by")}`))];
  return { conditions, found, order };
}

function typeOf(smartSQL, soup, path) {
  const reference = `\\{${escape(soup.name)}:${escape(path)}\\}`;
  const number = new RegExp(`${reference}\\s*(?:=|==|<>|!=|<=|>=|<|>)\\s*-?\\d+(\\.\\d+)?`).exec(smartSQL);
  if (!number) return "string";
  return number[1] ? "floating" : "integer";
}

const escape = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const quoted = (text) => (/^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** The command that adds an index; a soup's indexes are replaced as a whole. */
export function alterCommand(soup, path, type) {
  const specs = [...soup.indexes.filter((index) => index.path !== path).map((index) => `${index.path}:${index.type}`), `${path}:${type}`];
  return `fieldforce soup alter ${quoted(soup.name)} ${specs.map((spec) => `--index ${quoted(spec)}`).join(" ")}`;
}

function scanAdvice(smartSQL, soup) {
  const { conditions, found, order } = wanted(smartSQL, soup);
  const advice = (path, type, why) => ({ text: `An index on ${path} (${type}) ${why}.`, command: alterCommand(soup, path, type), path, type });
  const leading = [...conditions.matchAll(/\{([^{}:]+):([^{}]+)\}\s+like\s+'%'/gi)].find(([, name]) => name === soup.name);
  if (leading) return advice(leading[2], "full_text", "and a full-text query find words; LIKE with a leading % reads every entry with any index");
  if (found.length) return advice(found[0], typeOf(smartSQL, soup, found[0]), "would find the entries without reading the others");
  if (order.length) return advice(order[0], "string", "would give the entries in this order");
  const own = [...conditions.matchAll(REFERENCE)].filter(([, name]) => name === soup.name);
  if (own.length) {
    const negative = /<>|!=|\bnot\b|\bor\b/i.test(conditions);
    return {
      text: negative
        ? "The condition is indexed, and excludes few entries or joins several with OR, so that SQLite reads them all."
        : "The condition is indexed, but not in a form that an index serves: compare the path itself, without a function around it, with a value of the index's type.",
    };
  }
  return { text: "The statement has no condition on it. Add one, or a LIMIT, if not all entries are needed." };
}

/** The columns of an index as paths. */
function pathsIn(text, soup) {
  const spec = (column) => soup?.indexes.find(({ columnName }) => columnName === column);
  return text.replace(/[A-Za-z_]\w*(?=[=<>])/g, (column) => (column === "rowid" || column === "id" ? "_soupEntryId" : spec(column)?.path ?? column))
    .replace(/\s+AND\s+/g, " and ").replaceAll("=?", " = …").replaceAll(">?", " > …").replaceAll("<?", " < …");
}

function step(detail, smartSQL, tables) {
  const table = /^(SCAN|SEARCH)(?: TABLE)? (\S+)(?: AS (\S+))?/.exec(detail);
  const name = table?.[3] ?? table?.[2];
  const soup = tables.get(name) ?? tables.get(table?.[2]);
  const what = soup ? `soup ${soup.name}` : name;
  const keys = /\(([^()]*)\)\s*$/.exec(detail)?.[1];
  const rows = soup?.count === null || soup?.count === undefined ? "" : ` (${formatted(soup.count)})`;
  if (/VIRTUAL TABLE INDEX/.test(detail)) return { kind: "good", text: `Searches the full-text index of ${what}.` };
  if (/AUTOMATIC/.test(detail)) {
    return { kind: "bad", text: `Builds an index of all entries of ${what}${rows} for this one query, then searches it${keys ? ` by ${pathsIn(keys, soup)}` : ""}.`, advice: soup && scanAdvice(smartSQL, soup) };
  }
  if (table?.[1] === "SEARCH") {
    const covering = /COVERING INDEX/.test(detail) ? " The index alone gives the result; no entry is read." : "";
    const by = /INTEGER PRIMARY KEY/.test(detail) ? "its entry id" : keys ? pathsIn(keys, soup) : "an index";
    return { kind: "good", text: `Finds entries of ${what} by ${by}, with an index.${covering}` };
  }
  if (table?.[1] === "SCAN" && (soup || /^TABLE_/.test(name))) {
    const index = /USING (COVERING )?INDEX (\S+?)(?:_idx)?(?:\s|$)/.exec(detail);
    if (index) {
      const path = soup?.indexes.find(({ columnName }) => columnName === index[2])?.path ?? index[2];
      const text = `Goes through all of ${what}${rows} in the order of ${path}: reads ${index[1] ? "the index alone" : "every entry"}, until enough rows are found.`;
      // The index serves the order; the condition is tested entry by entry.
      return soup && wanted(smartSQL, soup).found.length ? { kind: "bad", text, advice: scanAdvice(smartSQL, soup) } : { kind: "note", text };
    }
    return { kind: "bad", text: `Scan: reads every entry of ${what}${rows}.`, advice: soup && scanAdvice(smartSQL, soup) };
  }
  const tree = /USE TEMP B-TREE FOR (.*)$/.exec(detail)?.[1];
  if (tree) return { kind: "note", text: `Collects and sorts all rows found, for ${tree}, before it gives the first.` };
  if (/^MULTI-INDEX OR/.test(detail)) return { kind: "good", text: "Uses an index for each side of OR." };
  if (/CORRELATED/.test(detail)) return { kind: "note", text: "Runs a subquery once for each row." };
  if (/SUBQUERY|CO-ROUTINE|MATERIALIZE/.test(detail)) return { kind: "note", text: "Runs a subquery first." };
  if (/^(COMPOUND|UNION|LEFT-MOST|EXCEPT|INTERSECT|MERGE)/.test(detail)) return { kind: "note", text: "Combines the rows of several queries." };
  if (/BLOOM FILTER/.test(detail)) return { kind: "note", text: "Filters by a table of hashes first." };
  return { kind: "note", text: detail };
}

/**
 * The steps of a plan in words: `{ kind, text, detail, level, advice }`. Kind is good, note or bad; advice, which a scan has,
 * is `{ text, command, path, type }`.
 */
export function explain(plan, smartSQL, soups) {
  const tables = tablesOf(smartSQL, soups);
  const levels = new Map();
  return plan.rows.map(({ id, parent, detail }) => {
    const level = (levels.get(parent) ?? -1) + 1;
    levels.set(id, level);
    return { ...step(detail, smartSQL, tables), detail, level };
  });
}

/** The worst of it in one sentence. */
export function summary(steps) {
  const scans = steps.filter(({ kind }) => kind === "bad").length;
  if (scans) return { kind: "bad", text: scans === 1 ? "One step reads every entry of a soup." : `${scans} steps read every entry of a soup.` };
  if (steps.some(({ kind }) => kind === "note")) return { kind: "note", text: "No step scans a soup without an index." };
  return { kind: "good", text: "Every step uses an index." };
}
