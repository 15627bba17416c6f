// The pages of accounts, key-value stores, requests, logs, events and the developer in headless Chromium.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openInspector, skip } from "./support.mjs";

const rows = "main [role=grid] tbody tr:not(.space)";

test("pages of the app", { skip }, async (t) => {
  const page = await openInspector(t, { entries: 5_000 }, { complaints: [/status of 4\d\d/] });
  const { browser, server } = page;

  await t.test("accounts have the ages of their tokens, their hosts and their policies", async () => {
    await page.go("#/accounts");
    const text = await page.text();
    assert.match(text, /ada@acme\.example[\s\S]*current user[\s\S]*Access token\s+47 min( \d+ s)? old, opaque[\s\S]*Refresh token\s+40 d old/);
    assert.match(text, /ben@acme\.example[\s\S]*jwt, expires \d{4}-/);
    assert.match(text, /005000000000003\.account[\s\S]*written with another key[\s\S]*wrongKey/);
    assert.match(text, /Production\s+https:\/\/login\.salesforce\.com\s+selected/);
    assert.match(text, /Screen lock\s+after 10 minutes\s+connected app/);
  });

  await t.test("another account becomes the current one, and one logs out after a question", async () => {
    await page.press("Make current");
    await browser.waitFor("/ben@acme[^]*current user/.test(document.querySelectorAll('.card')[1].innerText)");
    await browser.evaluate("document.querySelector('.card .danger').click()");
    assert.match(await page.text("dialog"), /16 entries are not uploaded and would be lost for good/);
    await page.press("Log out and lose them");
    await browser.waitFor("!document.querySelector('main').innerText.includes('ada@acme.example')");
  });

  await t.test("key-value stores list their keys by pages, and find them", async () => {
    await page.go("#/keyvalues");
    assert.match(await page.text(), /drafts[\s\S]*265 keys[\s\S]*old[\s\S]*cannot be listed/);
    await browser.evaluate("[...document.querySelectorAll('.card a')].find((one) => one.innerText === 'drafts').click()");
    await browser.waitFor(`document.querySelectorAll(${JSON.stringify(rows)}).length > 10`);
    await page.set("Search keys", "photo");
    await browser.waitFor(`document.querySelectorAll(${JSON.stringify(rows)}).length === 1`);
    await browser.evaluate(`document.querySelector(${JSON.stringify(rows)}).click()`);
    await browser.waitFor("document.querySelector('.pane pre')?.innerText.startsWith('00000000  c8 ed 12')");
    await page.set("Search keys", "form/");
    await browser.waitFor(`document.querySelector(${JSON.stringify(rows)})?.innerText.startsWith('form/visit-17')`);
    await browser.evaluate(`document.querySelector(${JSON.stringify(rows)}).click()`);
    await browser.waitFor("document.querySelector('.pane ff-json')?.innerText.includes('signed: false')");
  });

  await t.test("a key-value store without a list says so", async () => {
    await page.go(`#/keyvalues/${server.world.keyValues[1].id}`);
    assert.match(await page.text(), /keeps no list of its keys[\s\S]*notListed/);
  });

  await t.test("requests come live, failures stand out", async () => {
    await page.go("#/requests");
    server.activity.request("GET", "/services/data/v66.0/limits", { status: null, milliseconds: 30_000 }).end();
    await browser.waitFor(`/limits\\s+no response\\s+30\\.0 s/.test(document.querySelector(${JSON.stringify(rows)}).innerText)`);
    assert.equal(await browser.evaluate(`document.querySelector(${JSON.stringify(rows)}).className`), "failed");
  });

  await t.test("logs are filtered by level, component and text, also those that come", async () => {
    await page.go("#/logs");
    await page.set("Least level", "error");
    await browser.waitFor(`[...document.querySelectorAll(${JSON.stringify(rows)})].length > 0 && [...document.querySelectorAll(${JSON.stringify(rows)})].every((one) => one.innerText.includes("error"))`);
    server.activity.log("MobileSync", "debug", "too quiet");
    server.activity.log("MobileSync", "fault", "loud enough");
    await browser.waitFor(`document.querySelector(${JSON.stringify(rows)}).innerText.includes("loud enough")`);
    assert.doesNotMatch(await page.text(), /too quiet/);
    await page.set("Least level", "verbose");
    await page.set("Component", "SmartStore");
    await browser.waitFor(`[...document.querySelectorAll(${JSON.stringify(rows)})].length > 5 && [...document.querySelectorAll(${JSON.stringify(rows)})].every((one) => one.innerText.includes("SmartStore"))`);
    await page.set("Component", "MobileSync");
    await page.set("Search", "quiet");
    await browser.waitFor(`document.querySelectorAll(${JSON.stringify(rows)}).length === 1 && document.querySelector(${JSON.stringify(rows)}).innerText.includes("too quiet")`);
  });

  await t.test("a pause keeps what comes until it ends", async () => {
    await page.set("Component", "");
    await page.set("Search", "");
    await browser.waitFor(`[...document.querySelectorAll(${JSON.stringify(rows)})].some((one) => one.innerText.includes("SalesforceSDKCore"))`);
    await page.press("Pause");
    server.activity.log("MobileSync", "info", "during the pause");
    await browser.waitFor("document.querySelector('.status').innerText.includes('1 waiting')");
    assert.doesNotMatch(await page.text(), /during the pause/);
    await page.press("Continue");
    await browser.waitFor("document.querySelector('main').innerText.includes('during the pause')");
  });

  await t.test("a record opens in full, and a level is set", async () => {
    server.activity.log("MobileSync", "error", "first line\nsecond line", { error: "TransportError: reset" });
    await browser.waitFor("document.querySelector('main').innerText.includes('first line')");
    await browser.evaluate(`document.querySelector(${JSON.stringify(rows)}).click()`);
    assert.match(await page.text("main .card"), /first line↵\nsecond line[\s\S]*TransportError: reset/);
    await page.press("Levels");
    await page.set("SmartStore", "debug");
    await browser.waitFor("document.querySelector('#announcements').innerText === 'SmartStore logs from debug.'");
    assert.equal(server.world.levels.SmartStore, "debug");
  });

  await t.test("analytics events show their attributes", async () => {
    await page.go("#/events");
    await browser.evaluate(`[...document.querySelectorAll(${JSON.stringify(rows)})].find((one) => one.innerText.includes("registerSoup")).click()`);
    assert.match(await page.text("main .card"), /soupName: "visits"/);
  });

  await t.test("developer information has its sections, actions say why they are off", async () => {
    await page.go("#/developer");
    const text = await page.text();
    assert.match(text, /SmartStore\s+SQLCipher version[\s\S]*User SmartStores\s+archive, drafts/);
    assert.match(text, /React Developer Menu\s+This app has no React Native runtime\./);
    await page.press("Refresh Token");
    await browser.waitFor("document.querySelector('main').innerText.includes('Refresh Token: done')");
  });

  await t.test("an action with fields asks for them", async () => {
    await page.press("Login Options");
    await browser.waitFor("document.activeElement.localName === 'select'");
    await browser.evaluate("(() => { const [flow, key, hybrid] = document.querySelectorAll('dialog select, dialog input'); flow.value = 'userAgent'; key.value = '3MVG9'; hybrid.click(); })()");
    await page.press("Run");
    await browser.waitFor(`document.querySelector('main').innerText.includes('{"flow":"userAgent","consumerKey":"3MVG9","hybrid":true}')`);
    await page.press("Switch User");
    await browser.press("Escape");
    await browser.waitFor("!document.querySelector('dialog')");
    assert.doesNotMatch(await page.text(), /Switch User: done/);
  });

  await t.test("keys of one letter lead to pages, and can be switched off", async () => {
    await browser.press("g", "l");
    await browser.waitFor("location.hash === '#/logs'");
    await page.ready();
    await browser.press("/");
    assert.equal(await browser.evaluate("document.activeElement.type"), "search");
    await browser.type("g");
    await browser.evaluate("document.activeElement.blur()");
    await browser.press("?");
    assert.match(await page.text("dialog"), /Keyboard[\s\S]*Run the statement/);
    await browser.evaluate("document.querySelector('#keys-on').click()");
    await browser.press("Escape");
    await browser.waitFor("!document.querySelector('dialog')");
    await browser.press("g", "s");
    assert.equal(await browser.evaluate("location.hash"), "#/logs");
  });

  await t.test("the colors can be chosen and are kept", async () => {
    const ground = () => browser.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = await ground();
    await browser.evaluate("(() => { const select = document.querySelector('.top select[aria-label=Colors]'); select.value = 'dark'; select.dispatchEvent(new Event('change')); })()");
    assert.notEqual(await ground(), light);
    await browser.send("Page.reload");
    await page.ready();
    assert.notEqual(await ground(), light);
  });
});

test("a server that ends is said, and found again", { skip }, async (t) => {
  const page = await openInspector(t, { entries: 5_000 }, { complaints: [/ERR_|Failed to load/] });
  const { browser } = page;
  await page.close();
  await browser.waitFor("document.querySelector('.live').innerText === 'Not live'");
  await page.go("#/accounts");
  assert.match(await page.text(), /does not respond[\s\S]*fieldforce inspect/);
});

test("slow and failing servers are said, and the page recovers", { skip }, async (t) => {
  const page = await openInspector(t, { entries: 5_000 }, { complaints: [/status of 500/] });
  const { browser, server } = page;
  server.settings.failing = /accounts/;
  await page.go("#/accounts");
  assert.match(await page.text(), /refused to read the store\.[\s\S]*check the disk[\s\S]*Code io/);
  server.settings.failing = null;
  await page.press("Try again");
  await browser.waitFor("document.querySelector('main').innerText.includes('ada@acme.example')");
  server.settings.slow = 300;
  await browser.evaluate("location.hash = '#/keyvalues'");
  await browser.waitFor("document.querySelector('main > [aria-busy=true]')");
  // Another page before the first has come: the late one does not take its place.
  await page.go("#/developer");
  assert.match(await page.text("h1"), /Developer/);
});
