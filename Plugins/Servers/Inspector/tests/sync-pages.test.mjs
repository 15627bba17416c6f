// The pages of syncs, conflicts and unsynced entries in headless Chromium.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openInspector, skip } from "./support.mjs";

test("syncs", { skip }, async (t) => {
  // Runs that last until they are stopped, however slow the machine is.
  const page = await openInspector(t, { entries: 5_000, steps: 5_000 });
  const { browser, server, main } = page;
  await page.go(page.address("syncs"));
  const row = (name) => browser.evaluate(`[...document.querySelectorAll("table.syncs tbody tr")].find((one) => one.innerText.startsWith(${JSON.stringify(name)}))?.innerText.replace(/\\s+/g, " ")`);

  await t.test("each sync has its state, its progress, its rate and what is to do", async () => {
    assert.match(await row("accounts"), /down accounts DONE 100 % 5,000 of 5,000 3,144 records\/s took 5 min 18 s 3 unsynced/);
    assert.match(await row("visits-up"), /up visits DONE 100 % 11 of 11 .* 11 unsynced 7 conflicts 7 not sent/);
    assert.match(await row("Sync 4"), /FAILED 40 % 36 of 90/);
    assert.match(await row("parts-up"), /NEW 0 %/);
  });

  await t.test("a run is seen as it happens: state, progress, rate and requests", async () => {
    await browser.evaluate("[...document.querySelectorAll('button')].find((one) => one.getAttribute('aria-label') === 'Run attachments').click()");
    await browser.waitFor(`[...document.querySelectorAll("table.syncs tbody tr")].some((one) => /^attachments[^]*RUNNING[^]*records\\/s[^]*to go/.test(one.innerText))`);
    await browser.waitFor("document.querySelector('.spark polyline') !== null");
    assert.ok(await browser.evaluate("[...document.querySelectorAll('button')].find((one) => one.getAttribute('aria-label') === 'Run attachments').disabled"));
    await browser.waitFor("document.querySelector('[role=grid] tbody tr')?.innerText.includes('/services/data/v66.0/query')");
    await page.press("Stop all");
    await browser.waitFor(`[...document.querySelectorAll("table.syncs tbody tr")].some((one) => /^attachments[^]*STOPPED/.test(one.innerText))`);
    server.activity.run(main.syncs[5], { steps: 3, interval: 50 });
    await browser.waitFor(`[...document.querySelectorAll("table.syncs tbody tr")].some((one) => /^parts-up[^]*DONE[^]*100 %[^]*2,000 of 2,000/.test(one.innerText))`);
  });

  await t.test("a request that is in flight is one row, which its end replaces", async () => {
    const one = server.activity.request("POST", "/services/data/v66.0/limits", { status: 503, milliseconds: 5000, syncId: 3 });
    const rows = "[...document.querySelectorAll('[role=grid] tbody tr')].filter((row) => row.innerText.includes('limits'))";
    one.start();
    await browser.waitFor(`${rows}[0]?.innerText.includes("in flight")`);
    one.end();
    await browser.waitFor(`${rows}.length === 1 && /503[^]*5,000 ms/.test(${rows}[0].innerText)`);
  });

  await t.test("stopping and restarting", async () => {
    await browser.evaluate("[...document.querySelectorAll('button')].find((one) => one.getAttribute('aria-label') === 'Run visits').click()");
    await browser.waitFor(`/visits[^]*RUNNING/.test(document.querySelector("table.syncs").innerText)`);
    await page.press("Stop all");
    await browser.waitFor(`[...document.querySelectorAll("table.syncs tbody tr")].some((one) => /^visits\\s[^]*STOPPED/.test(one.innerText))`);
    await page.press("Restart stopped");
    await browser.waitFor(`[...document.querySelectorAll("table.syncs tbody tr")].some((one) => /^visits\\s[^]*RUNNING/.test(one.innerText))`);
    await page.press("Stop all");
  });

  await t.test("one sync has its definition, its outcomes with reasons and a filter", async () => {
    await page.go(page.address("syncs/3"));
    assert.match(await page.text(), /4 succeeded, 5 skipped, 2 failed/);
    assert.match(await page.text(), /rejected\s+create\s+9\s+\S+\s+Required fields are missing/);
    await browser.evaluate("(() => { const select = document.querySelector('main select'); select.value = 'waiting'; select.dispatchEvent(new Event('change')); })()");
    await browser.waitFor("document.querySelectorAll('[aria-label=\"Outcomes of records\"] tbody tr:not(.space)').length === 1");
    assert.match(await page.text("[aria-label='Definition of the sync']"), /mergeMode: "MERGE_FIELDS"/);
  });

  await t.test("a failed sync shows what the server said", async () => {
    await page.go(page.address("syncs/4"));
    assert.match(await page.text(), /The last run failed: The server refused the query[\s\S]*Status 400/);
    await page.press("What the server said");
    assert.match(await page.text(), /INVALID_FIELD/);
    await page.press("Remove ghosts");
    await browser.waitFor("document.querySelector('main').innerText.includes('2 ghosts removed.')");
  });
});

