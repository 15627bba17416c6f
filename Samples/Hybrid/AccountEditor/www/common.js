// What the samples share: elements, explanations of errors, the login. The same file in each sample.

/**
 * Makes an element. Attributes: `onclick` and the like are listeners, true and false set or leave out the attribute, and
 * null and undefined leave it out. Children: elements and texts, also in arrays; null, undefined and false are left out.
 * Texts are inserted as texts, so what a record holds can never become markup.
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** Shows `children` in place of what an element shows now. */
export function show(parent, ...children) {
  parent.replaceChildren(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false));
}

export const byId = (id) => document.getElementById(id);

/** "1 note", "3 notes". */
export const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

/**
 * Calls `action` when no further call has come for `milliseconds`. `flush()` calls it at once if it is due, and waits for it;
 * `isDue()` says whether it is due or running.
 */
export function later(milliseconds, action) {
  let timer = null;
  let latest = [];
  let running = Promise.resolve();
  let number = 0;
  const flush = () => {
    if (timer !== null) {
      clearTimeout(timer);
      timer = null;
      number += 1;
      const due = latest;
      running = running.then(() => action(...due)).finally(() => (number -= 1));
    }
    return running;
  };
  const call = (...args) => {
    latest = args;
    clearTimeout(timer);
    timer = setTimeout(flush, milliseconds);
  };
  return Object.assign(call, { flush, isDue: () => timer !== null || number > 0 });
}

/** The arrow keys move through the buttons of a list. */
export function moveWithArrows(list) {
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const buttons = [...list.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement);
    if (!step || at < 0) return;
    event.preventDefault();
    (buttons[at + step] || buttons[at]).focus();
  });
}

// ------------------------------------------------------------------------------------------ errors

/**
 * What failed, for a person: `{kind, text}`. Kinds: "unreachable" (no response from the server: the work can be repeated
 * later), "refused" (the server's reason is in the text), "missing" (the record does not exist any more), "failed".
 */
export function explain(error) {
  const raw = typeof error === "string" && error.startsWith("{") ? parse(error) : error;
  if (raw && raw.name === "RestError") return explainRest(raw);
  if (raw && raw.response) return refusal(raw.response);
  if (raw && raw.error) return { kind: "unreachable", text: `The server does not respond. ${raw.error}` };
  const text = (raw && raw.message) || (typeof raw === "string" ? raw : JSON.stringify(raw));
  return { kind: "failed", text };
}

// The errors of the package `fieldforce`: status 0 is a request without a response.
function explainRest({ status, body, message }) {
  return status === 0 ? { kind: "unreachable", text: `The server does not respond. ${message}` } : refusal({ statusCode: status, body });
}

function refusal({ statusCode, body }) {
  const details = (Array.isArray(body) ? body : [body]).filter((one) => one && (one.errorCode || one.message));
  const isMissing = statusCode === 404 || details.some(({ errorCode }) => /^(NOT_FOUND|ENTITY_IS_DELETED)$/.test(errorCode));
  const reasons = details.map(({ errorCode, message }) => [message, errorCode && `(${errorCode})`].filter(Boolean).join(" "));
  const text = reasons.join(" ") || `The server refused the request with status ${statusCode}.`;
  return { kind: isMissing ? "missing" : "refused", text };
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

// ------------------------------------------------------------------------------------------ login

const plugin = (name) => window.cordova.require(`com.salesforce.plugin.${name}`);
const promise = (func) => new Promise((resolve, reject) => func(resolve, reject));

/** Resolves when the plug-ins can be called. Rejects if the page was not opened through a bridge. */
export function deviceReady() {
  if (!window.cordova) {
    const message = "This page needs a bridge. Open it with 'fieldforce hybrid open --www' and the folder of the page.";
    return Promise.reject(new Error(message));
  }
  return new Promise((resolve) => document.addEventListener("deviceready", () => resolve(), false));
}

/** The user who is logged in, or null. Never starts a login. */
export async function currentUser() {
  try {
    await promise((done, fail) => plugin("oauth").getAuthCredentials(done, fail));
  } catch {
    return null;
  }
  return promise((done, fail) => plugin("sfaccountmanager").getCurrentUser(done, fail));
}

/** Logs in, where the bridge can, and gives the user. */
export async function logIn() {
  await promise((done, fail) => plugin("oauth").authenticate(done, fail));
  return currentUser();
}

/**
 * Logs out. It fails while there are edits that the server does not have. The bridge makes the page load again.
 */
export const logOut = () =>
  promise((done, fail) => window.cordova.require("com.salesforce.plugin.oauth").logout(done, fail));

/** Shows that a login is needed in `panel`. Resolves with the user once there is one, whom `login` gives. */
export function requestLogin(panel, login = logIn) {
  return new Promise((resolve) => {
    const reason = element("p", { role: "alert" });
    const button = element("button", { class: "primary", onclick: attempt }, "Log in");
    async function attempt() {
      button.disabled = true;
      show(reason, "Continue in the window of the browser that opens.");
      try {
        const user = await login();
        if (!user) throw new Error("There is no user after the login.");
        show(panel);
        resolve(user);
      } catch (error) {
        show(reason, element("span", { class: "bad" }, `${explain(error).text} Or log in with 'fieldforce login', and load this page again.`));
        button.disabled = false;
      }
    }
    const hint = element("p", { class: "muted" }, "Log in to see the records of your org.");
    show(panel, element("div", { class: "empty" }, element("h2", {}, "Not logged in"), hint, button, reason));
    button.focus();
  });
}
