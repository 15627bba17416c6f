// Makes elements. No text is ever parsed as markup, and what cannot be seen in one is named.
import { plainText } from "../data/marks.js";

const SPOKEN = new Set(["title", "aria-label", "placeholder"]);
const PROPERTIES = new Set(["value", "checked", "disabled", "hidden", "selected", "open", "readOnly", "indeterminate", "inert"]);

/**
 * An element: `h("button.primary", { type: "button", onclick }, "Run")`. Members that begin with "on" are listeners; null and
 * undefined leave an attribute out. A link leads to a place in this page and nowhere else.
 */
export function h(name, ...rest) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  const isOptions = rest[0] !== null && typeof rest[0] === "object" && Object.getPrototypeOf(rest[0]) === Object.prototype;
  for (const [key, value] of Object.entries(isOptions ? rest.shift() : {})) {
    if (value === null || value === undefined || value === false && !PROPERTIES.has(key)) continue;
    if (key.startsWith("on")) {
      if (typeof value !== "function") throw new TypeError(`${key} is no function.`);
      element.addEventListener(key.slice(2), value);
    } else if (PROPERTIES.has(key)) {
      element[key] = value;
    } else if (key === "href" || key === "src") {
      if (!String(value).startsWith("#/")) throw new TypeError(`${key} leads outside of the page.`);
      element.setAttribute(key, value);
    } else {
      element.setAttribute(key, value === true ? "" : SPOKEN.has(key) ? plainText(value, 400) : value);
    }
  }
  element.append(...flat(rest));
  return element;
}

function flat(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : plainText(child, Infinity)));
}

/** Puts other children in the place of an element's own. */
export function fill(element, ...children) {
  element.replaceChildren(...flat(children));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** An element of a drawing. */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

let number = 0;

/** An id that no other element has. */
export const uniqueId = (word) => `${word}-${++number}`;

/** A label with its field. */
export function field(label, control, { hint } = {}) {
  control.id ||= uniqueId("field");
  const note = hint ? h("span.hint", { id: uniqueId("hint") }, hint) : null;
  if (note) control.setAttribute("aria-describedby", note.id);
  return h("div.field", h("label", { for: control.id }, label), control, note);
}

/** A list of choices: pairs of value and text. */
export function select(choices, value, onchange) {
  const element = h("select", { onchange: () => onchange?.(element.value) });
  for (const [choice, text] of choices) element.append(h("option", { value: choice, selected: String(choice) === String(value ?? "") }, text));
  return element;
}

/** A function that is called once things have been quiet for a while. */
export function debounce(action, milliseconds = 200) {
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), milliseconds);
  };
}
