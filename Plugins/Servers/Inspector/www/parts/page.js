// What all pages have in common.
import { errorNotice } from "./notice.js";
import { fill, h } from "./dom.js";

/** A page: an element that is filled once, and ends its requests when it is removed. */
export class Page extends HTMLElement {
  #abort = new AbortController();
  /** Ends when the page is left. */
  get signal() {
    return this.#abort.signal;
  }

  /** `context`: `{ api, live, app, parameters, query }`, see main.js. */
  async show(context) {
    this.context = context;
    this.setAttribute("aria-busy", "true");
    try {
      await this.load(context);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (error.name !== "Error" && !error.errorName) console.error(error);
      fill(this, this.heading(this.constructor.title), errorNotice(error, () => this.show(context)));
    } finally {
      this.removeAttribute("aria-busy");
    }
  }

  disconnectedCallback() {
    this.#abort.abort();
  }

  /** The heading of the page, with what stands to its right. */
  heading(title, ...children) {
    return h("header.page-head", h("h1", { tabindex: "-1" }, title), children);
  }
}

/** What there is when there is nothing. */
export const empty = (title, text) => h("div.empty", h("p", h("strong", title)), text ? h("p", text) : null);

/** A few facts: pairs of name and value. */
export const facts = (pairs) => h("dl.facts", pairs.filter(Boolean).map(([name, value]) => h("div", h("dt", name), h("dd", value))));

/** A word of a state, with a sign that does not depend on color. */
export function badge(kind, text, title) {
  return h(`span.badge.${kind}`, { title: title ?? null }, text);
}
