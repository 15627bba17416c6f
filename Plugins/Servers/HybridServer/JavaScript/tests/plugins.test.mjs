import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import test from "node:test";
import { onTestBridge, withPage } from "./support/harness.mjs";
import { plain } from "./support/page.mjs";

const folder = new URL("../plugins/com.salesforce/www/", import.meta.url);
const promised = (func) => (...args) => new Promise((resolve, reject) => func(...args, resolve, reject));

test("HT-7 oauth gives credentials, and an error without a user", onTestBridge, async (t) => {
  const { cordova, bridge } = await withPage(t);
  const oauth = cordova.require("com.salesforce.plugin.oauth");
  const credentials = await promised(oauth.getAuthCredentials)();
  assert.equal(credentials.userId, "005000000000001AAA");
  assert.equal(credentials.communityId, null);
  bridge.loggedIn = false;
  await assert.rejects(promised(oauth.getAuthCredentials)(), (error) => error === "Not authenticated");
  assert.equal((await promised(oauth.authenticate)()).accessToken, "token");
  assert.equal(await promised(oauth.getAppHomeUrl)(), "");
});

test("HT-7 and HT-10 a page sends its logout once", async (t) => {
  const { cordova, bridge, fence } = await withPage(t);
  const oauth = cordova.require("com.salesforce.plugin.oauth");
  const accounts = cordova.require("com.salesforce.plugin.sfaccountmanager");
  oauth.logout();
  oauth.logout();
  accounts.logout();
  accounts.logout({ userId: "x" });
  await fence();
  const sent = bridge.calls.filter((one) => /logout/.test(one.action));
  assert.deepEqual(plain(sent.map((one) => [one.action, one.args])), [["logoutCurrentUser", []], ["logout", [null]]]);
});

test("a logout that is refused is reported, and may be requested again", async (t) => {
  const { cordova, fence } = await withPage(t);
  const oauth = cordova.require("com.salesforce.plugin.oauth");
  const accounts = cordova.require("com.salesforce.plugin.sfaccountmanager");
  const outcomes = [];
  const { exec } = cordova;
  cordova.exec = (success, fail, service, action) => (/logout/i.test(action) ? fail("refused") : exec(success, fail, service, action, []));
  oauth.logout(null, (error) => outcomes.push(error));
  oauth.logout();
  accounts.logout(null, null, (error) => outcomes.push(error));
  cordova.exec = (success, fail, service, action) => (/logout/i.test(action) ? success() : exec(success, fail, service, action, []));
  oauth.logout(() => outcomes.push("done"));
  oauth.logout(() => outcomes.push("twice"));
  accounts.logout(null, () => outcomes.push("done"));
  await fence();
  assert.deepEqual(outcomes, ["refused", "refused", "done", "done"]);
});

test("HT-10 accounts are listed, and switched to by object or chooser", onTestBridge, async (t) => {
  const { cordova, bridge, fence } = await withPage(t);
  const accounts = cordova.require("com.salesforce.plugin.sfaccountmanager");
  const users = await promised(accounts.getUsers)();
  assert.equal(users[0].username, "ada@example.com");
  assert.equal((await promised(accounts.getCurrentUser)()).userId, users[0].userId);
  accounts.switchToUser(users[0]);
  accounts.switchToUser();
  await fence();
  const sent = bridge.calls.filter((one) => one.action === "switchToUser").map((one) => one.args.length);
  assert.deepEqual(sent, [1, 0]);
  const account = new accounts.UserAccount("t", "r", "l", "i", "s", "o", "u", "n", "c");
  assert.deepEqual(plain(account), {
    authToken: "t", refreshToken: "r", loginServer: "l", idUrl: "i", instanceServer: "s", orgId: "o", userId: "u", username: "n", clientId: "c",
  });
});

test("HT-8 the network plug-in fills in every member of a request", async (t) => {
  const { cordova, bridge } = await withPage(t);
  const network = cordova.require("com.salesforce.plugin.network");
  const id = await bridge.org.create("Account", { Name: "a" });
  const path = `/v66.0/sobjects/Account/${id}`;
  const record = await new Promise((resolve, reject) => network.sendRequest("/services/data", path, resolve, reject));
  assert.equal(record.Name, "a");
  assert.deepEqual(plain(bridge.calls.at(-1).args), [{
    endPoint: "/services/data", path, method: "GET", queryParams: {}, headerParams: {}, fileParams: {}, returnBinary: false,
    doesNotRequireAuthentication: false,
  }]);
  const error = await new Promise((resolve, reject) => network.sendRequest("/services/data", "/v66.0/sobjects/Account/no", reject, resolve));
  assert.equal(JSON.parse(error).response.statusCode, 404);
});

