import assert from "node:assert/strict";
import test from "node:test";
import { onTestBridge, random, withPage } from "./support/harness.mjs";
import { startBridge } from "./bridge.mjs";
import { Page, plain } from "./support/page.mjs";

const file = (name) => new URL(`../plugins/com.salesforce/libs/${name}`, import.meta.url).href;
const LIBS = ["force.js", "force+files.js", "force+promise.js"].map(file);
const V = "/services/data/v66.0";

async function container(t, options) {
  const all = await withPage(t, options, ["cordova.js", ...LIBS]);
  const { force, forceJsClient } = all.window;
  const lastRequest = () => plain(all.bridge.org.requests.at(-1));
  return { ...all, force, forceJsClient, lastRequest };
}

// Without a container, with what a handler of requests sees.
async function handled(apiVersion = "v66.0") {
  const page = new Page("http://localhost/app/index.html");
  for (const lib of LIBS) await page.script(lib);
  const seen = [];
  page.window.force.init({ apiVersion, requestHandler: (obj, ok, fail, binary, open) => {
    seen.push(plain({ ...obj, binary, open }));
    return "returned";
  } });
  return { page, force: page.window.force, last: () => seen.at(-1) };
}

// ------------------------------------------------------------------------------------------ texts

test("parseUrl takes an address apart", async () => {
  const { force } = await handled();
  const parts = (url) => { const p = force.parseUrl(url); return [p.protocol, p.host, p.hostname, p.port, p.path, plain(p.params), p.hash]; };
  assert.deepEqual(parts("https://server.com"), ["https:", "server.com", "server.com", undefined, "", {}, ""]);
  assert.deepEqual(parts("https://server.com:1234/p/q?a=b&c=%20d#hash"),
    ["https:", "server.com:1234", "server.com", "1234", "/p/q", { a: "b", c: " d" }, "#hash"]);
  assert.deepEqual(parts("https://server.com#hash"), ["https:", "server.com", "server.com", undefined, "", {}, "#hash"]);
  assert.deepEqual(parts("https://s/query?q=select%20Id%2CName%20from%20A%20where%20Id%20%3D%20'1'")[5],
    { q: "select Id,Name from A where Id = '1'" });
  assert.throws(() => force.parseUrl("/relative"), /not an absolute URL/);
});

test("computeEndPointIfMissing splits off the first two parts", async () => {
  const { force } = await handled();
  const split = (endPoint, path) => plain(force.computeEndPointIfMissing(endPoint, path));
  assert.deepEqual(split(undefined, "/services/data"), { endPoint: "/services/data", path: "/" });
  assert.deepEqual(split(undefined, "/services/data/v1/sobjects/Account/"), { endPoint: "/services/data", path: "/v1/sobjects/Account" });
  assert.deepEqual(split(undefined, "/services/apexrest/a?u=https://x/"), { endPoint: "/services/apexrest", path: "/a?u=https://x/" });
  assert.deepEqual(split("/services/data", "/versions"), { endPoint: "/services/data", path: "/versions" });
  assert.deepEqual(split("", "/x/y"), { endPoint: "", path: "/x/y" });
  assert.deepEqual(split(undefined, "https://other.example/x/y/z"), { path: "https://other.example/x/y/z" });
});

// ------------------------------------------------------------------------------------------ functions

