// A person uses the REST explorer on `fieldforce hybrid serve` and the mock org.
import assert from "node:assert/strict";
import test from "node:test";
import { openSample, skipWithoutProgram as skip } from "./support/samples.mjs";

async function withExplorer(t, options) {
  const prepare = async (org) => {
    for (const LastName of ["Byrne", "Castro"]) await org.create("Contact", { LastName });
  };
  const sample = await openSample(t, "RestExplorer", { prepare, ...options });
  const { person, startUrl } = sample;
  const choose = (request) => person.choose("Request", request);
  const send = async (seen) => {
    await person.click("button", "Send");
    // The list of earlier requests may have the same text.
    await person.misses("Waiting for the server");
    await person.sees(seen);
  };
  /** The body that the page shows, as JSON. */
  const body = async () => JSON.parse(await person.browser.evaluate("document.querySelector('.response pre').textContent"));
  await person.open(startUrl);
  await person.find("combobox", "Request");
  return { ...sample, choose, send, body };
}

test("HT-63 any request is sent, and its response is shown", { skip }, async (t) => {
  const { person, org, choose, send, body } = await withExplorer(t);
  assert.deepEqual(await person.nameless(), []);
  let id;

  await t.test("a query, with the line of its request", async () => {
    await choose("Query");
    await person.type("textbox", "SOQL", "SELECT Id, LastName FROM Contact ORDER BY LastName");
    await send("Success");
    const { records, totalSize } = await body();
    assert.deepEqual([totalSize, records.map(({ LastName }) => LastName)], [2, ["Byrne", "Castro"]]);
    await person.sees("GET /services/data/v66.0/query?q=SELECT");
    id = records[0].Id;
    await person.picture("rest-explorer");
  });

  await t.test("a record is created, updated, retrieved and deleted", async () => {
    await choose("Create a record");
    await person.type("textbox", "Fields (JSON)", '{"LastName": "Okafor"}');
    await send("Success");
    const created = (await body()).id;
    await choose("Update a record");
    await person.type("textbox", "Id", created);
    await person.type("textbox", "Fields (JSON)", '{"Title": "Diver"}');
    await send("The response has no body.");
    await choose("Retrieve a record");
    await person.type("textbox", "Id", created);
    await person.type("textbox", "Fields", "Title, LastName");
    await send("Okafor");
    const { Title, LastName } = await body();
    assert.deepEqual([Title, LastName], ["Diver", "Okafor"]);
    await choose("Delete a record");
    await person.type("textbox", "Id", created);
    await send("The response has no body.");
    const records = await org.query("SELECT LastName FROM Contact ORDER BY LastName");
    assert.deepEqual(records.map((record) => record.LastName), ["Byrne", "Castro"]);
  });

  await t.test("any path and method, and requests that depend on each other", async () => {
    await choose("Any request");
    await person.choose("Method", "PATCH");
    await person.type("textbox", "Path", `/services/data/v66.0/sobjects/Contact/${id}`);
    await person.type("textbox", "Body (JSON)", '{"Title": "Pilot"}');
    await send("The response has no body.");
    const records = await org.query(`SELECT Title FROM Contact WHERE Id = '${id}'`);
    assert.equal(records[0].Title, "Pilot");
    await choose("Composite");
    await send("Success");
    assert.deepEqual((await body()).compositeResponse.map(({ httpStatusCode }) => httpStatusCode), [201, 201]);
  });

  await t.test("what the server refuses is shown with its status and reason", async () => {
    await choose("Query");
    await person.type("textbox", "SOQL", "SELECT Nothing FROM Contact");
    await send("Refused with status 400");
    assert.equal((await body())[0].errorCode, "INVALID_FIELD");
    await choose("Create a record");
    await person.type("textbox", "Fields (JSON)", "{LastName");
    await send("Fields (JSON): this is no JSON.");
    await choose("Any request");
    await person.type("textbox", "Path", "https://example.com/");
    await send("The path has to begin with '/'");
    await org.reachable(false);
    await choose("Limits");
    await send("No response");
    await org.reachable(true);
  });

  await t.test("an earlier request comes back with its response", async () => {
    await person.click("button", /^Query Success/);
    await person.sees("Byrne");
    assert.match(await person.value("textbox", "SOQL"), /ORDER BY LastName$/);
  });
});

test("a request after the end of the access token gets a new one", { skip }, async (t) => {
  const { person, send } = await withExplorer(t);
  await person.click("button", "End the access token");
  await person.sees("The access token is revoked.");
  await send("Success");
});

test("a logout asks first, and then offers a login", { skip }, async (t) => {
  const { person } = await withExplorer(t);
  await person.click("button", "Log out");
  await person.click("button", "Stay logged in");
  await person.misses("Logging out deletes");
  await person.click("button", "Log out");
  await person.click("button", "Log out now");
  await person.find("button", "Log in");
});

test("the keyboard sends, and a narrow, dark window cuts nothing off", { skip }, async (t) => {
  const { person, startUrl } = await withExplorer(t);
  await person.open(startUrl, { width: 380, height: 760, scheme: "dark" });
  await person.choose("Request", "Describe an object");
  assert.equal(await person.overflows(), false);
  await person.picture("rest-explorer-narrow-request");
  await person.press("Control+Enter");
  await person.sees("Success");
  assert.equal(await person.overflows(), false);
  await person.picture("rest-explorer-narrow");
  await person.click("button", "← Request");
  await person.find("button", "Send");
});
