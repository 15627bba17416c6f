// Contact explorer: login, list, search and details through force.js. It needs the network, and says so without it.
import { byId, currentUser, deviceReady, element, explain, later, logOut, moveWithArrows, requestLogin, show } from "./common.js";
import { find, read } from "./contacts.js";

const state = { text: "", records: [], hasMore: false, selected: null };
// Only the response to the newest request is shown.
let listNumber = 0;
let detailNumber = 0;

// ------------------------------------------------------------------------------------------ messages

function fail(error, retry) {
  const { kind, text } = explain(error);
  const hint = kind === "unreachable" ? " This app reads contacts from the server and keeps none on this device." : "";
  const button = retry && element("button", { type: "button", onclick: retry }, "Try again");
  show(byId("message"), element("div", { class: `message ${kind === "unreachable" ? "warning" : "bad"}` }, element("span", {}, text + hint), button));
}

const clearMessage = () => show(byId("message"));

// ------------------------------------------------------------------------------------------ list

async function list({ append = false } = {}) {
  const number = ++listNumber;
  byId("contacts").setAttribute("aria-busy", "true");
  try {
    const page = await find(state.text, append ? state.records.length : 0);
    if (number !== listNumber) return;
    state.records = append ? [...state.records, ...page.records] : page.records;
    state.hasMore = page.hasMore;
    clearMessage();
    showList();
    if (append) byId("contacts").querySelector(`[data-id="${page.records[0]?.Id}"]`)?.focus();
  } catch (error) {
    if (number === listNumber) fail(error, () => list({ append }));
  } finally {
    if (number === listNumber) byId("contacts").removeAttribute("aria-busy");
  }
}

function showList() {
  const { records, hasMore, text, selected } = state;
  const item = (record) =>
    element(
      "li",
      {},
      element(
        "button",
        { type: "button", "aria-current": record.Id === selected ? "true" : null, "data-id": record.Id, onclick: () => select(record.Id) },
        element("span", { class: "title" }, record.Name),
        element("span", { class: "more muted small" }, [record.Title, record.Account?.Name].filter(Boolean).join(", ") || "No account")
      )
    );
  const more = hasMore && element("li", {}, element("button", { type: "button", onclick: () => list({ append: true }) }, "Show more"));
  show(byId("contacts"), records.map(item), more);
  const number = `${records.length}${hasMore ? " or more" : ""}`;
  const what = text === "" ? "contacts" : `contacts with “${text}”`;
  byId("found").textContent = records.length === 0 ? `No ${what}` : `${number} ${what}`;
}

function markSelected() {
  for (const button of byId("contacts").querySelectorAll("button[data-id]")) {
    if (button.dataset.id === state.selected) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
  byId("explorer").classList.toggle("has-selection", state.selected !== null);
}

// ------------------------------------------------------------------------------------------ details

async function select(id) {
  const number = ++detailNumber;
  state.selected = id;
  markSelected();
  if (id === null) {
    showNothing();
    return;
  }
  try {
    const contact = await read(id);
    if (number !== detailNumber) return;
    clearMessage();
    if (contact) showContact(contact);
    else showMissing();
  } catch (error) {
    if (number === detailNumber) fail(error, () => select(id));
  }
}

const back = () => element("button", { type: "button", class: "plain back", onclick: close }, "← All contacts");

function close() {
  const { selected } = state;
  select(null);
  byId("contacts").querySelector(`[data-id="${selected}"]`)?.focus();
}

function showNothing() {
  show(byId("detail"), element("div", { class: "empty muted" }, "Choose a contact to see its details."));
}

function showMissing() {
  const reload = element("button", { type: "button", onclick: () => (select(null), list()) }, "Load the list again");
  show(byId("detail"), back(), element("div", { class: "empty" }, element("p", {}, "This contact does not exist any more."), reload));
}

function showContact(contact) {
  const link = (prefix, value) => value && element("a", { href: prefix + value }, value);
  const lines = [contact.MailingStreet, [contact.MailingPostalCode, contact.MailingCity].filter(Boolean).join(" "), contact.MailingCountry];
  const facts = {
    Account: contact.Account?.Name,
    Department: contact.Department,
    Phone: link("tel:", contact.Phone),
    Mobile: link("tel:", contact.MobilePhone),
    Email: link("mailto:", contact.Email),
    Address: lines.filter(Boolean).join("\n"),
    Notes: contact.Description,
    "Last changed": new Date(contact.LastModifiedDate).toLocaleString([], { dateStyle: "medium", timeStyle: "short" }),
  };
  const rows = Object.entries(facts).filter(([, value]) => value);
  show(
    byId("detail"),
    back(),
    element(
      "article",
      { class: "record" },
      element("header", {}, element("h2", { tabindex: "-1" }, contact.Name), element("p", { class: "muted" }, contact.Title || "")),
      element("dl", { class: "facts card" }, rows.map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]))
    )
  );
}

// ------------------------------------------------------------------------------------------ start

function confirmLogOut() {
  const text = "Logging out deletes what this device keeps for you, in every app that shares this login.";
  const proceed = async () => {
    try {
      await logOut();
    } catch (error) {
      fail(error, null);
    }
  };
  show(
    byId("message"),
    element(
      "div",
      { class: "message warning" },
      element("span", {}, text),
      element("button", { type: "button", class: "danger", onclick: proceed }, "Log out now"),
      element("button", { type: "button", onclick: clearMessage }, "Stay logged in")
    )
  );
}

async function start() {
  await deviceReady();
  const user = (await currentUser()) || (await requestLogin(byId("login")));
  byId("login").hidden = true;
  byId("explorer").hidden = false;
  byId("account").textContent = user.username || "";
  byId("log-out").hidden = false;
  byId("log-out").addEventListener("click", confirmLogOut);
  const search = later(250, () => {
    state.text = byId("search").value.trim();
    list();
  });
  byId("search").addEventListener("input", search);
  document.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    search.flush();
  });
  moveWithArrows(byId("contacts"));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && state.selected !== null && document.activeElement !== byId("search")) close();
  });
  window.addEventListener("online", () => list());
  window.addEventListener("offline", () => fail({ error: "This device has no network." }, () => list()));
  showNothing();
  await list();
}

start().catch((error) => fail(error, null));