test("HT-9 sdkinfo tells versions, and empty features are not sent", onTestBridge, async (t) => {
  const { cordova, bridge } = await withPage(t, { testRunner: true });
  const sdkinfo = cordova.require("com.salesforce.plugin.sdkinfo");
  const info = await promised(sdkinfo.getInfo)();
  assert.equal(info.sdkVersion, "14.0.0");
  assert.ok(info.forcePluginsAvailable.includes("com.salesforce.testrunner"));
  await promised(sdkinfo.registerAppFeature)("XX");
  sdkinfo.registerAppFeature("");
  sdkinfo.registerAppFeature(null);
  assert.deepEqual([...bridge.features], ["XX"]);
  await promised(sdkinfo.unregisterAppFeature)("XX");
  assert.deepEqual([...bridge.features], []);
  assert.deepEqual(plain(new sdkinfo.SDKInfo("v", ["p"], "a", "1", { isLocal: true })),
    { sdkVersion: "v", forcePluginsAvailable: ["p"], appName: "a", appVersion: "1", bootConfig: { isLocal: true } });
});

test("HT-14 the test runner reports results, and is unknown without its option", onTestBridge, async (t) => {
  const { window, bridge } = await withPage(t, { testRunner: true });
  await promised(window.navigator.testrunner.onReadyForTests)();
  await new Promise((resolve, reject) =>
    window.navigator.testrunner.onTestComplete("testX", true, "fine", { testDuration: 12 }, resolve, reject));
  assert.deepEqual(plain(bridge.tests), [{ testName: "testX", success: true, message: "fine", testDuration: 12 }]);
  const other = await withPage(t);
  await assert.rejects(promised(other.window.navigator.testrunner.onReadyForTests)(), (error) => /invalid action/.test(error));
  other.window.navigator.testrunner.onTestComplete("testX", false, "no", undefined);
});

test("HT-14 the native side selects a suite of the page and starts its tests", onTestBridge, async (t) => {
  const { window, cordova, bridge, fence } = await withPage(t, { testRunner: true });
  const runner = window.navigator.testrunner;
  assert.equal(cordova.require("com.salesforce.plugin.testrunner").setTestSuite, runner.setTestSuite);
  assert.throws(() => runner.startTest("testOne"), /no test suite.*setTestSuite/);
  assert.throws(() => runner.setTestSuite("Missing"), /'Missing'.*no global function/);
  let created = 0;
  for (const name of ["FirstSuite", "SecondSuite"]) {
    window[name] = function () {
      created += 1;
      this.startTest = (test) => runner.onTestComplete(`${name}.${test}`, true, "", { testDuration: 3 });
    };
  }
  assert.equal(runner.testSuite, null);
  runner.setTestSuite("FirstSuite");
  runner.startTest("testOne");
  runner.setTestSuite("FirstSuite");
  runner.startTest("testTwo");
  assert.throws(() => runner.setTestSuite("Missing"), /no global function/);
  assert.ok(runner.testSuite instanceof window.FirstSuite);
  runner.setTestSuite("SecondSuite");
  runner.startTest("testOne");
  await fence();
  assert.equal(created, 2);
  assert.deepEqual(plain(bridge.tests.map((one) => one.testName)),
    ["FirstSuite.testOne", "FirstSuite.testTwo", "SecondSuite.testOne"]);
});

test("HT-12 the logger writes text into the page's sections in debug mode", async (t) => {
  const { cordova, page, window } = await withPage(t);
  const logger = cordova.require("com.salesforce.util.logger");
  const sections = { console: [], errors: [] };
  page.document.getElementById = (id) => ({ appendChild: (line) => sections[id].push(line.text) });
  logger.logToConsole("quiet");
  window.debugMode = true;
  logger.logToConsole("<b>loud</b>");
  logger.logError("bad");
  assert.equal(sections.console.length, 1);
  assert.match(sections.console[0], /^At \d+ ms: <b>loud<\/b>$/);
  assert.match(sections.errors[0], /bad$/);
  assert.ok(page.messages.includes("log: jslog: quiet"));
});

