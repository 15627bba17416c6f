// Account editor: a list from the cache, a form, syncs, and the decisions that conflicts need.
import { FIELDS, MODES, decide, decideMissing, isUnsynced, list, remove, save, settings, start as openCaches, sync, undelete, undo } from "./accounts.js";
import { byId, count, currentUser, deviceReady, element, explain, later, moveWithArrows, requestLogin, show } from "./common.js";
import { versionsTable } from "./versions.js";

const state = {
  text: "", records: [], unsynced: 0, selected: null, isSyncing: false, isReachable: true,
  /** Outcomes that need a decision, by the id of their record. */
  problems: new Map(),
  /** What the detail pane shows, as text: the same is not shown again, so that a choice or a click in it is not lost. */
  shown: null,
};
const NEW = "new";

// ------------------------------------------------------------------------------------------ messages

function say(text, kind = "", ...actions) {
  show(byId("message"), element("div", { class: `message ${kind}` }, element("span", {}, text), actions));
}
const clearMessage = () => show(byId("message"));
const button = (text, onclick, kind) => element("button", { type: "button", class: kind, onclick }, text);

function fail(error) {
  const { kind, text } = explain(error);
  state.isReachable = kind !== "unreachable";
  const hint = kind === "unreachable" ? " Your changes are kept on this device." : "";
  say(text + hint, kind === "unreachable" ? "warning" : "bad");
  showStatus();
}

/** Runs what a person started; what fails is shown. */
const run = (action) => (...args) => Promise.resolve(action(...args)).catch(fail);

function showStatus() {
  const [text, kind] = state.isSyncing
    ? ["Syncing", "warning"]
    : settings.isOffline
      ? ["Working offline", "warning"]
      : state.isReachable && navigator.onLine
        ? ["Online", "good"]
        : ["No connection", "bad"];
  byId("status").textContent = text;
  byId("status").className = `chip ${kind}`;
  byId("sync").textContent = state.unsynced > 0 ? `Sync (${state.unsynced})` : "Sync";
  byId("sync").disabled = state.isSyncing || settings.isOffline;
}

// ------------------------------------------------------------------------------------------ list

async function refresh() {
  const all = await list();
  const unsynced = new Set(all.filter(isUnsynced).map((record) => record.Id));
  state.unsynced = unsynced.size;
  // What was decided while a sync ran is no problem any more.
  for (const id of state.problems.keys()) if (!unsynced.has(id)) state.problems.delete(id);
  state.records = state.text === "" ? all : await list(state.text);
  showList();
  showStatus();
}

function mark(record) {
  const problem = state.problems.get(record.Id);
  if (problem) return ["bad", { conflict: "Conflict", refused: "Refused", missing: "Gone on server" }[problem.kind]];
  if (record.__locally_deleted__) return ["warning", "Deleted"];
  if (record.__locally_created__) return ["warning", "New"];
  return record.__locally_updated__ ? ["warning", "Edited"] : null;
}

function showList() {
  const items = state.records.map((record) => {
    const note = mark(record);
    return element(
      "li",
      { class: record.__locally_deleted__ ? "deleted" : null },
      element(
        "button",
        { type: "button", "data-id": record.Id, "aria-current": record.Id === state.selected ? "true" : null, onclick: () => leaveForm(() => select(record.Id)) },
        element("span", { class: "title" }, record.Name || "(no name)"),
        note && element("span", { class: `mark ${note[0]}` }, note[1]),
        element("span", { class: "more muted small" }, [record.Industry, record.Phone].filter(Boolean).join(", ") || "No details")
      )
    );
  });
  const focused = document.activeElement?.dataset?.id;
  show(byId("accounts"), items);
  if (focused) byId("accounts").querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus();
  byId("accounts").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  byId("found").textContent = items.length === 0 ? "No accounts" : count(items.length, "account");
  byId("editor").classList.toggle("has-selection", state.selected !== null);
}

// ------------------------------------------------------------------------------------------ one account

const form = () => byId("detail").querySelector("form");
const isChanged = () => Boolean(form()) && [...form().elements].some((field) => field.name && field.value !== field.defaultValue);

