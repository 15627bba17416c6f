// Text of records and servers on the page: it can't hide, turn around or flood what stands around it.
import { cutAt, hex, isJoining, LONG_CLUSTER, MARKS } from "../data/marks.js";
import { h } from "./dom.js";

const NAMES = {
  0x00: "NUL", 0x07: "BEL", 0x08: "backspace", 0x09: "tab", 0x0a: "line feed", 0x0d: "carriage return", 0x1b: "escape", 0x7f: "delete", 0x85: "next line",
  0xad: "soft hyphen", 0x200b: "zero-width space", 0x200c: "zero-width non-joiner", 0x200d: "zero-width joiner", 0x200e: "left-to-right mark",
  0x200f: "right-to-left mark", 0x2028: "line separator", 0x2029: "paragraph separator", 0x202a: "left-to-right embedding",
  0x202b: "right-to-left embedding", 0x202c: "pop directional formatting", 0x202d: "left-to-right override", 0x202e: "right-to-left override",
  0x2066: "left-to-right isolate", 0x2067: "right-to-left isolate", 0x2068: "first strong isolate", 0x2069: "pop directional isolate", 0xfeff: "byte order mark",
};
const SHORT = { 0x09: "→", 0x0a: "↵", 0x0d: "␍" };

/**
 * The text as an element of its own direction. What cannot be seen is shown as a mark with its name.
 *
 * `length`: the most characters that are shown. `lines`: whether line breaks break the line.
 */
export function visible(value, { length = 400, lines = false } = {}) {
  const text = String(value);
  const short = cutAt(text, length);
  const shell = h("bdi.text");
  let from = 0;
  const add = (end) => end > from && shell.append(short.slice(from, end).replace(LONG_CLUSTER, (_, kept, rest) => `${kept}⟨+${rest.length} marks⟩`));
  for (const match of short.matchAll(MARKS)) {
    const [mark] = match;
    if (isJoining(short, match.index, mark)) continue;
    add(match.index);
    from = match.index + mark.length;
    const value = mark.codePointAt(0);
    const name = NAMES[value] ?? (value >= 0xd800 && value <= 0xdfff ? "half of a surrogate pair" : "invisible character");
    shell.append(h("span.mark", { title: `${hex(value)} ${name}` }, SHORT[value] ?? hex(value).slice(2)));
    if (lines && value === 0x0a) shell.append("\n");
  }
  add(short.length);
  if (text.length > short.length) shell.append(h("span.more", "…"));
  return shell;
}
