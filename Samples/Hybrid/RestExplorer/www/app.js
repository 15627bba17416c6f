// REST explorer: sends any request with the session of the user, and shows what the server responds.
import { RestError, connect } from "./plugins/fieldforce/index.js";
import { byId, element, explain, moveWithArrows, requestLogin, show } from "./common.js";
import { REQUESTS, callOf, lineOf } from "./requests.js";

const KEPT = 30;
const fieldforce = connect();
const rest = fieldforce.rest();
// `history`: the last requests with what was in their forms. `number` counts them: only the newest response is shown.
const state = { request: REQUESTS[0], history: [], number: 0, users: [] };

// ------------------------------------------------------------------------------------------ messages

const button = (text, onclick, kind) => element("button", { type: "button", class: kind, onclick }, text);

function say(text, kind = "", ...actions) {
  show(byId("message"), element("div", { class: `message ${kind}` }, element("span", {}, text), actions));
}

const clearMessage = () => show(byId("message"));
const run = (action) => (...args) => Promise.resolve(action(...args)).catch((error) => say(explain(error).text, "bad"));

// ------------------------------------------------------------------------------------------ the request

/** Shows the form of a request, with its own values or those of an earlier one. */
function choose(request, texts = {}) {
  state.request = request;
  byId("kind").value = request.name;
  byId("about").textContent = request.about;
  const fields = (request.parameters || []).map(({ name, label, kind, choices, value, isOptional }) => {
    const field = choices
      ? element("select", { name }, choices.map((choice) => element("option", {}, choice)))
      : element(kind ? "textarea" : "input", { name, spellcheck: "false", autocomplete: "off", required: !isOptional && !/^(names)$/.test(name) });
    field.value = texts[name] ?? value;
    return element("label", { class: "field" }, label, field);
  });
  show(byId("parameters"), fields);
  showLine();
}

const texts = () => Object.fromEntries([...byId("parameters").querySelectorAll("[name]")].map((field) => [field.name, field.value]));

function showLine() {
  try {
    byId("line").textContent = lineOf(callOf(state.request, texts(), rest.apiVersion));
  } catch (error) {
    byId("line").textContent = error.message;
  }
}

async function send() {
  const sent = { request: state.request, texts: texts() };
  const call = callOf(sent.request, sent.texts, rest.apiVersion);
  const number = ++state.number;
  clearMessage();
  byId("explorer").classList.add("has-selection");
  show(byId("response"), back(), element("p", { class: "muted" }, "Waiting for the server"));
  const start = performance.now();
  let result;
  try {
    const body = await rest.request(call);
    result = { isSuccess: true, title: "Success", body };
  } catch (error) {
    if (!(error instanceof RestError)) throw error;
    const title = error.status === 0 ? "No response" : `Refused with status ${error.status}`;
    result = { isSuccess: false, title, body: error.status === 0 ? undefined : error.body, reason: error.message };
  }
  Object.assign(sent, result, { line: lineOf(call), milliseconds: Math.round(performance.now() - start) });
  state.history = [sent, ...state.history].slice(0, KEPT);
  showHistory();
  if (number === state.number) showResponse(sent);
}

// ------------------------------------------------------------------------------------------ the response

const textOf = (body) => (typeof body === "string" ? body : JSON.stringify(body, null, 2));

const back = () => button("← Request", () => {
  byId("explorer").classList.remove("has-selection");
  byId("send").focus();
}, "plain back");

function showResponse({ line, isSuccess, title, body, reason, milliseconds }) {
  const text = body === undefined ? "" : textOf(body);
  const next = body?.nextRecordsUrl;
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    say("The response is in the clipboard.");
  };
  show(
    byId("response"),
    back(),
    element(
      "article",
      { class: "response" },
      element("h2", { class: isSuccess ? "good" : "bad" }, title),
      element("p", { class: "muted small" }, `${line} in ${milliseconds} ms, ${text.length.toLocaleString("en")} characters`),
      reason && element("p", {}, reason),
      element(
        "div",
        { class: "actions" },
        text !== "" && button("Copy", run(copy)),
        next && button("Next page", run(() => sendPath(next)))
      ),
      text === "" ? element("p", { class: "muted" }, "The response has no body.") : element("pre", { tabindex: "0", "aria-label": "Body" }, text)
    )
  );
}

// The next page of a result is a request of its own.
async function sendPath(path) {
  choose(REQUESTS.find(({ name }) => name === "Any request"), { method: "GET", path, body: "" });
  await send();
}

function showHistory() {
  const item = (sent) => {
    const again = () => {
      choose(sent.request, sent.texts);
      byId("explorer").classList.add("has-selection");
      showResponse(sent);
    };
    return element(
      "li",
      {},
      element(
        "button",
        { type: "button", onclick: again },
        element("span", { class: "title" }, sent.request.name),
        element("span", { class: `mark ${sent.isSuccess ? "good" : "bad"}` }, sent.title),
        element("span", { class: "more muted small" }, sent.line)
      )
    );
  };
  show(byId("history"), state.history.map(item));
}

// ------------------------------------------------------------------------------------------ the user

const accountManager = (action, ...args) => fieldforce.connection.call("com.salesforce.sfaccountmanager", action, ...args);

async function showUsers(current) {
  state.users = await fieldforce.users();
  show(byId("users"), state.users.map(({ userId, username }) => element("option", { value: userId, selected: userId === current.userId }, username)));
  byId("users").disabled = state.users.length < 2;
}

/** Revokes the access token, as an expiry does: the next request gets a new one without the person noticing. */
async function endToken() {
  const { accessToken } = await fieldforce.credentials();
  await rest.request({ path: "/services/oauth2/revoke", params: { token: accessToken } });
  say("The access token is revoked. The next request gets a new one by itself.");
}

function confirmLogOut() {
  say(
    "Logging out deletes what this device keeps for you, in every app that shares this login.",
    "warning",
    button("Log out now", run(() => fieldforce.logout()), "danger"),
    button("Stay logged in", clearMessage)
  );
}

// ------------------------------------------------------------------------------------------ start

async function start() {
  fieldforce.connection.on("fieldforceReload", () => location.reload());
  const login = async () => (await fieldforce.authenticate(), fieldforce.currentUser());
  const user = (await fieldforce.currentUser()) || (await requestLogin(byId("login"), login));
  byId("login").hidden = true;
  await showUsers(user);
  show(byId("kind"), REQUESTS.map(({ name }) => element("option", {}, name)));
  byId("kind").addEventListener("change", () => choose(REQUESTS[byId("kind").selectedIndex]));
  byId("parameters").addEventListener("input", showLine);
  byId("request").addEventListener("submit", (event) => {
    event.preventDefault();
    run(send)();
  });
  // Control+Enter sends, also from a text with several lines.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) byId("request").requestSubmit();
  });
  byId("users").addEventListener("change", run(() => accountManager("switchToUser", state.users[byId("users").selectedIndex])));
  for (const [id, action] of [["expire", run(endToken)], ["log-out", confirmLogOut]]) {
    byId(id).disabled = false;
    byId(id).addEventListener("click", action);
  }
  moveWithArrows(byId("history"));
  choose(REQUESTS[0]);
  show(byId("response"), element("div", { class: "empty muted" }, "Choose a request and send it. Control+Enter sends, too."));
  byId("explorer").hidden = false;
}

run(start)();