/** Continues with `action` unless the form holds changes that are not saved: then the person decides first. */
function leaveForm(action) {
  if (!isChanged()) {
    action();
    return;
  }
  const discard = () => {
    clearMessage();
    action();
  };
  say("This account has changes that are not saved.", "warning", button("Save them", () => form().requestSubmit()), button("Discard them", discard, "danger"));
}

function select(id) {
  clearMessage();
  state.selected = id;
  state.shown = null;
  showList();
  showDetail();
}

const back = () => element("button", { type: "button", class: "plain back", onclick: () => leaveForm(() => select(null)) }, "← All accounts");

function showDetail() {
  const record = state.selected === NEW ? {} : state.records.find((one) => one.Id === state.selected);
  if (!record) {
    Object.assign(state, { selected: null, shown: null });
    byId("editor").classList.remove("has-selection");
    const text = state.records.length === 0 && state.text === "" ? "There are no accounts on this device. Sync to download them." : "Choose an account to edit it.";
    show(byId("detail"), element("div", { class: "empty muted" }, text));
    return;
  }
  const problem = state.problems.get(record.Id);
  const shown = JSON.stringify([record, problem]);
  if (shown === state.shown) return;
  state.shown = shown;
  const body =
    problem?.kind === "conflict" ? conflictCard(record, problem) : problem?.kind === "missing" ? missingCard(record) : record.__locally_deleted__ ? deletedCard(record) : formOf(record, problem);
  show(byId("detail"), back(), element("article", { class: "record" }, element("h2", {}, record.Id ? record.Name || "(no name)" : "New account"), body));
}

function formOf(record, problem) {
  const fields = FIELDS.map(({ name, label }) =>
    element(
      "label",
      { class: "field" },
      label,
      element("input", { name, value: record[name] ?? "", required: name === "Name", autocomplete: "off", type: name === "Phone" ? "tel" : "text" })
    )
  );
  const local = record.__local__ && record.Id && !record.__locally_created__;
  return element(
    "form",
    { class: "card", onsubmit: (event) => (event.preventDefault(), saveForm(record)) },
    problem && element("p", { class: "bad" }, `The server refused this account: ${problem.text}`),
    record.__local__ && element("p", { class: "warning small" }, record.__locally_created__ ? "The server does not have this account yet." : "The server does not have these changes yet."),
    fields,
    element(
      "div",
      { class: "actions" },
      element("button", { class: "primary" }, "Save"),
      local && button("Undo my changes", run(() => undoChanges(record))),
      record.Id && button("Delete", run(() => removeRecord(record)), "danger end")
    )
  );
}

function deletedCard(record) {
  return element(
    "div",
    { class: "card" },
    element("p", {}, "You have deleted this account. The server deletes it with the next sync."),
    element("div", { class: "actions" }, button("Undelete", run(() => undeleteRecord(record)), "primary"))
  );
}

function missingCard(record) {
  return element(
    "div",
    { class: "card" },
    element("p", {}, "Another user has deleted this account, and you have changed it."),
    element(
      "div",
      { class: "actions" },
      button("Create it again", run(() => finish(decideMissing(record, true), "created again", record)), "primary"),
      button("Remove it here too", run(() => finish(decideMissing(record, false), "removed", record)))
    )
  );
}

function conflictCard(record, { conflict }) {
  const { base, theirs } = conflict;
  const decideWith = (values, what) => run(() => finish(decide(record, theirs, values), what, record));
  const cancel = button("Decide later", () => select(null), "end");
  if (record.__locally_deleted__) {
    return element(
      "div",
      { class: "card" },
      element("p", {}, "You have deleted this account. Another user has changed it since."),
      versionsTable(FIELDS, { base, mine: null, theirs }).table,
      element("div", { class: "actions" }, button("Delete it all the same", decideWith(null, "deleted"), "primary"), button("Keep it", decideWith(theirs, "kept")), cancel)
    );
  }
  const { table, values } = versionsTable(FIELDS, { base, mine: record, theirs });
  return element(
    "div",
    { class: "card" },
    element("p", {}, "You and another user have changed this account. Choose what it is to be."),
    table,
    element(
      "div",
      { class: "actions" },
      button("Save what is chosen", () => decideWith({ ...fieldsOf(record), ...values() }, "saved")(), "primary"),
      button("Take the server's", decideWith(fieldsOf(theirs), "replaced by the server's")),
      cancel
    )
  );
}