test("HT-12 secret parameters are redacted in any case", async (t) => {
  const { cordova } = await withPage(t);
  const { sanitizeUrlParamsForLogging } = cordova.require("com.salesforce.util.logger");
  const url = "https://x/y?SID=1&keep=2&sid=3#access_token=4&state=5";
  assert.equal(sanitizeUrlParamsForLogging(url, ["sid", "Access_Token"]),
    "https://x/y?SID=[redacted]&keep=2&sid=[redacted]#access_token=[redacted]&state=5");
  assert.equal(sanitizeUrlParamsForLogging(url, "keep"), url.replace("keep=2", "keep=[redacted]"));
});

test("HT-11 the status event is logged and fired", async (t) => {
  const { cordova, page } = await withPage(t);
  const { EVENT, sendStatusEvent } = cordova.require("com.salesforce.util.event");
  const codes = [];
  page.document.addEventListener("bootstrapStatusEvent", (event) => codes.push([event.code, event.isError]));
  for (const name of ["AUTHENTICATING", "STARTING", "OFFLINE"]) sendStatusEvent(EVENT[name]);
  assert.deepEqual(codes, [[0, false], [1, false], [2, true]]);
  assert.ok(page.messages.some((line) => line.startsWith("error: jslog")));
});

test("HT-11 deviceIsOnline asks Cordova's connection first", async (t) => {
  const { cordova, window } = await withPage(t);
  const { deviceIsOnline } = cordova.require("com.salesforce.util.bootstrap");
  assert.equal(deviceIsOnline(), true);
  window.navigator.onLine = false;
  assert.equal(deviceIsOnline(), false);
  window.Connection = { NONE: "none", UNKNOWN: "unknown", WIFI: "wifi" };
  for (const [type, expected] of [["wifi", true], ["none", false], ["unknown", false]]) {
    window.navigator.connection = { type };
    assert.equal(deviceIsOnline(), expected);
  }
});

test("HT-12 the promiser resolves, rejects and turns a thrown error into a rejection", async (t) => {
  const { cordova } = await withPage(t);
  const { promiser } = cordova.require("com.salesforce.util.promiser");
  const object = {
    ok: (value, success) => success(value),
    bad: (success, error) => error("no"),
    broken: () => { throw new Error("broken"); },
  };
  assert.equal(await promiser(object, "ok", "object")(7), 7);
  await assert.rejects(promiser(object, "bad")(), (error) => error === "no");
  await assert.rejects(promiser(object, "broken")(), { message: "broken" });
});

test("HT-13 push needs a push plug-in, and delivers both forms of a message", async (t) => {
  const { cordova, window } = await withPage(t);
  const push = cordova.require("com.salesforce.util.push");
  const reason = await new Promise((resolve) => push.registerPushNotificationHandler(() => {}, resolve));
  assert.match(reason, /no push plug-in/);
  const listeners = {};
  const finished = [];
  window.PushNotification = {
    init: () => ({ on: (event, listener) => (listeners[event] = listener), finish: (ok, fail, id) => finished.push(id) }),
  };
  const received = [];
  push.registerPushNotificationHandler((message) => received.push(message), (error) => received.push(error));
  listeners.notification({ title: "t", additionalData: { foreground: true, notId: 3, x: 1 } });
  assert.deepEqual(plain(received), [
    { title: "t", additionalData: { foreground: true, notId: 3, x: 1 }, payload: { foreground: true, notId: 3, x: 1 }, foreground: true },
  ]);
  assert.deepEqual(finished, [3]);
});

test("the list of plug-ins names every file, and all say the same version", async (t) => {
  const { cordova } = await withPage(t);
  const files = (await readdir(folder)).sort();
  const list = cordova.require("cordova/plugin_list");
  assert.deepEqual(plain(list.map((one) => one.file.split("/").pop()).sort()), files);
  const loader = await readFile(new URL("../libs/cordova.force.js", folder), "utf8");
  for (const file of files) {
    const text = await readFile(new URL(file, folder), "utf8");
    assert.match(text, new RegExp(`cordova.define\\("${file.slice(0, -3)}"`));
    const version = /VERSION = "([^"]+)"/.exec(text);
    if (version) assert.equal(version[1], list.metadata["com.salesforce"], file);
    assert.ok(loader.includes(`"${file.slice("com.salesforce.".length, -3)}"`), file);
  }
});
