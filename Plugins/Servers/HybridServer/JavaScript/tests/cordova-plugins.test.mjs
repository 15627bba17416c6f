import assert from "node:assert/strict";
import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { startBridge } from "./bridge.mjs";
import { withPage } from "./support/harness.mjs";
import { openPage, Page, plain } from "./support/page.mjs";

// ------------------------------------------------------------------------------------------ plug-ins of others

async function wwwWith(t, files) {
  const www = await mkdtemp(path.join(tmpdir(), "www-"));
  t.after(() => rm(www, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(www, name)), { recursive: true });
    await writeFile(path.join(www, name), text);
  }
  return www;
}

const pluginFiles = {
  "cordova_plugins.js": `cordova.define("cordova/plugin_list", function (require, exports, module) {
    module.exports = [
      { id: "them.clobber", file: "plugins/them/a.js", pluginId: "them", clobbers: ["window.themA", "navigator.connection"] },
      { id: "them.merge", file: "plugins/them/b.js", pluginId: "them", merges: ["navigator"] },
      { id: "them.run", file: "plugins/them/c.js", pluginId: "them", runs: true },
      { id: "them.broken", file: "plugins/them/f.js", pluginId: "them", runs: true },
      { id: "them.missing", file: "plugins/them/d.js", pluginId: "them", clobbers: ["window.themD"] },
      { id: "page.own", file: "plugins/them/e.js", pluginId: "them", clobbers: ["window.themE"] }
    ];
    module.exports.metadata = { them: "1.0.0" };
  });`,
  "plugins/them/a.js": `cordova.define("them.clobber", function (require, exports, module) {
    var exec = require("cordova/exec");
    module.exports = { info: function (ok, fail) { exec(ok, fail, "com.salesforce.sdkinfo", "getInfo", []); } };
  });`,
  "plugins/them/b.js": `cordova.define("them.merge", function (require, exports) { exports.merged = true; });`,
  "plugins/them/c.js": `cordova.define("them.run", function (require) {
    var channel = require("cordova/channel");
    window.themOrder = ["run"];
    channel.waitForInitialization("onThemReady");
    channel.onCordovaReady.subscribe(function () {
      window.themOrder.push("cordovaReady");
      setTimeout(function () { channel.initializationComplete("onThemReady"); }, 20);
    });
    document.addEventListener("deviceready", function () { window.themOrder.push("deviceready"); });
  });`,
  "plugins/them/f.js": `cordova.define("them.broken", function () { throw new Error("broken plug-in"); });`,
  "plugins/them/e.js": `throw new Error("A module that the page defined must not be loaded again.");`,
};

test("HT-3 plug-ins of www load with clobbers, merges and runs, and hold back deviceready", async (t) => {
  const www = await wwwWith(t, pluginFiles);
  const bridge = await startBridge({ www });
  const page = await openPage(bridge.url + "index.html", ["cordova.js"]);
  t.after(async () => {
    page.unload();
    await bridge.close();
  });
  page.run(`cordova.define("page.own", function (require, exports) { exports.own = true; });`);
  await page.deviceReady();
  const { window } = page;
  assert.deepEqual(plain(window.themOrder), ["run", "cordovaReady", "deviceready"]);
  const info = await new Promise((resolve, reject) => window.themA.info(resolve, reject));
  assert.equal(info.sdkVersion, "14.0.0");
  assert.equal(window.navigator.merged, true);
  assert.equal(window.navigator.connection, window.themA);
  assert.equal(window.themE.own, true);
  assert.equal(window.themD, undefined);
  assert.ok(page.messages.some((line) => /Cannot load plug-in module 'them.missing'/.test(line)));
  assert.ok(page.messages.some((line) => /cannot set its symbol.*broken plug-in/.test(line)));
  assert.equal(window.navigator.smartstore, undefined);
  assert.deepEqual(page.errors, []);
});

test("the loader takes the folder of the last cordova.js and loads only what is not defined", async (t) => {
  const { cordova, page } = await withPage(t);
  const loader = cordova.require("cordova/pluginloader");
  page.run("", "http://127.0.0.1/foo/cordova.js?bar");
  const injected = [];
  loader.injectScript = (url, onload) => {
    injected.push(url);
    const id = url.endsWith("cordova_plugins.js") ? "cordova/plugin_list" : "some.id";
    cordova.define(id, (require, exports, module) => (module.exports = [{ file: "some/path.js", id: "some.id" }]));
    onload();
  };
  cordova.define.remove("cordova/plugin_list");
  await new Promise((resolve) => loader.load(resolve));
  assert.deepEqual(injected, ["http://127.0.0.1/foo/cordova_plugins.js", "http://127.0.0.1/foo/some/path.js"]);
  await new Promise((resolve) => loader.load(resolve));
  assert.equal(injected.length, 2);
  cordova.define.remove("cordova/plugin_list");
  loader.injectScript = (url, onload, onerror) => onerror();
  await new Promise((resolve) => loader.load(resolve));
});

