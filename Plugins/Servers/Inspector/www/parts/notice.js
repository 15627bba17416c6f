// Errors, hints and confirmations.
import { ApiError } from "../data/api.js";
import { fill, h, uniqueId } from "./dom.js";
import { visible } from "./text.js";

/** A message with its remedy: `kind` is bad, warn, good or info. */
export function notice(kind, title, ...children) {
  return h(`div.notice.${kind}`, { role: kind === "bad" ? "alert" : null }, h("strong", title), children.length ? h("div", children) : null);
}

/** An error of the interface, as the page says it. */
export function errorNotice(error, retry) {
  const { errorName = error.name, message, remedy = null, code = null } = error;
  return h("div.notice.bad", { role: "alert" },
    h("strong", visible(message, { length: 1000, lines: true })), remedy ? h("p", visible(remedy, { length: 1000 })) : null,
    h("p.quiet", "Code ", h("code", visible(code === null || code === errorName ? errorName : `${errorName} (${code})`))),
    retry ? h("button", { type: "button", onclick: retry }, "Try again") : null);
}

/** The document of an error in a status, such as why a store is read-only. */
export const documentNotice = (kind, document) =>
  h(`div.notice.${kind}`, h("strong", visible(document.message, { length: 1000 })), document.remedy ? h("p", visible(document.remedy, { length: 1000 })) : null,
    h("p.quiet", "Code ", h("code", visible(document.name))));

/** Says something to those who do not see the page, and to those who do for a few seconds. */
export function announce(text, { isShown = false } = {}) {
  const region = document.querySelector("#announcements");
  if (!region) return;
  fill(region, text);
  region.classList.toggle("shown", isShown);
  if (isShown) setTimeout(() => region.classList.remove("shown"), 4000);
}

/** A dialog with its heading. It is removed when it closes. */
export function openDialog(title, children, { className = "" } = {}) {
  const heading = h("h2", { id: uniqueId("dialog"), tabindex: "-1" }, title);
  const dialog = h("dialog", { class: className || null, "aria-labelledby": heading.id, onclose: () => dialog.remove() }, heading, children);
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Asks before something that cannot be undone. Resolves to whether it is wanted. */
export function confirm(title, text, { action = "Continue", isDangerous = false } = {}) {
  return new Promise((resolve) => {
    const cancel = h("button", { type: "button", onclick: () => dialog.close() }, "Cancel");
    const go = h(`button.${isDangerous ? "danger" : "primary"}`, {
      type: "button", onclick: () => {
        resolve(true);
        dialog.close();
      },
    }, action);
    const dialog = openDialog(title, [h("p", text), h("div.buttons", cancel, go)]);
    dialog.addEventListener("close", () => resolve(false));
    cancel.focus();
  });
}

/** Runs an action of a button: it is busy until the action ends, and an error stands in `place`. */
export async function act(button, place, action) {
  button.disabled = true;
  button.setAttribute("aria-busy", "true");
  fill(place);
  try {
    return await action();
  } catch (error) {
    if (error.name === "AbortError") return undefined;
    if (!(error instanceof ApiError)) console.error(error);
    fill(place, errorNotice(error));
    return undefined;
  } finally {
    button.disabled = false;
    button.removeAttribute("aria-busy");
  }
}