test("HT-36 each function makes the request of the table", async () => {
  const { force, last } = await handled();
  const data = { Name: "a" };
  const cases = [
    ["versions", [], "GET", "/services/data/"],
    ["resources", [], "GET", V],
    ["describeGlobal", [], "GET", `${V}/sobjects`],
    ["metadata", ["A"], "GET", `${V}/sobjects/A`],
    ["describe", ["A"], "GET", `${V}/sobjects/A/describe`],
    ["getPickListValues", ["A"], "GET", `${V}/sobjects/A/describe`],
    ["describeLayout", ["A", "012"], "GET", `${V}/sobjects/A/describe/layouts/012`],
    ["describeLayout", ["A", null], "GET", `${V}/sobjects/A/describe/layouts/`],
    ["query", ["select 1"], "GET", `${V}/query`, { params: { q: "select 1" } }],
    ["queryAll", ["select 1"], "GET", `${V}/queryAll`, { params: { q: "select 1" } }],
    ["search", ["find x"], "GET", `${V}/search`, { params: { q: "find x" } }],
    ["queryMore", ["https://org.example/services/data/v66.0/query/01g-2000"], "GET", `${V}/query/01g-2000`],
    ["queryMore", [`${V}/query/01g-2000?x=1`], "GET", `${V}/query/01g-2000`, { params: { x: "1" } }],
    ["retrieve", ["A", "1"], "GET", `${V}/sobjects/A/1`],
    ["retrieve", ["A", "1", ["Id", "Name"]], "GET", `${V}/sobjects/A/1`, { params: { fields: "Id,Name" } }],
    ["retrieve", ["A", "1", "Id,Name"], "GET", `${V}/sobjects/A/1`, { params: { fields: "Id,Name" } }],
    ["create", ["A", data], "POST", `${V}/sobjects/A/`, { data }],
    ["update", ["A", { Id: "1", id: "x", attributes: {}, Name: "a" }], "PATCH", `${V}/sobjects/A/1`, { data }],
    ["update", ["A", "1", data], "PATCH", `${V}/sobjects/A/1`, { data }],
    ["upsert", ["A", "Ext__c", "a/b", data], "PATCH", `${V}/sobjects/A/Ext__c/a%2Fb`, { data }],
    ["upsert", ["A", "Ext__c", "", data], "POST", `${V}/sobjects/A/Ext__c/`, { data }],
    ["del", ["A", "1"], "DELETE", `${V}/sobjects/A/1`],
    ["apexrest", ["/mine"], "GET", "/services/apexrest/mine"],
    ["apexrest", ["mine"], "GET", "/services/apexrest/mine"],
    ["apexrest", ["/services/apexrest/mine"], "GET", "/services/apexrest/mine"],
    ["apexrest", [{ path: "/mine", method: "POST", data }], "POST", "/services/apexrest/mine", { data }],
    ["chatter", [{ path: "/feeds" }], "GET", `${V}/chatter/feeds`],
    ["getAttachment", ["00P"], "GET", `${V}/sobjects/Attachment/00P/Body`, { binary: true }],
    ["anyrest", ["/any/thing", true, true, { a: 1 }], "GET", "/any/thing", { endPoint: "", params: { a: 1 }, binary: true, open: true }],
    ["anyrest", ["https://api.example/x", false, true], "GET", "https://api.example/x", { open: true }],
  ];
  for (const [name, args, method, path, rest] of cases) {
    assert.equal(force[name](...args), "returned", name);
    assert.deepEqual(last(), { path, method, binary: false, open: false, ...rest }, `${name} ${JSON.stringify(args)}`);
  }
  let message;
  force.chatter({}, null, (error) => (message = error));
  assert.match(message, /must specify a path/);
});

test("HT-37 files: paths, pages and shares", async () => {
  const { force, last } = await handled("v42.0");
  const C = "/services/data/v42.0/connect/files";
  const cases = [
    ["ownedFilesList", [], `${C}/users/me`], ["ownedFilesList", ["u", 3], `${C}/users/u`, { page: 3 }], ["ownedFilesList", [null, 0], `${C}/users/me`],
    ["filesInUsersGroups", [null, 1], `${C}/users/me/filter/groups`, { page: 1 }], ["filesSharedWithUser", ["u"], `${C}/users/u/filter/sharedwithme`],
    ["fileDetails", ["f"], `${C}/f`], ["fileDetails", ["f", "2"], `${C}/f`, { versionNumber: "2" }],
    ["batchFileDetails", [["f", "g", "h"]], `${C}/batch/f,g,h`], ["fileShares", ["f", 2], `${C}/f/file-shares`, { page: 2 }],
  ];
  for (const [name, args, path, params] of cases) {
    force[name](...args);
    const { headerParams, ...request } = last();
    assert.deepEqual(request, { path, method: "GET", binary: false, open: false, ...(params ? { params } : {}) }, `${name} ${args}`);
    assert.deepEqual(headerParams, { "X-Chatter-Entity-Encoding": "false" });
  }
  force.addFileShare("f", "e", "V");
  assert.deepEqual(last().data, { ContentDocumentId: "f", LinkedEntityId: "e", ShareType: "V" });
  assert.equal(last().path, "/services/data/v42.0/sobjects/ContentDocumentLink");
  force.deleteFileShare("s");
  assert.deepEqual([last().method, last().path, last().data], ["DELETE", "/services/data/v42.0/sobjects/ContentDocumentLink/s", undefined]);
  assert.equal(force.fileRenditionPath("f", null, "PDF", 2), "/v42.0/connect/files/f/rendition?type=PDF&page=2");
  assert.equal(force.fileRenditionPath("f"), "/v42.0/connect/files/f/rendition?type=THUMB120BY90");
  assert.equal(force.fileContentsPath("f", 3), "/v42.0/connect/files/f/content?versionNumber=3");
  for (const call of [() => force.deleteFileShare(null), () => force.addFileShare("f", null, "V"), () => force.fileDetails(""), () => force.batchFileDetails(["f", null])]) {
    assert.throws(call, /IllegalArgumentException/);
  }
});

