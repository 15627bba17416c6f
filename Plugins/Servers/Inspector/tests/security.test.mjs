// Hostile data, and pages without a token, in headless Chromium.
import assert from "node:assert/strict";
import { test } from "node:test";
import { HOSTILE_NAME, HOSTILE_VALUES } from "./server/world.mjs";
import { openInspector, skip } from "./support.mjs";

test("without its token the page has no content", { skip }, async (t) => {
  const page = await openInspector(t, { entries: 5_000 }, { complaints: [/status of 403/] });
  const { browser, server } = page;

  await t.test("the address of the server alone is 403 without content", async () => {
    await browser.evaluate("sessionStorage.clear()");
    await browser.open(`${server.origin}/`);
    // The browser's own words for an empty response.
    assert.match(await browser.evaluate("document.body.innerText"), /^Access to 127\.0\.0\.1 was denied[^]*HTTP ERROR 403/);
  });

  await t.test("the page without the fragment says what is missing and requests no data", async () => {
    const before = server.log.length;
    await browser.open(server.base);
    await browser.waitFor("document.querySelector('main')?.innerText.includes('opened without its token')");
    assert.deepEqual(server.log.slice(before).filter((line) => line.includes("/api/")), []);
    assert.doesNotMatch(await page.text("body"), /accounts|smartstore|ada@/);
  });

  await t.test("another token is refused, and the right one can be entered", async () => {
    await browser.open("about:blank");
    await browser.open(`${server.base}#token=${"A".repeat(22)}`);
    await browser.waitFor("document.querySelector('main')?.innerText.includes('not valid any more')");
    assert.doesNotMatch(await page.text("body"), /smartstore|ada@/);
    await page.set("Token", server.url);
    await browser.evaluate("document.querySelector('form').requestSubmit()");
    await browser.waitFor("document.querySelector('h1')?.innerText === 'Soups'");
  });

  await t.test("the token stands in no address, no history and no referrer; a reload keeps it", async () => {
    await browser.send("Page.reload");
    await browser.waitFor("document.querySelector('h1')?.innerText === 'Soups'");
    assert.doesNotMatch(await browser.evaluate("location.href + document.referrer"), new RegExp(server.token));
    const { entries } = await browser.send("Page.getNavigationHistory");
    assert.equal(entries.at(-1).url.includes(server.token), false);
    assert.equal(server.log.some((line) => line.includes(server.token)), false);
    assert.equal(await browser.evaluate("document.cookie + JSON.stringify(localStorage)").then((text) => text.includes(server.token)), false);
  });
});

test("no script but the page's own can run", { skip }, async (t) => {
  const page = await openInspector(t, { entries: 5_000 }, { complaints: [/Content Security Policy|Trusted|violates/i] });
  const { browser } = page;
  const refused = (code) => browser.evaluate(`(() => { try { ${code}; return "ran"; } catch (error) { return error.name; } })()`);
  assert.notEqual(await refused("document.body.innerHTML = '<b>x</b>'"), "ran");
  assert.notEqual(await refused("document.body.insertAdjacentHTML('beforeend', '<b>x</b>')"), "ran");
  await browser.evaluate(`(() => {
    const image = document.createElement("img");
    image.setAttribute("onerror", "window.hacked = 1");
    image.src = "none";
    document.body.append(image);
  })()`).catch(() => {});
  await browser.evaluate("(() => { const link = document.createElement('a'); link.href = 'javascript:window.hacked=1'; document.body.append(link); link.click(); })()").catch(() => {});
  await browser.evaluate("new Promise((done) => setTimeout(done, 300))");
  assert.equal(await browser.evaluate("window.hacked"), undefined);
  assert.equal(await browser.evaluate("fetch('http://127.0.0.1:1/').then(() => 'sent', (error) => error.name)"), "TypeError");
});