test("a page that brings its own plug-in modules defines first and wins", async (t) => {
  const bridge = await startBridge();
  const page = new Page(bridge.url + "index.html");
  t.after(async () => {
    page.unload();
    await bridge.close();
  });
  await page.script("cordova.js");
  page.run(`cordova.define("com.salesforce.plugin.oauth", function (require, exports) { exports.mine = true; });`);
  page.finish();
  await page.deviceReady();
  assert.equal(page.window.cordova.require("com.salesforce.plugin.oauth").mine, true);
  assert.equal(typeof page.window.cordova.require("com.salesforce.plugin.network").sendRequest, "function");
});

test("cordova.force.js defines all modules for the next script of the page", async (t) => {
  const bridge = await startBridge();
  const page = new Page(bridge.url + "index.html");
  t.after(async () => {
    page.unload();
    await bridge.close();
  });
  await page.script("cordova.js");
  await page.script("plugins/com.salesforce/libs/cordova.force.js");
  assert.equal(typeof page.window.cordova.require("com.salesforce.plugin.mobilesync").syncDown, "function");
  assert.equal(typeof page.window.navigator.smartstore.registerSoup, "function");
  page.finish();
  await page.deviceReady();
  assert.deepEqual(page.errors, []);
});

// ------------------------------------------------------------------------------------------ events and services

test("deviceready is sticky and comes once, also to listeners from before cordova.js", async (t) => {
  const bridge = await startBridge();
  const page = new Page(bridge.url + "index.html");
  t.after(async () => {
    page.unload();
    await bridge.close();
  });
  const calls = [];
  page.document.addEventListener("deviceready", () => calls.push("before"));
  await page.script("cordova.js");
  page.document.addEventListener("DeviceReady", () => calls.push("handler"), false);
  page.finish();
  await page.deviceReady();
  page.document.addEventListener("deviceready", { handleEvent: () => calls.push("late") });
  assert.deepEqual(calls, ["before", "handler", "late"]);
});

test("pause and resume follow the visibility of the page", async (t) => {
  const { page } = await withPage(t);
  const events = [];
  for (const type of ["pause", "resume"]) page.document.addEventListener(type, () => events.push(type));
  for (const state of ["hidden", "visible"]) {
    page.document.visibilityState = state;
    page.document.dispatchEvent(new Event("visibilitychange"));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  assert.deepEqual(events, ["pause", "resume"]);
});

test("an app can add and remove handled events, and fire them with data", async (t) => {
  const { cordova, page } = await withPage(t);
  const events = [];
  cordova.addDocumentEventHandler("battery");
  const listener = (event) => events.push(event.level);
  page.document.addEventListener("battery", listener);
  cordova.fireDocumentEvent("battery", { level: 7, type: "ignored" }, true);
  page.document.removeEventListener("battery", listener);
  cordova.fireDocumentEvent("battery", { level: 8 }, true);
  assert.deepEqual(events, [7]);
  cordova.removeDocumentEventHandler("battery");
  page.document.addEventListener("battery", listener);
  cordova.fireDocumentEvent("battery", { level: 9 });
  assert.deepEqual(events, [7, 9]);
});

test("HT-84 device and connection are responded in the page, others say that they are not there", async (t) => {
  const { call, window } = await withPage(t);
  assert.equal((await call("Device", "getDeviceInfo", [])).platform, "browser");
  assert.equal(await call("NetworkStatus", "getConnectionInfo", []), "unknown");
  window.navigator.onLine = false;
  assert.equal(await call("NetworkStatus", "getConnectionInfo", []), "none");
  await assert.rejects(call("Camera", "takePicture", []), (error) => /invalid action/.test(error));
});

test("a page can implement a service itself through cordova/exec/proxy", async (t) => {
  const { call, cordova } = await withPage(t);
  const proxies = cordova.require("cordova/exec/proxy");
  proxies.add("Camera", {
    take: (success, fail, args) => success(`picture ${args[0]}`),
    fail: (success, fail) => fail("no film"),
    broken: () => { throw new Error("broken"); },
  });
  assert.equal(await call("Camera", "take", [1]), "picture 1");
  await assert.rejects(call("Camera", "fail", []), (error) => error === "no film");
  await assert.rejects(call("Camera", "broken", []), (error) => /broken/.test(error));
  proxies.remove("Camera");
  assert.equal(proxies.get("Camera", "take"), null);
});

test("the page sees what Cordova's pages see", async (t) => {
  const { cordova, window } = await withPage(t);
  const names = ["define", "require", "exec", "fireDocumentEvent", "fireWindowEvent", "addDocumentEventHandler",
    "addStickyDocumentEventHandler", "addWindowEventHandler", "callbackFromNative", "callbackSuccess", "callbackError",
    "addConstructor", "getOriginalHandlers"];
  for (const name of names) assert.equal(typeof cordova[name], "function", name);
  assert.equal(window.Cordova, cordova);
  assert.equal(cordova.require("cordova/exec"), cordova.exec);
  assert.equal(cordova.require("cordova"), cordova);
  assert.equal(cordova.interceptExec, undefined);
  assert.equal(cordova.callbackStatus.OK, 1);
  assert.equal(cordova.platformId, "browser");
  for (const id of ["argscheck", "base64", "builder", "channel", "exec/proxy", "modulemapper", "pluginloader", "urlutil", "utils"]) {
    assert.equal(typeof cordova.require(`cordova/${id}`), "object", id);
  }
  const order = [];
  cordova.addConstructor(() => order.push("constructed"));
  assert.deepEqual(order, ["constructed"]);
});