test("HT-34 init changes what it names, the version also for the files library", async () => {
  const { force, last } = await handled("v50.0");
  assert.equal(force.apiVersion, "v50.0");
  force.fileDetails("f");
  assert.match(last().path, /v50.0/);
  force.init({});
  assert.equal(force.apiVersion, "v50.0");
  assert.equal(force.isAuthenticated(), false);
  force.init({ accessToken: "t", userId: "u" });
  assert.deepEqual([force.isAuthenticated(), force.getUserId()], [true, "u"]);
  force.discardToken();
  assert.equal(force.isAuthenticated(), false);
});

// ------------------------------------------------------------------------------------------ container

test("HT-34 login in the container waits for deviceready and falls back to authenticate", onTestBridge, async (t) => {
  const { force, bridge } = await container(t);
  const count = await new Promise((resolve, reject) => force.login(function () { resolve(arguments.length); }, reject));
  assert.equal(count, 0);
  assert.deepEqual([force.isAuthenticated(), force.getUserId()], [true, "005000000000001AAA"]);
  bridge.loggedIn = false;
  await new Promise((resolve, reject) => force.login(resolve, reject));
  assert.deepEqual(bridge.calls.slice(-2).map((one) => one.action), ["getAuthCredentials", "authenticate"]);
});

test("HT-35 in the container every request goes through the network plug-in", onTestBridge, async (t) => {
  const { forceJsClient, bridge, lastRequest } = await container(t);
  const { id } = await forceJsClient.create("Account", { Name: "a" });
  assert.deepEqual(lastRequest(), { endPoint: "/services/data", path: "/v66.0/sobjects/Account", method: "POST", queryParams: { Name: "a" }, headerParams: {} });
  await forceJsClient.update("Account", { Id: id, Name: "b", attributes: { type: "Account" } });
  assert.equal((await forceJsClient.retrieve("Account", id, ["Name"])).Name, "b");
  assert.equal((await forceJsClient.retrieve("Account", id)).Name, "b");
  const found = await forceJsClient.query(`SELECT Id, Name FROM Account WHERE Id = '${id}'`);
  assert.deepEqual([found.totalSize, found.records[0].Name], [1, "b"]);
  assert.equal(await forceJsClient.del("Account", id), undefined);
  await assert.rejects(forceJsClient.retrieve("Account", id), (error) => JSON.parse(error).response.statusCode === 404);
  assert.equal((await forceJsClient.describeLayout("Account")).detailLayoutSections.length, 0);
  await forceJsClient.apexrest({ path: "/simpleAccounts?namePattern=x%25", method: "GET" });
  assert.equal(bridge.calls.at(-1).args[0].path, "/simpleAccounts?namePattern=x%25");
});

test("HT-35 a content type becomes a header, and an absolute address has no endpoint", async (t) => {
  const { force, bridge } = await container(t);
  const request = (obj) => new Promise((resolve) => force.request(obj, resolve, resolve));
  await request({ path: "https://api.example/x", contentType: "text/plain", headerParams: { A: "b" } });
  const [message] = plain(bridge.calls.at(-1).args);
  assert.equal("endPoint" in message, false);
  assert.deepEqual(message.headerParams, { A: "b", "Content-Type": "text/plain" });
});

test("HT-35 a request before deviceready waits for the network plug-in", onTestBridge, async (t) => {
  const bridge = await startBridge();
  const page = new Page(bridge.url + "index.html");
  t.after(async () => {
    page.unload();
    await bridge.close();
  });
  for (const script of ["cordova.js", ...LIBS]) await page.script(script);
  page.window.force.init({ accessToken: "t", instanceURL: "https://org.example", useProxy: false });
  const found = page.window.forceJsClient.query("SELECT Id FROM Account");
  page.finish();
  assert.equal((await found).totalSize, 0);
  assert.equal(bridge.org.requests.length, 1);
  page.window.cordova.define.remove("com.salesforce.plugin.network");
  await assert.rejects(page.window.forceJsClient.query("x"), (error) => /no com.salesforce.plugin.network/.test(error));
});

