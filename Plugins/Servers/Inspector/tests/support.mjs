// A page of the inspector in a browser, for the tests.
import assert from "node:assert/strict";
import { Browser, chromium } from "../../../../Tools/Scripts/chromium.mjs";
import { startInspector } from "./server/server.mjs";

export const skip = chromium ? false : "there is no Chromium on this machine";

/** A browser on a server of its own, ended with the test. The page must have had no error when the test ends. */
export async function openInspector(t, options = {}, { width = 1280, height = 800, scheme = "light", complaints = [] } = {}) {
  const server = await startInspector(options);
  const browser = await Browser.start();
  let isClosed = false;
  t.after(async () => {
    await browser.close();
    if (!isClosed) await server.close();
    assert.deepEqual(browser.errors, []);
    const unexpected = browser.complaints.filter((text) => !complaints.some((pattern) => pattern.test(text)));
    assert.deepEqual(unexpected, []);
  });
  await browser.emulate({ width, height, scheme });
  await browser.open(server.url);
  const [main] = server.world.stores;
  const store = (name, owner = main.owner) => server.world.stores.find((one) => one.name === name && one.owner === owner);
  const page = {
    server, browser, main,
    /** The address of a page of a store. */
    address: (rest, name = "smartstore") => `#/store/${store(name)?.id ?? server.world.stores.find((one) => one.name === name).id}/${rest}`,
    soup: (name, inStore = "smartstore") => server.world.stores.find((one) => one.name === inStore).soups.find((one) => one.name === name).id,
    /** Opens a page and waits until it is there. */
    async go(hash) {
      await browser.evaluate(`location.hash = ${JSON.stringify(hash)}`);
      await page.ready();
    },
    ready: () => browser.waitFor("document.querySelector('main h1') && !document.querySelector('main > [aria-busy=true]')"),
    text: (selector = "main") => browser.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? null`),
    texts: (selector) => browser.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => one.innerText)`),
    has: (selector) => browser.evaluate(`document.querySelector(${JSON.stringify(selector)}) !== null`),
    /** Puts a value into a field as a user would. */
    async set(label, value) {
      await browser.evaluate(`(() => {
        const field = [...document.querySelectorAll("main label")].find((one) => one.innerText.startsWith(${JSON.stringify(label)}))?.control;
        if (!field) throw new Error("There is no field " + ${JSON.stringify(label)});
        field.focus();
        field.value = ${JSON.stringify(value)};
        field.dispatchEvent(new Event("input", { bubbles: true }));
        field.dispatchEvent(new Event("change", { bubbles: true }));
      })()`);
    },
    /** Clicks on the first button or link with this name; waits for it. */
    press: (name) => browser.waitFor(`(() => {
      const found = [...document.querySelectorAll("button, a, summary")].find((one) => (one.getAttribute("aria-label") ?? one.innerText).trim() === ${JSON.stringify(name)} && !one.disabled && one.checkVisibility());
      if (!found) throw new Error("There is no button " + ${JSON.stringify(name)});
      found.click();
      return true;
    })()`),
    async close() {
      isClosed = true;
      await server.close();
    },
  };
  await page.ready();
  return page;
}
