// Uses a page as a person does: finds what has a role and an accessible name, clicks at it, types, presses keys, looks.
import { mkdir } from "node:fs/promises";
import path from "node:path";

// Longer than any step takes, shorter than the patience of a person who waits for the tests.
const PATIENCE_MS = 30000;
const pause = () => new Promise((resolve) => setTimeout(resolve, 40));

export class Person {
  constructor(browser) {
    this.browser = browser;
  }

  /** Goes to an address in a window of that size. `scheme`: the colours that the person prefers, "light" or "dark". */
  async open(url, { width = 1100, height = 720, scheme = "light" } = {}) {
    await this.browser.emulate({ width, height, scheme });
    await this.browser.open(url);
  }

  press(...keys) {
    return this.browser.press(...keys);
  }

  /** Waits until `check` gives something, and gives it. The error names `what`, and shows the page. */
  async until(what, check) {
    const end = Date.now() + PATIENCE_MS;
    let reason = "";
    do {
      try {
        const value = await check();
        if (value) return value;
      } catch (error) {
        // The page may be on its way to the next one, or the element was replaced.
        reason = ` (${error.message})`;
      }
      await pause();
    } while (Date.now() < end);
    throw new Error(`The page never had ${what}${reason}. It shows:\n${await this.text()}`);
  }

  /** The text that the page shows. */
  text() {
    return this.browser.evaluate("document.body.innerText");
  }

  /** Waits until the page shows a text, or a text that a pattern matches. */
  sees(text) {
    return this.until(`the text ${text}`, async () => {
      const shown = await this.text();
      return text instanceof RegExp ? text.test(shown) : shown.includes(text);
    });
  }

  /** Waits until the page does not show a text any more. */
  misses(text) {
    return this.until(`no text ${text}`, async () => !(await this.text()).includes(text));
  }

  /** All nodes of the accessibility tree with that role and name. */
  async all(role, name) {
    const { nodes } = await this.browser.send("Accessibility.getFullAXTree");
    const matches = (value) => (name instanceof RegExp ? name.test(value) : value === name);
    return nodes.filter((node) => !node.ignored && node.role?.value === role && matches(node.name?.value ?? ""));
  }

  /** The one node with that role and name; waits for it. */
  find(role, name) {
    return this.until(`one ${role} ${name}`, async () => {
      const found = await this.all(role, name);
      if (found.length > 1) throw new Error(`There are ${found.length} of ${role} ${name}.`);
      return found[0];
    });
  }

  /** Clicks at the middle of the one node with that role and name; waits until that is what stands there. */
  async click(role, name) {
    // Found, looked at and clicked in one step of the page: a list that moves in between would have another row there.
    const source = `function () {
      this.scrollIntoView({ block: "nearest" });
      const { x, y, width, height } = this.getBoundingClientRect();
      const there = document.elementFromPoint(x + width / 2, y + height / 2);
      if (!this.isConnected || !this.contains(there)) return false;
      this.focus();
      there.click();
      return true;
    }`;
    await this.until(`a ${role} ${name} to click at`, async () => {
      const node = await this.find(role, name);
      if (node.properties?.some((one) => one.name === "disabled" && one.value.value)) return false;
      return this.#call(node, source);
    });
  }

  /** Calls a function of the page with the element of a node as `this`. */
  async #call({ backendDOMNodeId }, source, ...values) {
    const { object } = await this.browser.send("DOM.resolveNode", { backendNodeId: backendDOMNodeId });
    const { result, exceptionDetails } = await this.browser.send("Runtime.callFunctionOn", {
      objectId: object.objectId, functionDeclaration: source, arguments: values.map((value) => ({ value })), returnByValue: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description || exceptionDetails.text);
    return result.value;
  }

  /** Replaces the text of a field. */
  async type(role, name, text) {
    const { backendDOMNodeId } = await this.find(role, name);
    await this.browser.send("DOM.focus", { backendNodeId: backendDOMNodeId });
    await this.browser.evaluate("document.activeElement.select()");
    if (text === "") await this.press("Delete");
    else await this.browser.type(text);
  }

  /** The text of a field. */
  async value(role, name) {
    return (await this.find(role, name)).value?.value ?? "";
  }

  /** Chooses an option of a list by its words, as the keyboard does. */
  async choose(name, option) {
    const source = `function (text) {
      this.selectedIndex = [...this.options].findIndex((one) => one.text === text);
      this.dispatchEvent(new Event("change", { bubbles: true }));
      return this.selectedIndex;
    }`;
    const index = await this.#call(await this.find("combobox", name), source, option);
    if (index < 0) throw new Error(`The list ${name} has no option ${option}.`);
  }

  /** The accessible name of what has the focus. */
  async focused() {
    const { nodes } = await this.browser.send("Accessibility.getFullAXTree");
    const node = nodes.find((one) => one.role?.value !== "RootWebArea" && one.properties?.some((p) => p.name === "focused" && p.value.value));
    return node?.name?.value ?? "";
  }

  /** Controls that have no accessible name: a person who does not see the page cannot tell what they do. */
  async nameless() {
    const roles = ["button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "switch", "progressbar"];
    const { nodes } = await this.browser.send("Accessibility.getFullAXTree");
    return nodes.filter((node) => !node.ignored && roles.includes(node.role?.value) && !node.name?.value).map((node) => node.role.value);
  }

  /** Whether something reaches over the right edge of the window. */
  overflows() {
    return this.browser.evaluate("document.documentElement.scrollWidth > innerWidth");
  }

  /** Takes a picture into the folder that SAMPLE_SCREENSHOTS names; without it, takes none. */
  async picture(name) {
    const folder = process.env.SAMPLE_SCREENSHOTS;
    if (!folder) return;
    await mkdir(folder, { recursive: true });
    // What was just changed is painted with the next frames.
    await this.browser.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    await this.browser.screenshot(path.join(folder, `${name}.png`));
  }
}