test("conflicts", { skip }, async (t) => {
  const page = await openInspector(t, { entries: 5_000 }, { complaints: [/status of 4\d\d/] });
  const { browser, server, main } = page;
  await page.go(page.address("conflicts"));
  const open = (key) => page.go(page.address(`conflicts?key=${encodeURIComponent(key)}`));
  const entry = (soup, id) => main.soups.find(({ name }) => name === soup).entry(id);
  const resolution = (name) => browser.evaluate(`document.querySelector('[data-resolution=${name}]').click()`);
  const isResolved = (key) => browser.waitFor(`document.querySelector("#announcements").innerText.startsWith(${JSON.stringify(`${key} is resolved`)})`);

  await t.test("three columns show what both sides changed, with the words that differ", async () => {
    assert.deepEqual(await page.texts(".diff thead th"), ["Field", "Base version", "Local", "Server"]);
    assert.deepEqual(await page.texts(".diff tbody tr:first-child ins"), ["pumps", " and 8", " (urgent)"]);
    assert.match(await page.text(".diff"), /Amount__c\s+120\.5\s+12345678901234567890\s+140/);
  });

  await t.test("a choice for each field is applied, numbers exactly", async () => {
    const apply = "[...document.querySelectorAll('.resolutions button')].find((one) => one.innerText === 'Apply the chosen values')";
    assert.ok(await browser.evaluate(`${apply}.disabled`));
    // By keys: server, local, base version, local; then a value of one's own.
    await browser.evaluate("document.querySelector('.conflict h2').focus()");
    await browser.press("s", "l");
    await browser.evaluate("document.querySelectorAll('[data-field]')[1].querySelector('[data-choice=mine]').focus()");
    await browser.press("l");
    await browser.evaluate("document.querySelectorAll('[data-field]')[2].querySelector('[data-choice=base]').click(); document.querySelectorAll('[data-field]')[3].querySelector('[data-choice=mine]').click()");
    assert.ok(await browser.evaluate(`${apply}.disabled`));
    assert.match(await page.text(".conflict .status"), /4 of 5 fields chosen/);
    await browser.evaluate("document.querySelectorAll('[data-field]')[4].querySelector('summary').click(); document.querySelectorAll('[data-field]')[4].querySelector('input[type=text]').focus()");
    await browser.type("003000000000CCC");
    await browser.evaluate(`${apply}.click()`);
    await isResolved("visits/1");
    const text = main.soups.find(({ name }) => name === "visits").text(1);
    assert.match(text, /"Amount__c":12345678901234567890[,}]/);
    assert.equal(entry("visits", 1).get("Name"), "Inspect pumps 7 and 8");
    assert.equal(entry("visits", 1).get("Status__c"), "In progress");
    assert.equal(entry("visits", 1).get("Notes__c"), "Seal leaks.\nBring spare seals.");
    assert.equal(entry("visits", 1).get("Contact__c"), "003000000000CCC");
    await browser.waitFor("/Conflicts\\s*8/.test(document.querySelector('nav').innerText)");
  });

  await t.test("each kind says what happened and offers what its kind permits", async () => {
    const expected = {
      "visits/2": [/Deleted locally, changed on the server/, ["Apply the chosen values", "Delete on the server", "Keep the server's record"]],
      "visits/3": [/Changed locally, deleted on the server/, ["Apply the chosen values", "Create again with local values", "Remove the local entry"]],
      "visits/4": [/the server's values are not known/, ["Apply the chosen values", "Keep all local values", "Keep all server values"]],
      "visits/5": [/the response was lost/, ["It is not on the server: create it"]],
      "visits/7": [/Two entries of one record/, ["Apply the chosen values", "Keep this entry's values", "Take the other entry's values"]],
      "parts/1": [/cannot be detached/, ["Create the parent in visits again", "Drop the local change"]],
      "parts/2": [/cannot be created again/, ["Upload without a parent", "Drop the local change"]],
    };
    for (const [key, [words, buttons]] of Object.entries(expected)) {
      await open(key);
      assert.match(await page.text(".conflict"), words, key);
      assert.deepEqual(await page.texts(".resolutions button"), buttons, key);
    }
  });

  await t.test("one side for all, a candidate, a parent", async () => {
    await open("visits/4");
    await resolution("theirs");
    await isResolved("visits/4");
    await open("visits/5");
    assert.match(await page.text(".candidates"), /a01000000000905AAA[\s\S]*Visit Harbor Repair/);
    await browser.evaluate("document.querySelector('.candidates button').click()");
    await isResolved("visits/5");
    assert.equal(entry("visits", 5).get("Id"), "a01000000000905AAA");
    await open("parts/2");
    await resolution("detach");
    await isResolved("parts/2");
    assert.equal(entry("parts", 2).get("Visit__c"), null);
  });

  await t.test("a conflict that changed on the device is not resolved blindly", async () => {
    await open("visits/3");
    main.conflicts.find(({ key }) => key === "visits/3").fields[0].mine = "changed since";
    await resolution("mine");
    await browser.waitFor("/is over, or not as it was listed[^]*conflictChanged/.test(document.querySelector('main').innerText)");
    server.hub.send("change", { store: main.id, soups: ["visits"] });
    await browser.waitFor("document.querySelector('.diff').innerText.includes('changed since')");
    await resolution("mine");
    await isResolved("visits/3");
  });

  await t.test("the keys n and p lead from one conflict to the next", async () => {
    await open("visits/2");
    await browser.evaluate("document.querySelector('.conflict h2').focus()");
    await browser.press("n");
    assert.match(await page.text(".conflict h2"), /visits\/6/);
    await browser.press("p");
    assert.match(await page.text(".conflict h2"), /visits\/2/);
  });

  await t.test("when the last one is resolved, the page says so", async () => {
    while (main.conflicts.length) {
      const before = main.conflicts.length;
      const found = main.conflicts[0].key;
      await open(found);
      if (main.conflicts[0].kind === "inDoubt") await resolution("create");
      else await resolution("theirs");
      await browser.waitFor(`document.querySelector("main h1 + span").innerText !== ${JSON.stringify(`${before} conflict${before === 1 ? "" : "s"}`)}`);
    }
    await browser.waitFor("document.querySelector('main').innerText.includes('There are no conflicts.')");
  });
});

