// The words in which two texts differ.

const MOST_WORDS = 600;

/** The parts of `after` against `before`, in order: `{ kind, text }` with kind same, added or removed. */
export function diffWords(before, after) {
  const left = words(before);
  const right = words(after);
  let [start, leftEnd, rightEnd] = [0, left.length, right.length];
  while (start < leftEnd && start < rightEnd && left[start] === right[start]) start++;
  while (leftEnd > start && rightEnd > start && left[leftEnd - 1] === right[rightEnd - 1]) [leftEnd, rightEnd] = [leftEnd - 1, rightEnd - 1];
  const parts = [];
  const add = (kind, list) => {
    if (!list.length) return;
    if (parts.at(-1)?.kind === kind) parts.at(-1).text += list.join("");
    else parts.push({ kind, text: list.join("") });
  };
  add("same", left.slice(0, start));
  middle(left.slice(start, leftEnd), right.slice(start, rightEnd), add);
  add("same", left.slice(leftEnd));
  return parts;
}

const words = (text) => text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];

/** The longest common words of two short lists; of long ones all is different. */
function middle(left, right, add) {
  if (left.length * right.length > MOST_WORDS * MOST_WORDS) {
    add("removed", left);
    add("added", right);
    return;
  }
  const lengths = Array.from({ length: left.length + 1 }, () => new Uint16Array(right.length + 1));
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) lengths[i][j] = left[i] === right[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
  }
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      add("same", [left[i]]);
      [i, j] = [i + 1, j + 1];
    } else if (i < left.length && (j === right.length || lengths[i + 1][j] >= lengths[i][j + 1])) add("removed", [left[i++]]);
    else add("added", [right[j++]]);
  }
}