test("hostile data is text", { skip }, async (t) => {
  const page = await openInspector(t, { entries: 5_000 }, { complaints: [/status of 4\d\d/] });
  const { browser, server, main } = page;
  const everything = Object.values(HOSTILE_VALUES).join(" ");
  const evil = (text) => `${HOSTILE_NAME} ${text} ${everything}`;
  // All that a device, a server or a user can name.
  const { world } = server;
  for (const store of world.stores) store.label = evil("label") + " (user store)";
  for (const account of world.accounts) Object.assign(account, { username: evil("user"), instanceUrl: evil("https://x"), loginServer: evil("https://y"), scopes: [evil("scope")], userId: evil("id"), organizationId: evil("org") });
  for (const sync of main.syncs) Object.assign(sync, { name: evil("sync"), soupName: evil("soup"), error: { code: 400, message: evil("message"), body: [{ message: evil("body") }] }, target: { [HOSTILE_NAME]: everything } });
  for (const one of main.outcomes) Object.assign(one, { recordId: evil("record"), error: { message: evil("outcome") } });
  for (const one of main.conflicts) {
    one.recordId = evil("record");
    one.fields = [{ name: HOSTILE_NAME, base: everything, mine: `${everything} changed`, theirs: { [HOSTILE_NAME]: everything } }];
    if (one.candidates) one.candidates = [{ id: evil("candidate"), values: { [HOSTILE_NAME]: everything } }];
    if (one.missingParent) Object.assign(one.missingParent, { soupName: evil("parents"), field: evil("field"), recordId: evil("parent") });
  }
  for (const item of world.information) if (!item.name.startsWith("section:")) Object.assign(item, { name: evil("name"), value: evil("value") });
  world.information.push({ name: `section:${evil("section")}`, value: "" }, { name: "a", value: "b" });
  for (const action of world.actions) Object.assign(action, { name: evil("action"), reason: evil("reason") });
  for (const host of world.loginHosts) Object.assign(host, { name: evil("host"), url: "javascript:window.hacked=1" });
  for (const policy of world.policies) Object.assign(policy, { name: evil("policy"), value: evil("value"), source: evil("source") });
  world.unreadable[0].file = evil("file");
  world.levels[HOSTILE_NAME] = "info";
  server.activity.log(evil("component"), "error", evil("message"), { error: evil("error"), tag: evil("tag") });
  server.activity.request(evil("GET"), evil("/path")).end();
  server.hub.add("analytics", "analytics", { time: 1, name: evil("event"), attributes: { [HOSTILE_NAME]: everything }, startTime: 1, endTime: 2 });

  async function check(where) {
    const found = await browser.evaluate(`(() => {
      return {
        hacked: window.hacked ?? null, foreign: document.querySelectorAll("img, script:not([src='main.js']), iframe, object, embed, base, meta[http-equiv], form, style, video").length,
        handlers: [...document.querySelectorAll("*")].flatMap((one) => [...one.attributes]).filter(({ name }) => name.startsWith("on")).length,
        links: [...document.querySelectorAll("a[href], [src]")].map((one) => one.getAttribute("href") ?? one.getAttribute("src")).filter((address) => !address.startsWith("#/") && !["#content", "main.js"].includes(address)),
        raw: (document.documentElement.innerText + document.title + [...document.querySelectorAll("*")].flatMap((one) => [...one.attributes]).filter(({ name }) => ["title", "aria-label", "placeholder"].includes(name)).map(({ value }) => value).join("\\n")).match(/[\\u0000-\\u0008\\u000b-\\u001f\\u0080-\\u009f\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]|[\\u{e0000}-\\u{e007f}]/u)?.[0]?.codePointAt(0) ?? null,
        wide: document.documentElement.scrollWidth > innerWidth,
        outside: performance.getEntriesByType("resource").map(({ name }) => name).filter((name) => !name.startsWith(${JSON.stringify(server.base)})),
      };
    })()`);
    assert.deepEqual(found, { hacked: null, foreign: 0, handlers: 0, links: [], raw: null, wide: false, outside: [] }, where);
  }

  await browser.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', { key: 'r', bubbles: true }))");
  const hostile = world.stores.find(({ name }) => name === "hostile");
  const soup = hostile.soups[0];
  const pages = [
    "#/stores", "#/accounts", "#/keyvalues", `#/keyvalues/${world.keyValues[0].id}`, `#/keyvalues/${world.keyValues[0].id}/${Buffer.from(HOSTILE_NAME).toString("base64url")}`,
    "#/requests", "#/logs", "#/events", "#/developer", page.address("soups"), page.address("syncs"), page.address("syncs/3"), page.address("syncs/4"), page.address("unsynced"), page.address("files"), page.address("conflicts"),
    ...main.conflicts.map(({ key }) => page.address(`conflicts?key=${encodeURIComponent(key)}`)), page.address("console"), page.address("soups", "hostile"), page.address(`soup/${soup.id}`, "hostile"),
    ...[...soup.ids].map((id) => page.address(`soup/${soup.id}/${id}`, "hostile")), page.address(`console?soup=${soup.id}`, "hostile"),
  ];
  for (const hash of pages) {
    await page.go(hash);
    if (/\/soup\/[\w-]+\/\d+$/.test(hash)) {
      await browser.waitFor(`document.querySelector(".pane h2")?.innerText === "Entry ${hash.split("/").pop()}" && !document.querySelector(".pane[aria-busy]")`);
      // All levels of the tree open.
      await browser.evaluate("for (let level = 0; level < 8; level++) document.querySelectorAll('ff-json [aria-expanded=false]').forEach((one) => one.querySelector('.node').click())");
    }
    await browser.evaluate("document.querySelectorAll('main details').forEach((one) => (one.open = true)); document.querySelector('main [role=grid] tbody tr:not(.space)')?.click()");
    await check(hash);
  }

  await t.test("addresses that name nothing are refused by the page", async () => {
    for (const hash of ["#/store/%2e%2e/soups", "#/store/a%2Fb/console", "#/store/<img>/syncs", "#/keyvalues/../x", "#/nothing", `#/store/${main.id}/soup/none`, `#/store/${main.id}/soup/${main.soups[0].id}/1e9`]) {
      await page.go(hash);
      await check(hash);
      assert.doesNotMatch(await page.text(), /undefined|TypeError|\[object/);
    }
  });
});

test("large and exact values", { skip }, async (t) => {
  const page = await openInspector(t, { entries: 5_000 });
  const { browser } = page;
  const open = async (name, id, store) => {
    await page.go(page.address(`soup/${page.soup(name, store)}/${id}`, store));
    await browser.waitFor(`document.querySelector(".pane h2")?.innerText === "Entry ${id}" && !document.querySelector(".pane[aria-busy]")`);
  };

  await t.test("a text of 10 MB comes in parts", async () => {
    await open("attachments", 1);
    await browser.waitFor("document.querySelector('.rest button')?.innerText === '4,096 of 10,485,760 characters shown. Show more'");
    await browser.evaluate("document.querySelector('.rest button').click()");
    await browser.waitFor("document.querySelector('.rest button').innerText.startsWith('69,632 of')");
    assert.equal(await browser.evaluate("document.querySelector('.rest pre').innerText.length"), 69_632);
  });

  await t.test("a list of 5,000 items opens by parts, an entry beyond the limit is offered as a file", async () => {
    await open("attachments", 2);
    await browser.evaluate("[...document.querySelectorAll('ff-json .node')].find((one) => one.innerText.includes('5,000 items')).click()");
    assert.equal(await browser.evaluate("document.querySelectorAll('ff-json [role=treeitem]').length < 250"), true);
    await page.press("Show 200 more of 4,800");
    assert.match(await page.text("ff-json"), /399:\s*\{ \} 2 members/);
    await open("attachments", 3);
    assert.match(await page.text(".pane"), /too large to be shown[\s\S]*Download/);
  });

  await t.test("numbers, names that stand twice and __proto__ are shown as they are stored", async () => {
    await open(HOSTILE_NAME, 20, "hostile");
    const text = await page.text("ff-json");
    assert.match(text, /a: 12345678901234567890\.10[\s\S]*10: 1\.50[\s\S]*2: -0[\s\S]*duplicate a?[\s\S]*"again"/);
    assert.match(text, /__proto__: \{ \} 1 member/);
    assert.equal(await browser.evaluate("({}).polluted"), undefined);
  });

  await t.test("an entry of 400 levels opens level by level", async () => {
    await open(HOSTILE_NAME, 21, "hostile");
    await browser.evaluate("for (let level = 0; level < 400; level++) document.querySelectorAll('ff-json [aria-expanded=false]').forEach((one) => one.querySelector('.node').click())");
    assert.ok(await browser.evaluate("document.querySelectorAll('ff-json [role=treeitem]').length >= 400"));
  });
});