test("HT-35 callbacks may be left out", onTestBridge, async (t) => {
  const { force, call, page } = await container(t);
  force.query("SELECT Id FROM Account");
  force.query("nonsense");
  await call("test", "slow", [1, 20]);
  assert.deepEqual(page.errors, []);
});

test("HT-37 the promise client has every function of the table", async (t) => {
  const { forceJsClient, force } = await container(t);
  const local = /^(init|request|oauthCallback|isAuthenticated|getUserId|discardToken|parseUrl|compute.*|file(Rendition|Contents)Path|apiVersion)$/;
  assert.deepEqual(Object.keys(forceJsClient).sort(), Object.keys(force).filter((name) => !local.test(name)).sort());
});

// ------------------------------------------------------------------------------------------ browser

class FakeXhr {
  static sent = [];
  static responses = [];
  headers = {};
  open(method, url) { Object.assign(this, { method, url }); }
  setRequestHeader(name, value) { this.headers[name] = value; }
  send(body) {
    FakeXhr.sent.push({ method: this.method, url: this.url, headers: this.headers, body });
    const [status, text] = FakeXhr.responses.shift();
    setTimeout(() => {
      Object.assign(this, { status, responseText: text });
      if (status === 0) this.onerror();
      else this.onload();
    }, 0);
  }
}

async function browser(settings) {
  const page = new Page("http://localhost/app/index.html");
  for (const lib of LIBS) await page.script(lib);
  FakeXhr.sent = [];
  page.window.XMLHttpRequest = FakeXhr;
  page.window.force.init({ accessToken: "t", instanceURL: "https://org.example", useProxy: false, ...settings });
  return page;
}

test("HT-35 in a browser a request carries the token and its headers", async () => {
  const { window } = await browser({});
  FakeXhr.responses = [[200, '{"records":[]}']];
  assert.deepEqual(plain(await window.forceJsClient.query("select 1")), { records: [] });
  const [sent] = FakeXhr.sent;
  assert.equal(sent.url, `https://org.example${V}/query?q=select%201`);
  assert.deepEqual(sent.headers, {
    Accept: "application/json", "Cache-Control": "no-store", "X-Connect-Bearer-Urls": "true", Authorization: "Bearer t",
  });
});

test("HT-35 through a proxy the target is named in a header", async () => {
  const { window } = await browser({ useProxy: true, proxyURL: "https://proxy.example" });
  FakeXhr.responses = [[201, '{"id":"1"}']];
  await window.forceJsClient.create("Account", { Name: "a" });
  const [sent] = FakeXhr.sent;
  assert.equal(sent.url, `https://proxy.example${V}/sobjects/Account/`);
  assert.equal(sent.headers["Target-URL"], "https://org.example");
  assert.equal(sent.headers["Content-Type"], "application/json");
  assert.equal(sent.body, '{"Name":"a"}');
});

test("HT-35 a 401 leads to one refresh and one replay with the same flags, then to an error", async () => {
  const { window } = await browser({ refreshToken: "r", loginURL: "https://login.example", appId: "app" });
  FakeXhr.responses = [[401, "[]"], [200, '{"access_token":"t2","instance_url":"https://org2.example"}'], [200, "{}"]];
  await window.forceJsClient.query("select 1");
  assert.deepEqual(FakeXhr.sent.map((one) => one.url.split("?")[0]),
    [`https://org.example${V}/query`, "https://login.example/services/oauth2/token", `https://org2.example${V}/query`]);
  assert.equal(FakeXhr.sent[2].headers.Authorization, "Bearer t2");
  assert.equal(FakeXhr.sent[1].body, "grant_type=refresh_token&refresh_token=r&client_id=app");
  FakeXhr.responses = [[401, "[]"], [200, '{"access_token":"t3"}'], [401, '[{"errorCode":"INVALID_SESSION_ID"}]']];
  await assert.rejects(window.forceJsClient.query("select 1"), (error) => error[0].errorCode === "INVALID_SESSION_ID");
  FakeXhr.responses = [[401, "[]"], [400, '{"error":"invalid_grant"}']];
  await assert.rejects(window.forceJsClient.query("select 1"), (error) => error.error === "invalid_grant");
});