const fieldsOf = (record) => Object.fromEntries(FIELDS.map(({ name }) => [name, record[name] ?? null]));

// ------------------------------------------------------------------------------------------ what a person does

/** Shows what became of a change, and what the account is now. */
async function finish(change, what, record) {
  const name = record.Name || "The account";
  state.problems.delete(record.Id);
  const result = await change;
  const { kind, id, text } = result;
  if (kind === "refused" && form()) {
    // The form still has what the person typed.
    say(`The server refused ${name}: ${text}`, "bad");
    return;
  }
  if (kind === "saved") state.isReachable = true;
  if (kind === "local" && text) state.isReachable = false;
  if (["conflict", "missing", "refused"].includes(kind)) state.problems.set(record.Id, result);
  state.selected = id;
  await refresh();
  showDetail();
  // The message is last: a person who reads it can rely on the form.
  const messages = {
    saved: `${name} was ${what}.`,
    local: `${name} was ${what} on this device. ${text || "The next sync uploads it."}`,
    conflict: `${name} was changed on the server too.`,
    missing: `${name} was deleted on the server.`,
    refused: `The server refused ${name}: ${text}`,
  };
  say(messages[kind], kind === "saved" ? "" : "warning");
}

const saveForm = run(async (record) => {
  const values = Object.fromEntries([...new FormData(form())].map(([name, value]) => [name, value.trim() || null]));
  await finish(save(record, values), "saved", { ...record, ...values });
});

const removeRecord = (record) => finish(remove(record), "deleted", record);

async function undeleteRecord(record) {
  await undelete(record);
  await finish({ kind: "saved", id: record.Id }, "restored", record);
}

async function undoChanges(record) {
  await undo(record);
  await finish({ kind: "saved", id: record.Id }, "restored", record);
}

async function syncNow() {
  if (state.isSyncing) return;
  state.isSyncing = true;
  clearMessage();
  showStatus();
  const progress = byId("progress");
  progress.hidden = false;
  try {
    const report = (done, total) => Object.assign(progress, { value: done, max: total });
    const { uploaded, problems, downloaded, moved } = await sync(report);
    state.isReachable = true;
    state.problems = problems;
    state.selected = moved.get(state.selected) ?? state.selected;
    const parts = [uploaded > 0 && `${count(uploaded, "change")} uploaded`, `${count(downloaded, "account")} downloaded`].filter(Boolean);
    if (problems.size > 0) parts.push(`${count(problems.size, "account needs", "accounts need")} your decision`);
    await endSync();
    say(`${parts.join(", ")}.`, problems.size > 0 ? "warning" : "");
  } catch (error) {
    await endSync();
    throw error;
  }
}

async function endSync() {
  state.isSyncing = false;
  byId("progress").hidden = true;
  await refresh();
  if (!isChanged()) showDetail();
}

// ------------------------------------------------------------------------------------------ start

async function start() {
  await deviceReady();
  if (!(await currentUser())) await requestLogin(byId("login"));
  byId("login").hidden = true;
  byId("editor").hidden = false;
  show(byId("mode"), MODES.map(({ value, label }) => element("option", { value }, label)));
  byId("mode").addEventListener("change", () => (settings.mergeMode = byId("mode").value));
  byId("offline").addEventListener("change", () => {
    settings.isOffline = byId("offline").checked;
    showStatus();
  });
  byId("sync").addEventListener("click", run(syncNow));
  byId("new").addEventListener("click", () =>
    leaveForm(() => {
      select(NEW);
      form().elements.Name.focus();
    })
  );
  const search = later(200, run(() => ((state.text = byId("search").value.trim()), refresh())));
  byId("search").addEventListener("input", search);
  moveWithArrows(byId("accounts"));
  for (const event of ["online", "offline"]) window.addEventListener(event, showStatus);
  window.addEventListener("beforeunload", (event) => isChanged() && event.preventDefault());
  await openCaches();
  await refresh();
  showDetail();
  if (navigator.onLine) await syncNow();
}

run(start)();
