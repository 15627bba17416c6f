// Keys: a table of them for the help dialog, and what they do.
import { h } from "./dom.js";
import { openDialog } from "./notice.js";

const STORED = "fieldforce.keys";

/** Pages by the letter that follows g. */
export const GO = {
  s: ["Soups", "soups"], c: ["Smart SQL console", "console"], y: ["Syncs", "syncs"], x: ["Conflicts", "conflicts"], u: ["Unsynced entries", "unsynced"],
  t: ["Stores", "/stores"], a: ["Accounts", "/accounts"], k: ["Key-value stores", "/keyvalues"], r: ["Requests", "/requests"], l: ["Logs", "/logs"],
  e: ["Events", "/events"], d: ["Developer", "/developer"],
};

// Keys stand in brackets.
const TABLE = [
  ["Everywhere", [["[?]", "Show this help"], ["[/]", "Go to the search field"], ["[g] then a letter", "Go to a page, see below"], ["[r]", "Load the page again"], ["[Esc]", "Close a dialog or the entry"]]],
  ["Tables", [["[↑] [↓] or [k] [j]", "Previous, next row"], ["[Page Up] [Page Down]", "A page of rows"], ["[Home] [End]", "First, last loaded row"], ["[Enter]", "Open the row"]]],
  ["JSON", [["[↑] [↓]", "Previous, next member"], ["[→] [←]", "Open, close, go in, go out"]]],
  ["Console", [["[Ctrl]+[Enter]", "Run the statement"], ["[Alt]+[↑] [Alt]+[↓]", "Earlier, later statement"], ["[↓] then [Enter], or [Tab]", "Take a completion"]]],
  ["Conflicts", [["[b] [l] [s]", "Base version, local or server value of the field"], ["[n] [p]", "Next, previous conflict"]]],
];

export const areKeysOn = () => localStorage.getItem(STORED) !== "off";

const isTyping = (target) => target.matches?.("input:not([type=radio]):not([type=checkbox]):not([type=range]), textarea, select, [contenteditable]");

/** Listens for keys. `go(target)` opens a page; `reload()` loads it again. */
export function listenForKeys({ go, reload }) {
  let prefix = 0;
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.key === "Escape") {
      const pane = document.querySelector("[data-close]");
      if (pane) pane.click();
      return;
    }
    if (isTyping(event.target) || !areKeysOn()) return;
    const isSecond = event.timeStamp - prefix < 1500;
    prefix = 0;
    if (isSecond && GO[event.key]) go(GO[event.key][1]);
    else if (event.key === "g") prefix = event.timeStamp;
    else if (event.key === "?") showHelp();
    else if (event.key === "r") reload();
    else if (event.key === "/") document.querySelector("main [type=search]")?.focus();
    else return;
    event.preventDefault();
  });
}

const keys = (text) => text.split(/\[([^\]]+)\]/).map((part, index) => (index % 2 ? h("kbd", part) : part));

/** The help: all keys, and a switch for those of one letter. */
export function showHelp() {
  const toggle = h("input", { type: "checkbox", id: "keys-on", checked: areKeysOn(), onchange: () => localStorage.setItem(STORED, toggle.checked ? "on" : "off") });
  const sections = [...TABLE, ["Go to", Object.entries(GO).map(([letter, [title]]) => [`[g] [${letter}]`, title])]];
  const close = h("button.primary", { type: "button", onclick: () => dialog.close() }, "Close");
  const dialog = openDialog("Keyboard", [
    h("div.key-sections", sections.map(([title, rows]) => h("section", h("h3", title), h("dl.keys", rows.map(([key, text]) => h("div", h("dt", keys(key)), h("dd", text))))))),
    h("p", toggle, " ", h("label", { for: "keys-on" }, "Use keys of one letter (switch off if they disturb a screen reader or voice control)")),
    h("div.buttons", close),
  ], { className: "wide" });
  close.focus();
}