test("unsynced entries", { skip }, async (t) => {
  const page = await openInspector(t, { entries: 5_000 }, { complaints: [/status of 422/] });
  const { browser } = page;
  await page.go(page.address("unsynced"));

  await t.test("they stand by soup, with what a sync up would do", async () => {
    assert.match(await page.text(), /13 entries/);
    const cards = await page.texts(".card");
    assert.match(cards.find((text) => text.startsWith("visits")), /3 created, 6 updated, 2 deleted[\s\S]*1\s+updated fields/);
  });

  await t.test("an edit is undone after a question, and one that cannot be undone says why", async () => {
    const undo = (id) => browser.evaluate(`document.querySelector('[aria-label="Undo the changes of entry ${id}"]').click()`);
    await undo(9);
    assert.ok(await page.has("dialog[open]"));
    await page.press("Cancel");
    assert.match(await page.text(), /13 entries/);
    await undo(9);
    await page.press("Undo");
    await browser.waitFor("document.querySelector('main').innerText.includes('12 entries')");
    await undo(10);
    await page.press("Undo");
    await browser.waitFor("/no base version is kept[^]*cannotUndo/.test(document.querySelector('main').innerText)");
  });
});

test("files of records and of the queue", { skip }, async (t) => {
  const page = await openInspector(t, { entries: 5_000 });
  await page.go(page.address("files"));
  assert.match(await page.text(), /612 files, [\d.]+ MB on this device/);
  const cards = await page.texts(".card");
  assert.match(cards[0], /Waiting for their upload[\s\S]*leak\.jpg\s+queued[\s\S]*local_17[\s\S]*signature\.png\s+rejected[\s\S]*refuses files of this type/);
  assert.match(cards[1], /Roof plan\.pdf\s+available[\s\S]*Crane manual\.pdf\s+partial[\s\S]*ended early[\s\S]*Contract attachment\s+on the server[\s\S]*outdated/);
  assert.match(await page.text(), /608 more are not shown/);
});

test("a store that another process owns is read, and nothing can be changed", { skip }, async (t) => {
  const page = await openInspector(t, { entries: 5_000, state: "owned" });
  const { browser } = page;
  const disabled = (selector) => browser.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].every((one) => one.disabled)`);
  await page.go(page.address("conflicts"));
  assert.match(await page.text(".top"), /Read-only/);
  assert.match(await page.text(), /cannot resolve the conflict/);
  assert.ok(await disabled(".resolutions button"));
  await page.go(page.address("syncs"));
  assert.ok(await disabled("main button"));
  await page.go(page.address("unsynced"));
  assert.ok(await disabled("main td button"));
  await page.press("! Read-only").catch(() => page.press("Read-only"));
  await browser.waitFor("/process 4712[^]*Wait until that process has ended/.test(document.querySelector('dialog').innerText)");
});

test("an inspector that was started read-only says so everywhere", { skip }, async (t) => {
  const page = await openInspector(t, { entries: 5_000, access: "readOnly" });
  await page.go("#/accounts");
  assert.ok(await page.browser.evaluate("[...document.querySelectorAll('main button')].every((one) => one.disabled)"));
  await page.go("#/requests");
  assert.match(await page.text(), /requests of another process cannot be seen[\s\S]*FieldforceInspector/);
  await page.go("#/developer");
  assert.match(await page.text(), /The inspector is read-only\./);
});
