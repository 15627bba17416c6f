// Numbers and times as people read them.

const number = new Intl.NumberFormat("en-US");

/** 1,000,000; an en dash for what is not known. */
export const count = (value) => (value === null || value === undefined || value < 0 ? "–" : number.format(value));

/** `1 entry`, `2 entries`. */
export const counted = (value, noun, plural = `${noun}s`) => `${count(value)} ${value === 1 ? noun : plural}`;

export function bytes(value) {
  if (value === null || value === undefined) return "–";
  if (value < 1000) return `${value} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let [size, unit] = [value / 1000, 0];
  while (size >= 999.5 && unit < units.length - 1) [size, unit] = [size / 1000, unit + 1];
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}

export function milliseconds(value) {
  if (value === null || value === undefined) return "–";
  if (value < 10) return `${value.toFixed(2)} ms`;
  return value < 10_000 ? `${number.format(Math.round(value))} ms` : `${(value / 1000).toFixed(1)} s`;
}

/** A length of time by its two largest units. */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 10) return `${Math.round(seconds * 10) / 10} s`;
  const parts = [["d", 86_400], ["h", 3_600], ["min", 60], ["s", 1]];
  const first = parts.findIndex(([, size]) => seconds >= size);
  const [unit, size] = parts[first];
  const rest = parts[first + 1] && Math.floor((seconds % size) / parts[first + 1][1]);
  return `${Math.floor(seconds / size)} ${unit}${rest ? ` ${rest} ${parts[first + 1][0]}` : ""}`;
}

/** `2026-11-23 09:41:07`, in the zone of the browser; an en dash for a time that never was. */
export function time(value) {
  if (!value || value < 0) return "–";
  return `${date(value)} ${clock(value)}`;
}

export function date(value) {
  const at = new Date(value);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

export function clock(value, withMilliseconds = false) {
  const at = new Date(value);
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}${withMilliseconds ? `.${String(at.getMilliseconds()).padStart(3, "0")}` : ""}`;
}

const two = (value) => String(value).padStart(2, "0");

/** How long ago a time was. */
export function age(value, now = Date.now()) {
  if (!value) return "age unknown";
  const seconds = (now - value) / 1000;
  return seconds < -1 ? `in ${duration(-seconds)}` : `${duration(Math.max(seconds, 0))} old`;
}
