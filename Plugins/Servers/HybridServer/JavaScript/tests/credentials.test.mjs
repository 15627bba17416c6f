// The page that logs in for tests.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import test from "node:test";
import { Browser, chromium } from "../../../../../Tools/Scripts/chromium.mjs";

const skip = chromium ? false : "there is no Chromium on this machine";
const page = new URL("../mock/credentials.html", import.meta.url);

/** A login server and the page, on one port. `respond(query)` gives the parameters behind # of the redirect. */
async function withLogin(t, respond) {
  const server = createServer(async ({ url }, response) => {
    const { pathname, searchParams } = new URL(url, "http://localhost");
    if (pathname === "/credentials.html") return response.setHeader("Content-Type", "text/html").end(await readFile(page));
    if (pathname !== "/services/oauth2/authorize") return response.writeHead(404).end();
    const fragment = new URLSearchParams(respond(searchParams));
    return response.writeHead(302, { Location: `${searchParams.get("redirect_uri")}#${fragment}` }).end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const browser = await Browser.start();
  t.after(async () => {
    await browser.close();
    await new Promise((resolve) => server.close(resolve));
  });
  const origin = `http://127.0.0.1:${server.address().port}`;
  await browser.open(`${origin}/credentials.html`);
  await browser.evaluate(`(() => {
    const { server, clientId } = document.forms[0];
    server.value = "${origin}/";
    clientId.value = "key";
    document.querySelector("button").click();
  })()`);
  await browser.waitFor(`document.querySelector("[role=status]").textContent !== ""`);
  return { browser, origin, status: await browser.evaluate(`document.querySelector("[role=status]").textContent`) };
}

const granted = (query) => ({
  access_token: "secret", refresh_token: "refresh", instance_url: "https://org.example.com",
  id: "https://login.example.com/id/00D000000000001AAA/005000000000001AAA", state: query.get("state"), scope: "api id refresh_token",
});

test("HT-14 the page logs in with the user-agent flow and shows the credentials that tests read", { skip }, async (t) => {
  let query = null;
  const { browser, origin, status } = await withLogin(t, (sent) => granted((query = sent)));
  assert.equal(status, "Save this as test_credentials.json.");
  assert.deepEqual(
    [query.get("response_type"), query.get("client_id"), query.get("redirect_uri")],
    ["token", "key", `${origin}/credentials.html`],
  );
  assert.deepEqual(JSON.parse(await browser.evaluate(`document.querySelector("pre").textContent`)), {
    test_client_id: "key", test_login_domain: origin.slice("http://".length), test_redirect_uri: `${origin}/credentials.html`,
    refresh_token: "refresh", instance_url: "https://org.example.com",
    identity_url: "https://login.example.com/id/00D000000000001AAA/005000000000001AAA", access_token: "__NOT_REQUIRED__",
    organization_id: "00D000000000001AAA", user_id: "005000000000001AAA", community_url: null, scopes: ["api", "id", "refresh_token"],
  });
  assert.equal(await browser.evaluate("location.hash + document.body.innerText.includes('secret')"), "false");
});

test("HT-14 a refused login and a response of another login show no credentials", { skip }, async (t) => {
  const refused = await withLogin(t, () => ({ error: "access_denied", error_description: "end-user denied authorization" }));
  assert.equal(refused.status, "The login failed: end-user denied authorization");
  const forged = await withLogin(t, (query) => ({ ...granted(query), state: "other" }));
  assert.match(forged.status, /belongs to no login of this page/);
  for (const { browser } of [refused, forged]) assert.equal(await browser.evaluate(`document.querySelector("pre").hidden`), true);
});
