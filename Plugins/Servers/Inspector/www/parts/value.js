// A JSON value in one line, by its type.
import { ExactNumber, ExactObject, exactText } from "../data/exact.js";
import { plainText } from "../data/marks.js";
import { h } from "./dom.js";
import { visible } from "./text.js";

/** The kind of a value, which is also its class. */
export function kindOf(value) {
  if (value === undefined) return "absent";
  if (value === null) return "null";
  if (value instanceof ExactNumber || typeof value === "number") return "number";
  if (Array.isArray(value)) return "array";
  return value instanceof ExactObject ? "object" : typeof value;
}

/** The value in one line. A text stands in quotes only where `quotes` says so. */
export function valueElement(value, { length = 120, quotes = false, lines = false } = {}) {
  const kind = kindOf(value);
  const shell = h(`span.value.is-${kind}`);
  switch (kind) {
    case "absent": shell.append("not set"); break;
    case "string":
      if (value === "" && !quotes) shell.append(h("span.quiet", "empty text"));
      else shell.append(quotes ? "\"" : "", visible(value, { length, lines }), quotes ? "\"" : "");
      break;
    case "array": case "object": shell.append(visible(exactText(value), { length })); break;
    default: shell.append(exactText(value));
  }
  return shell;
}

/** The value as text for labels. */
export function valueText(value, length = 120) {
  if (value === undefined) return "not set";
  return plainText(typeof value === "string" ? value : exactText(value), length);
}

/** Whether two values are the same JSON. */
export const sameValue = (left, right) => exactText(left ?? null) === exactText(right ?? null) && (left === undefined) === (right === undefined);
