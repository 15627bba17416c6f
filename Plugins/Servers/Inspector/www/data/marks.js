// Characters that cannot be seen or that disturb what stands around them, and texts in which they are named.

// Controls, marks that change the direction, characters without width, tags, and halves of pairs.
export const MARKS =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\udb40[\udc00-\udfff]/g;
export const LONG_CLUSTER = /(\p{M}{8})(\p{M}+)/gu;

/** U+202E. */
export const hex = (value) => `U+${value.toString(16).toUpperCase().padStart(4, "0")}`;

const EMOJI = /(?:\p{Extended_Pictographic}|[\u{1f3fb}-\u{1f3ff}])\ufe0f?$/u;
const KEYCAP = /[0-9#*]$/;

/** Whether a mark joins or forms an emoji, and so hides nothing. */
export function isJoining(text, index, mark) {
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
  const short = cutAt(text, length).replace(MARKS, (mark, index, all) => (isJoining(all, index, mark) ? mark : `⟨${hex(mark.codePointAt(0))}⟩`))
    .replace(LONG_CLUSTER, (_, kept, rest) => `${kept}⟨+${rest.length}⟩`);
  return short.length < text.length && text.length > length ? `${short}…` : short;
}
