// Every page, light and dark, wide and narrow, against the rules of accessibility.mjs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { AUDIT, walk } from "./accessibility.mjs";
import { openInspector, skip } from "./support.mjs";

// Pages whose layout differs in a narrow window.
const NARROW = new Set(["an entry", "the console", "conflict fields visits/1", "a value"]);

test("the rules find what they are for", { skip }, async (t) => {
  const page = await openInspector(t, { entries: 5_000 });
  const { browser } = page;
  const cases = {
    "name": "const one = document.createElement('button'); main.append(one)",
    "duplicate-id": "const one = document.createElement('p'); one.id = 'content'; main.append(one)",
    "contrast": "const one = document.createElement('p'); one.textContent = 'pale'; one.style.color = '#bbb'; one.style.background = '#fff'; main.append(one)",
    "heading": "const one = document.createElement('h4'); one.textContent = 'deep'; main.append(one)",
    "reference": "const one = document.createElement('p'); one.setAttribute('aria-describedby', 'none'); main.append(one)",
    "role-parent": "const one = document.createElement('p'); one.setAttribute('role', 'treeitem'); main.append(one)",
    "role": "const one = document.createElement('p'); one.setAttribute('role', 'knob'); main.append(one)",
    "state": "const one = document.createElement('p'); one.setAttribute('aria-expanded', 'yes'); main.append(one)",
    "tabindex": "const one = document.createElement('p'); one.tabIndex = 3; one.textContent = 'x'; main.append(one)",
    "hidden-focus": "const one = document.createElement('p'); one.setAttribute('aria-hidden', 'true'); one.append(document.createElement('button')); one.firstChild.textContent = 'x'; main.append(one)",
    "nested": "const one = document.createElement('button'); one.append('a', document.createElement('a')); one.lastChild.href = '#/'; one.lastChild.textContent = 'b'; main.append(one)",
    "table": "const one = document.createElement('table'); one.insertRow().insertCell().textContent = 'x'; main.append(one)",
    "list": "const one = document.createElement('ul'); one.append(document.createElement('div')); one.firstChild.textContent = 'x'; main.append(one)",
    "target": "const one = document.createElement('button'); one.textContent = 'x'; one.style.minHeight = one.style.height = '8px'; main.append(one)",
    "landmark": "const one = document.createElement('p'); one.textContent = 'x'; document.body.append(one)",
  };
  assert.deepEqual(await browser.evaluate(AUDIT), []);
  for (const [rule, plant] of Object.entries(cases)) {
    await browser.evaluate(`(() => { const main = document.querySelector("main"); ${plant}; one.dataset.planted = ""; })()`);
    const found = await browser.evaluate(AUDIT);
    assert.ok(found.some((finding) => finding.startsWith(`${rule}:`)), `${rule}: ${JSON.stringify(found)}`);
    await browser.evaluate("document.querySelector('[data-planted]').remove()");
  }
  await browser.evaluate("(() => { const one = document.createElement('button'); one.textContent = 'unreachable'; one.addEventListener('focus', () => one.blur()); document.querySelector('main').append(one); })()");
  assert.ok((await walk(browser)).some((finding) => finding.includes("unreachable")));
});

for (const scheme of ["light", "dark"]) {
  for (const width of [1280, 420]) {
    test(`all pages, ${scheme}, ${width} pixels wide`, { skip }, async (t) => {
      const page = await openInspector(t, { entries: 5_000 }, { scheme, width, complaints: [/status of 4\d\d/] });
      const { browser, main, server } = page;
      const pages = {
        "stores": "#/stores", "soups": page.address("soups"), "a soup": page.address(`soup/${page.soup("visits")}`), "an entry": page.address(`soup/${page.soup("visits")}/1`),
        "the console": page.address("console"), "syncs": page.address("syncs"), "a sync": page.address("syncs/3"), "a failed sync": page.address("syncs/4"), "unsynced": page.address("unsynced"), "files": page.address("files"),
        ...Object.fromEntries(main.conflicts.map(({ key, kind }) => [`conflict ${kind} ${key}`, page.address(`conflicts?key=${encodeURIComponent(key)}`)])),
        "accounts": "#/accounts", "key-value stores": "#/keyvalues", "keys": `#/keyvalues/${server.world.keyValues[0].id}`, "a value": `#/keyvalues/${server.world.keyValues[0].id}/${Buffer.from("photo").toString("base64url")}`,
        "requests": "#/requests", "logs": "#/logs", "events": "#/events", "developer": "#/developer", "a locked store": page.address("soups", "archive"), "hostile": page.address(`soup/${server.world.stores[2].soups[0].id}/4`, "hostile"),
      };
      const problems = [];
      for (const [name, hash] of Object.entries(pages)) {
        await page.go(hash);
        if (name === "the console") {
          await page.set("Statement", "SELECT {accounts:Name} FROM {accounts} WHERE {accounts:BillingCity} = 'Cork'");
          await page.press("Run");
          await browser.waitFor("document.querySelector('.plan')");
        }
        if (name === "a soup") await browser.waitFor("document.querySelector('[role=grid] tbody tr')");
        if (name === "an entry" || name === "hostile") await browser.waitFor("document.querySelector('.pane ff-json')");
        for (const finding of await browser.evaluate(AUDIT)) problems.push(`${name}: ${finding}`);
        // The order of the focus does not depend on colors, and little on the width.
        if (scheme === "light" && (width > 1000 || NARROW.has(name))) for (const finding of await walk(browser)) problems.push(`${name}: ${finding}`);
      }
      await browser.evaluate("document.activeElement.blur()");
      await browser.press("?");
      for (const finding of [...await browser.evaluate(AUDIT), ...await walk(browser)]) problems.push(`help: ${finding}`);
      assert.deepEqual([...new Set(problems)], []);
    });
  }
}
