// A JSON value as a tree that opens level by level.
import { ExactObject } from "../data/exact.js";
import { count, counted } from "../data/format.js";
import { plainText } from "../data/marks.js";
import { fill, h } from "./dom.js";
import { kindOf, valueElement } from "./value.js";
import { visible } from "./text.js";

const PART = 200;
const OPEN_ITEMS = 40;

/**
 * `<ff-json>`: set `value`. `cut` has the number of characters of texts that came cut, by pointer; `more(pointer, from)` gives
 * a further part of one. Arrow keys move and open, as in any tree.
 */
export class JSONTree extends HTMLElement {
  label = "JSON";
  cut = new Map();
  more = null;
  root = "";
  value = null;

  connectedCallback() {
    if (this.tree) return;
    this.tree = h("ul", { role: "tree", "aria-label": this.label });
    this.tree.addEventListener("keydown", (event) => this.#key(event));
    this.tree.addEventListener("click", (event) => this.#click(event));
    fill(this, this.tree);
    this.#add(this.tree, null, this.value, this.root, 1, new Set());
    const first = this.tree.firstElementChild;
    first.tabIndex = 0;
    this.#toggle(first, true);
  }

  #add(list, name, value, pointer, level, seen) {
    const kind = kindOf(value);
    const isOpenable = (kind === "array" && value.length > 0) || (kind === "object" && value.members.length > 0);
    const label = h("span.key");
    if (name !== null) label.append(typeof name === "number" ? h("span.index", String(name)) : visible(name, { length: 200 }), ": ");
    if (seen.has(name)) label.append(h("span.badge.warn", { title: "The name stands more than once in this object" }, "duplicate"), " ");
    seen.add(name);
    const size = kind === "array" ? counted(value.length, "item") : kind === "object" ? counted(value.members.length, "member") : "";
    const brackets = kind === "array" ? "[ ]" : "{ }";
    const content = isOpenable ? h(`span.value.is-${kind}`, brackets, h("span.size", ` ${size}`)) : valueElement(value, { quotes: true, length: 1000, lines: true });
    const item = h("li", {
      role: "treeitem", "aria-level": String(level), "aria-expanded": isOpenable ? "false" : null, tabindex: "-1",
      "aria-label": `${name === null ? "" : `${plainText(name, 80)}: `}${size || plainText(content.textContent, 120)}`,
    }, h("div.node", h("span.twist", { "aria-hidden": "true" }, isOpenable ? "▸" : ""), label, content));
    Object.assign(item, { source: { value, pointer, level } });
    const characters = this.cut.get(pointer);
    if (characters) item.append(this.#rest(value, pointer, characters));
    list.append(item);
  }

  /** What shows the rest of a text that came cut, part by part. */
  #rest(value, pointer, characters) {
    let from = [...value].length;
    const shown = h("pre.long", { hidden: true, tabindex: "0", "aria-label": `Text of ${pointer}` });
    const button = h("button.small", {
      type: "button", onclick: async () => {
        button.disabled = true;
        try {
          const part = await this.more(pointer, from);
          if (shown.hidden) shown.append(visible(value, { length: Infinity, lines: true }));
          shown.hidden = false;
          shown.append(visible(part.text, { length: Infinity, lines: true }));
          from += [...part.text].length;
        } finally {
          button.disabled = false;
          this.#say(button, from, characters);
        }
      },
    });
    this.#say(button, from, characters);
    return h("div.rest", button, shown);
  }

  #say(button, from, characters) {
    button.textContent = `${count(from)} of ${count(characters)} characters shown. Show more`;
    button.hidden = from >= characters;
  }

  #children(item) {
    const { value, pointer, level } = item.source;
    const list = h("ul", { role: "group" });
    const members = value instanceof ExactObject ? value.members : value.map((member, index) => [index, member]);
    const seen = new Set();
    let shown = 0;
    const step = (name) => `${pointer}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const part = () => {
      for (const [name, member] of members.slice(shown, shown + PART)) this.#add(list, name, member, step(name), level + 1, seen);
      shown = Math.min(shown + PART, members.length);
      if (shown >= members.length) return;
      const button = h("button.small", {
        type: "button", onclick: () => {
          const next = row.previousElementSibling;
          row.remove();
          part();
          next.nextElementSibling?.focus();
        },
      }, `Show ${count(Math.min(PART, members.length - shown))} more of ${count(members.length - shown)}`);
      const row = h("li", { role: "none" }, button);
      list.append(row);
    };
    part();
    return list;
  }

  #toggle(item, isOpen = item.getAttribute("aria-expanded") !== "true") {
    if (!item.hasAttribute("aria-expanded")) return;
    item.setAttribute("aria-expanded", String(isOpen));
    item.querySelector(":scope > .node > .twist").textContent = isOpen ? "▾" : "▸";
    let group = item.querySelector(":scope > [role=group]");
    if (isOpen && !group) {
      group = this.#children(item);
      item.append(group);
      // Small parts of a small value are open at once.
      const { value, level } = item.source;
      const size = value instanceof ExactObject ? value.members.length : value.length;
      if (level === 1 && size <= OPEN_ITEMS) {
        for (const child of group.querySelectorAll(":scope > [aria-expanded]")) {
          const inner = child.source.value;
          if ((inner.members ?? inner).length <= 5) this.#toggle(child, true);
        }
      }
    }
    if (group) group.hidden = !isOpen;
  }

  #click(event) {
    if (event.target.closest("button, pre")) return;
    const item = event.target.closest("[role=treeitem]");
    if (!item || String(getSelection())) return;
    this.#focus(item);
    this.#toggle(item);
  }

  #focus(item) {
    if (!item) return;
    for (const one of this.tree.querySelectorAll('[tabindex="0"][role=treeitem]')) one.tabIndex = -1;
    item.tabIndex = 0;
    item.focus();
  }

  #key(event) {
    const item = event.target;
    if (item.getAttribute("role") !== "treeitem" || event.ctrlKey || event.metaKey || event.altKey) return;
    const items = [...this.tree.querySelectorAll("[role=treeitem]")].filter((one) => !one.closest("[role=group][hidden]"));
    const index = items.indexOf(item);
    const isOpen = item.getAttribute("aria-expanded");
    switch (event.key) {
      case "ArrowDown": this.#focus(items[index + 1]); break;
      case "ArrowUp": this.#focus(items[index - 1]); break;
      case "Home": this.#focus(items[0]); break;
      case "End": this.#focus(items.at(-1)); break;
      case "ArrowRight": isOpen === "false" ? this.#toggle(item, true) : this.#focus(item.querySelector("[role=group] > [role=treeitem]")); break;
      case "ArrowLeft": isOpen === "true" ? this.#toggle(item, false) : this.#focus(item.parentElement.closest("[role=treeitem]")); break;
      case "Enter": case " ": this.#toggle(item); break;
      default: return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

customElements.define("ff-json", JSONTree);

/** A tree of a value. */
export function jsonTree(value, members = {}) {
  return Object.assign(document.createElement("ff-json"), { value, ...members });
}
