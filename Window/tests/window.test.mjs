// What a person sees in fieldforce-window: apps of a folder, and apps whose pages are on the server.
import assert from "node:assert/strict";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { Stage } from "./support.mjs";

const samples = fileURLToPath(new URL("../../Samples/Hybrid", import.meta.url));
const PAGE = `<!DOCTYPE html><meta charset="utf-8"><title>Local</title><style>body{font:18px sans-serif;margin:2rem}</style>
<h1>A local app</h1><p id="state">Waiting</p><script src="cordova.js"></script><script>
document.addEventListener("deviceready", () => {
  const soup = "notes", entries = [{ Name: "one" }];
  navigator.smartstore.registerSoup(true, soup, [{ path: "Name", type: "string" }], () =>
    navigator.smartstore.upsertSoupEntries(true, soup, entries, (stored) => {
      document.getElementById("state").textContent = "Stored entry " + stored[0].Name;
    }, (error) => { document.getElementById("state").textContent = String(error); }));
});
</script>`;

test("a local app runs at https://localhost, with plug-ins, and keeps its own storage", async (t) => {
  const stage = await Stage.start(t);
  const www = await stage.www({ "index.html": PAGE });
  let window = stage.window(www);
  await window.sees("Stored entry one");
  assert.equal(await window.run("return location.href"), "https://localhost/index.html");
  assert.equal(await window.run("return isSecureContext"), true);
  assert.match(await window.run("return navigator.userAgent"), /^SalesforceMobileSDK\/\S+ .* Hybrid Mozilla\//);
  assert.equal(await window.run("return (await fetch('/../state')).status"), 404);
  const other = await window.run("return fetch('https://www.example.com/').then(() => 'loaded', () => 'refused')");
  assert.equal(other, "refused");
  const info = await window.run(
    "const { connect } = await import('https://localhost/plugins/fieldforce/index.js'); return (await connect().info()).sdkVersion"
  );
  assert.equal(info, "14.0.0");
  await window.run("localStorage.setItem('kept', 'yes')");
  await window.picture("local");
  assert.equal(await window.end(), 0);
  window = stage.window(www);
  await window.sees("Stored entry one");
  assert.equal(await window.run("return localStorage.getItem('kept')"), "yes");
  assert.equal(await window.end(), 0);
});

test("a sample runs as it is", async (t) => {
  const stage = await Stage.start(t);
  const window = stage.window(path.join(samples, "ContactExplorer/www"));
  await window.waitFor("document.querySelectorAll('li').length >= 4");
  await window.picture("contact-explorer");
  assert.equal(await window.end(), 0);
});

test("a page of the org calls the plug-ins, and gets a new session when its own has expired", async (t) => {
  const stage = await Stage.start(t);
  const window = stage.window(await stage.remoteApp());
  await window.sees("Stored: kept on the device");
  await window.sees("Done");
  assert.equal(await window.run("return location.href"), `${stage.line.instanceUrl}/apex/BasicVFTest`);
  await window.picture("remote");
  const session = await window.run("return document.cookie");
  assert.match(session, /\bsid=/);
  await stage.request("DELETE", "/mock-org/sessions");
  await window.run("setTimeout(() => location.assign('/apex/BasicVFTest?again=1'))");
  await window.waitFor("location.pathname === '/apex/BasicVFTest' && document.cookie !== " + JSON.stringify(session));
  await window.sees("Done");
  assert.equal(await window.end(), 0);
});

test("a remote app starts with its home page offline, and says why it cannot without one", async (t) => {
  const stage = await Stage.start(t);
  const www = await stage.remoteApp();
  let window = stage.window(www);
  await window.sees("Done");
  // The engine writes its cache a second after the load.
  await window.run("await new Promise((done) => setTimeout(done, 2500))");
  assert.equal(await window.end(), 0);
  await stage.orgProgram.end();
  window = stage.window(www);
  await window.sees("Hello Ada");
  assert.equal(await window.run("return location.href"), `${stage.line.instanceUrl}/apex/BasicVFTest`);
  await window.picture("offline-home");
  assert.equal(await window.end(), 0);
  window = stage.window(await stage.remoteApp({ attemptOfflineLoad: false }));
  await window.sees("The app cannot be shown");
  await window.picture("offline-error");
  // The button starts the app again, once there is a network.
  await stage.serveOrg(new URL(stage.line.url).port);
  assert.equal(await window.end(), 0);
});

test("a page of another origin opens outside of the window", async (t) => {
  const stage = await Stage.start(t);
  const window = stage.window(await stage.remoteApp());
  await window.sees("Done");
  await window.run("document.getElementById('out').click()");
  assert.match(await stage.outside(), /www\.example\.com\/help/);
  assert.equal(await window.run("return location.pathname"), "/apex/BasicVFTest");
  assert.equal(await window.end(), 0);
});

test("after a logout another login is requested, and nothing of the former user stays", async (t) => {
  const stage = await Stage.start(t);
  const www = await stage.remoteApp();
  const window = stage.window(www);
  await window.sees("Done");
  await window.run("window.isFormer = true; localStorage.setItem('secret', 'x')");
  await window.run("setTimeout(() => cordova.exec(null, null, 'com.salesforce.oauth', 'logoutCurrentUser', []))");
  const page = await window.program.said(/^(http\S+authorize\S+)$/m);
  const form = new URL(page).searchParams;
  form.set("username", stage.line.username);
  form.set("password", stage.line.password);
  await (await fetch(page.split("?")[0], { method: "POST", body: form })).text();
  await window.waitFor("!window.isFormer && document.body.innerText.includes('Done')");
  assert.equal(await window.run("return localStorage.getItem('secret')"), null);
  assert.match(await window.run("return document.cookie"), /eikoocnekotMob=/);
  assert.equal(await window.end(), 0);
});

test("wrong arguments and a missing program are errors with a status of their own", async (t) => {
  const stage = await Stage.start(t, { loggedIn: false });
  const www = await stage.www({ "index.html": PAGE });
  for (const [options, status, text] of [
    [["--size", "7"], 64, "7 is no size"],
    [["--none"], 64, "no option --none"],
    [["--fieldforce", "/none/fieldforce"], 64, "no program /none/fieldforce"],
    [["--fieldforce", "/bin/true"], 0, ""],
  ]) {
    const window = stage.window(www, ...options);
    assert.equal(await window.program.ended, status, window.program.errors);
    assert.ok(window.program.errors.includes(text), window.program.errors);
  }
});
