// A person uses the contact explorer.
import assert from "node:assert/strict";
import test from "node:test";
import { isRealBridge, openSample, skip } from "./support/samples.mjs";

const PEOPLE = [
  ["Ada", "Lovelace", "Analyst", "London"], ["Grace", "Hopper", "Rear admiral", "Arlington"], ["Alan", "Turing", "Researcher", "Wilmslow"],
  ["Katherine", "Johnson", "Mathematician", "Hampton"], ["Edsger", "Dijkstra", "Professor", "Nuenen"], ["Barbara", "Liskov", "Professor", "Boston"],
  ["Donald", "Knuth", "Author", "Stanford"], ["Radia", "Perlman", "Engineer", "Boston"], ["Tim", "Berners-Lee", "Director", "Cambridge"],
  ["Margaret", "Hamilton", "Director of software", "Boston"], ["Dennis", "Ritchie", "Engineer", "Murray Hill"], ["Hedy", "Lamarr", "Inventor", "Vienna"],
];

async function people(org) {
  const accounts = [await org.create("Account", { Name: "Analytical Engines" }), await org.create("Account", { Name: "Harbor Repair" })];
  for (const [index, [FirstName, LastName, Title, MailingCity]] of PEOPLE.entries()) {
    await org.create("Contact", {
      FirstName, LastName, Title, MailingCity, AccountId: accounts[index % 2], Phone: `555-01${10 + index}`, MobilePhone: `555-02${10 + index}`,
      Email: `${FirstName}@example.com`.toLowerCase(), Department: "Engineering", MailingStreet: `${index + 1} Harbor Road`,
      MailingPostalCode: `201${index + 10}`, MailingCountry: "USA", Description: "Prefers calls in the morning.\nSpeaks English and French.",
    });
  }
  for (let i = 0; i < 20; i++) await org.create("Contact", { FirstName: "Zed", LastName: `Zimmer ${i + 10}`, AccountId: accounts[0] });
}

test("contacts are listed, searched and read", { skip }, async (t) => {
  const { person, org, startUrl } = await openSample(t, "ContactExplorer", { prepare: people });

  await t.test("the list has a page of contacts, and the next on request", async () => {
    await person.open(startUrl);
    await person.sees("25 or more contacts");
    await person.picture("contact-explorer-start");
    await person.click("button", "Show more");
    await person.sees("32 contacts");
    assert.match(await person.focused(), /^Zed/);
  });

  await t.test("a contact shows its details with links to call and to write", async () => {
    await person.click("button", /^Ada Lovelace/);
    await person.sees("1 Harbor Road");
    await person.find("heading", "Ada Lovelace");
    await person.find("link", "555-0110");
    await person.find("link", "ada@example.com");
    await person.sees("Speaks English and French.");
    await person.picture("contact-explorer");
    assert.deepEqual(await person.nameless(), []);
  });

  await t.test("a search goes through names, accounts and cities", async () => {
    await person.type("searchbox", "Find contacts", "boston");
    await person.sees("3 contacts with “boston”");
    await person.sees("Radia Perlman");
    await person.type("searchbox", "Find contacts", "harbor rep");
    await person.sees("6 contacts");
    await person.type("searchbox", "Find contacts", "o'brien");
    await person.sees("No contacts with “o'brien”");
    await person.type("searchbox", "Find contacts", "%");
    await person.sees("No contacts with “%”");
    await person.type("searchbox", "Find contacts", "");
    await person.sees("25 or more contacts");
  });

  await t.test("the keyboard is enough", async () => {
    await person.click("searchbox", "Find contacts");
    await person.press("Tab");
    const first = await person.focused();
    await person.press("ArrowDown");
    assert.notEqual(await person.focused(), first);
    const second = await person.focused();
    await person.press("Enter");
    await person.find("heading", new RegExp(`^${second.split(" ")[0]} `));
    await person.press("Escape");
    await person.sees("Choose a contact");
    assert.equal(await person.focused(), second);
  });

  await t.test("a contact that was deleted on the server is said to be gone", async () => {
    const [{ Id }] = await org.query("SELECT Id FROM Contact WHERE Name = 'Alan Turing'");
    await org.delete("Contact", Id);
    await person.click("button", /^Alan Turing/);
    await person.sees("does not exist any more");
    await person.click("button", "Load the list again");
    await person.misses("Alan Turing");
  });

  await t.test("without the network the page says so, and continues on request", async () => {
    await org.reachable(false);
    await person.click("button", /^Barbara Liskov/);
    await person.sees("The server does not respond");
    await person.picture("contact-explorer-offline");
    await org.reachable(true);
    await person.click("button", "Try again");
    await person.find("heading", "Barbara Liskov");
    await person.misses("The server does not respond");
  });

  await t.test("a narrow, dark window shows the list or a contact, and nothing is cut off", async () => {
    await person.open(startUrl, { width: 380, height: 700, scheme: "dark" });
    await person.sees("25 or more contacts");
    assert.equal(await person.overflows(), false);
    await person.picture("contact-explorer-narrow-list");
    await person.click("button", /^Grace Hopper/);
    await person.find("heading", "Grace Hopper");
    assert.deepEqual(await person.all("searchbox", "Find contacts"), []);
    assert.equal(await person.overflows(), false);
    await person.picture("contact-explorer-narrow");
    await person.click("button", "← All contacts");
    await person.find("searchbox", "Find contacts");
    assert.match(await person.focused(), /^Grace Hopper/);
  });

  await t.test("a logout has to be confirmed, and leads to the login", async () => {
    await person.open(startUrl);
    await person.click("button", "Log out");
    await person.click("button", "Stay logged in");
    await person.misses("Log out now");
    await person.click("button", "Log out");
    await person.click("button", "Log out now");
    await person.sees("Not logged in");
  });
});

test("without a login the page offers one", { skip }, async (t) => {
  const { person, startUrl } = await openSample(t, "ContactExplorer", { loggedIn: false, prepare: people });
  await person.open(startUrl);
  await person.sees("Not logged in");
  assert.equal(await person.focused(), "Log in");
  await person.picture("contact-explorer-login");
  await person.press("Enter");
  // The login itself is on a page of the server, in a window of its own.
  if (isRealBridge) await person.sees("Continue in the window of the browser");
  else await person.sees("25 or more contacts");
});
