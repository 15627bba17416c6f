// Text of records and servers on the page: it can't hide, turn around or flood what stands around it.
import { h } from "./dom.js";

// Controls, marks that change the direction, characters without width, tags, and halves of pairs.
const MARKS =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\udb40[\udc00-\udfff]/g;
const LONG_CLUSTER = /(\p{M}{8})(\p{M}+)/gu;

const NAMES = {
  0x00: "NUL", 0x07: "BEL", 0x08: "backspace", 0x09: "tab", 0x0a: "line feed", 0x0d: "carriage return", 0x1b: "escape", 0x7f: "delete", 0x85: "next line",
  0xad: "soft hyphen", 0x200b: "zero-width space", 0x200c: "zero-width non-joiner", 0x200d: "zero-width joiner", 0x200e: "left-to-right mark",
  0x200f: "right-to-left mark", 0x2028: "line separator", 0x2029: "paragraph separator", 0x202a: "left-to-right embedding",
  0x202b: "right-to-left embedding", 0x202c: "pop directional formatting", 0x202d: "left-to-right override", 0x202e: "right-to-left override",
  0x2066: "left-to-right isolate", 0x2067: "right-to-left isolate", 0x2068: "first strong isolate", 0x2069: "pop directional isolate", 0xfeff: "byte order mark",
};
const SHORT = { 0x09: "→", 0x0a: "↵", 0x0d: "␍" };

const code = (mark) => mark.codePointAt(0);
const hex = (value) => `U+${value.toString(16).toUpperCase().padStart(4, "0")}`;

const EMOJI = /(?:\p{Extended_Pictographic}|[\u{1f3fb}-\u{1f3ff}])\ufe0f?$/u;
const KEYCAP = /[0-9#*]$/;

/** Whether a mark joins or forms an emoji, and so hides nothing. */
function isJoining(text, index, mark) {
  const before = text.slice(Math.max(index - 3, 0), index);
  return mark === "\u200d" ? EMOJI.test(before) : mark === "\ufe0f" && (EMOJI.test(before) || KEYCAP.test(before));
}

/** The text cut between characters, not in a pair. */
export function cutAt(text, length) {
  if (text.length <= length) return text;
  const end = /[\ud800-\udbff]/.test(text[length - 1]) ? length - 1 : length;
  return text.slice(0, end);
}

/** The text with what cannot be seen named in brackets: for titles and labels. */
export function plainText(value, length = 200) {
  const text = String(value);
  const short = cutAt(text, length).replace(MARKS, (mark, index, all) => (isJoining(all, index, mark) ? mark : `⟨${hex(code(mark))}⟩`))
    .replace(LONG_CLUSTER, (_, kept, rest) => `${kept}⟨+${rest.length}⟩`);
  return short.length < text.length && text.length > length ? `${short}…` : short;
}

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
    const value = code(mark);
    const name = NAMES[value] ?? (value >= 0xd800 && value <= 0xdfff ? "half of a surrogate pair" : "invisible character");
    shell.append(h("span.mark", { title: `${hex(value)} ${name}` }, SHORT[value] ?? hex(value).slice(2)));
    if (lines && value === 0x0a) shell.append("\n");
  }
  add(short.length);
  if (text.length > short.length) shell.append(h("span.more", "…"));
  return shell;
}