test("HT-35 without a token nothing is sent, unless none is needed", async () => {
  const { window } = await browser({ accessToken: "" });
  await assert.rejects(window.forceJsClient.query("select 1"), (error) => error === "No access token. Login and try again.");
  FakeXhr.responses = [[200, "text"]];
  assert.equal(await window.forceJsClient.anyrest("https://api.example/x", false, true, { a: 1 }), "text");
  assert.equal(FakeXhr.sent[0].url, "https://api.example/x?a=1");
  assert.equal(FakeXhr.sent[0].headers.Authorization, undefined);
  const { window: loggedIn } = await browser({ refreshToken: "r" });
  FakeXhr.responses = [[401, "no"], [200, "{}"]];
  await assert.rejects(loggedIn.forceJsClient.anyrest("https://api.example/x", false, false), (error) => error === "no");
  await loggedIn.forceJsClient.anyrest("https://org.example/y", false, false);
  assert.deepEqual(FakeXhr.sent.map((one) => one.headers.Authorization), [undefined, "Bearer t"]);
  FakeXhr.responses = [[0]];
  await assert.rejects(window.forceJsClient.anyrest("https://api.example/x", false, true), (error) => /No response/.test(error.error));
});

test("HT-34 the login in a browser opens a window and takes the token from its callback", async () => {
  const page = await browser({ accessToken: "", appId: "app", loginURL: "https://login.example" });
  const { force } = page.window;
  const opened = [];
  page.window.open = (url) => opened.push(new URL(url));
  const login = () => new Promise((resolve, reject) => force.login(resolve, reject));
  const first = login();
  const { searchParams, origin, pathname } = opened[0];
  assert.equal(origin + pathname, "https://login.example/services/oauth2/authorize");
  assert.equal(searchParams.get("redirect_uri"), "http://localhost/app/oauthcallback.html");
  const state = searchParams.get("state");
  force.oauthCallback(`http://localhost/cb#access_token=a%20b&instance_url=https%3A%2F%2Forg&id=https%3A%2F%2Flogin%2Fid%2F00D%2F005X&state=${state}`);
  await first;
  assert.deepEqual([force.isAuthenticated(), force.getUserId()], [true, "005X"]);
  const second = login();
  force.oauthCallback("http://localhost/cb?error=access_denied&error_description=no");
  await assert.rejects(second, (error) => error.error_description === "no");
  const third = login();
  force.oauthCallback("http://localhost/cb#access_token=stolen&state=other");
  await assert.rejects(third, (error) => error.status === "access_denied");
});

test("any texts survive in queries, paths and bodies", async (t) => {
  const seed = Date.now();
  t.diagnostic(`seed ${seed}`);
  const draw = random(seed);
  const characters = [..."ab09 &=+?#%/:;,'\"\\<>{}[]|^`~!@$()*._-", "\u00e9", "\u4e2d", "\u{1f600}", "\n", "\t", "\u2028"];
  const text = () => Array.from({ length: draw.below(12) }, () => draw.pick(characters)).join("");
  const { window } = await browser({});
  for (let round = 0; round < 300; round++) {
    FakeXhr.sent = [];
    FakeXhr.responses = [[200, "{}"], [200, "{}"], [204, ""]];
    const [q, name, id, value] = [text(), text() || "x", text() || "x", text()];
    await window.forceJsClient.query(q);
    await window.forceJsClient.retrieve(name, id, [value]);
    await window.forceJsClient.update(name, { Id: id, [name]: value });
    const [query, retrieve, update] = FakeXhr.sent.map((one) => ({ ...one, url: new URL(one.url) }));
    assert.equal(query.url.searchParams.get("q"), q);
    assert.equal(retrieve.url.searchParams.get("fields"), value);
    const parts = (url) => url.pathname.split("/").slice(-2).map(decodeURIComponent);
    if (![name, id].some((part) => part === "." || part === "..")) {
      assert.deepEqual(parts(retrieve.url), [name, id]);
      assert.deepEqual(parts(update.url), [name, id]);
    }
    const { Id, attributes, id: ignored, ...rest } = { Id: id, [name]: value };
    assert.deepEqual(JSON.parse(update.body), rest);
    assert.deepEqual(plain(window.force.parseUrl(FakeXhr.sent[0].url).params), q === "" ? { q: "" } : { q });
  }
});
