// The notes of this device: entries of the soup "notes", which are Tasks on the server. Everything here works without the network.
//
// The soup "noteVersions" has, for a note with local changes, `base` (the version that this device and the server had in common),
// `sent` (what the last sync uploaded) and, in a conflict, `server` (what the server has now; null if it has nothing). Soups and
// syncs come from userstore.json and usersyncs.json.
const NOTES = "notes";
const VERSIONS = "noteVersions";
const PAGE_SIZE = 100;

export const FIELDS = [
  { name: "Subject", label: "Title" },
  { name: "Description", label: "Text" },
];
const KEPT = [...FIELDS.map(({ name }) => name), "LastModifiedDate"];

const FLAGS = ["__local__", "__locally_created__", "__locally_updated__", "__locally_deleted__"];
const flags = (...set) => Object.fromEntries(FLAGS.map((flag) => [flag, set.length > 0 && (flag === "__local__" || set.includes(flag))]));
const CLEAN = flags();

const store = () => window.navigator.smartstoreClient;
const specs = () => window.navigator.smartstore;
const pick = (record) => Object.fromEntries(KEPT.map((name) => [name, record[name] ?? null]));
// Without what the server said about an older state of the note.
const without = ({ __last_error__, ...note }) => note;

// ------------------------------------------------------------------------------------------ reading

async function all(soup, spec) {
  const entries = [];
  let cursor = await store().querySoup(soup, spec);
  for (;;) {
    entries.push(...cursor.currentPageOrderedEntries);
    if (cursor.currentPageIndex + 1 >= cursor.totalPages) break;
    cursor = await store().moveCursorToNextPage(cursor);
  }
  await store().closeCursor(cursor);
  return entries;
}

const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];

/** The notes with all words of `text`, the last of which may be incomplete. The note that was changed last is the first. */
export async function list(text = "") {
  const wanted = words(text);
  const spec =
    wanted.length > 0
      ? specs().buildMatchQuerySpec(null, `${wanted.join(" ")}*`, "descending", PAGE_SIZE, "LastModifiedDate")
      : specs().buildAllQuerySpec("LastModifiedDate", "descending", PAGE_SIZE);
  const notes = await all(NOTES, spec);
  const changed = (note) => (isUnsynced(note) ? note._soupLastModifiedDate : Date.parse(note.LastModifiedDate));
  return notes.sort((a, b) => changed(b) - changed(a));
}

export const read = async (entryId) => (await store().retrieveSoupEntries(NOTES, [entryId]))[0];

/** The base version and the server's version of all notes that have them, by entry id. */
export async function versions() {
  const entries = await all(VERSIONS, specs().buildAllQuerySpec("noteEntryId", "ascending", PAGE_SIZE));
  return new Map(entries.map((entry) => [entry.noteEntryId, entry]));
}

export const isUnsynced = (note) => note.__local__ === true;

// ------------------------------------------------------------------------------------------ writing

async function write(note) {
  return (await store().upsertSoupEntries(NOTES, [note]))[0];
}

/** Replaces the versions of a note: `{base, sent, server}`, without those that are undefined. */
export async function saveVersions(entryId, known) {
  await store().upsertSoupEntriesWithExternalId(VERSIONS, [{ noteEntryId: entryId, ...known }], "noteEntryId");
}

async function removeVersions(entryId) {
  await store().removeFromSoup(VERSIONS, specs().buildExactQuerySpec("noteEntryId", entryId));
}

// A change reads an entry and writes it. Changes follow each other, so that none writes what another has replaced.
let last = Promise.resolve();
function inOrder(action) {
  const result = last.then(action);
  last = result.catch(() => {});
  return result;
}

/** Creates a note on this device and gives it. */
export function create(values) {
  const id = `local_${crypto.randomUUID()}`;
  return write({ attributes: { type: "Task" }, Id: id, ...values, ...flags("__locally_created__") });
}

// A sync may have written the note since the page showed it: each change starts from what the store has.
function change(entryId, changed) {
  return inOrder(async () => {
    const note = await read(entryId);
    if (!note) return null;
    // The base comes first: a base without a change does no harm, a change without a base cannot be compared.
    if (!isUnsynced(note)) await saveVersions(entryId, { base: pick(note) });
    return write({ ...without(note), ...changed(note) });
  });
}

/** Changes a note on this device and gives it; null if it does not exist any more. */
export const edit = (entryId, values) =>
  change(entryId, (note) => ({
    ...values,
    ...flags(note.__locally_created__ ? "__locally_created__" : "__locally_updated__"),
  }));

/** Deletes a note. The server deletes it with the next sync; one that the server does not have is gone at once. */
export async function remove(entryId) {
  const note = await read(entryId);
  if (!note) return null;
  if (!note.__locally_created__) {
    const wasEdited = note.__locally_updated__ ? ["__locally_updated__"] : [];
    return change(entryId, () => flags("__locally_deleted__", ...wasEdited));
  }
  await store().removeFromSoup(NOTES, [entryId]);
  return null;
}

/** Takes back a deletion that the server does not know of. An earlier edit of the note stays. */
export const undelete = (entryId) => change(entryId, (note) => (note.__locally_updated__ ? flags("__locally_updated__") : CLEAN));

/** Takes back all changes of a note that the server does not know of. */
export async function revert(entryId) {
  const { base } = (await versions()).get(entryId) || {};
  if (base) await change(entryId, () => ({ ...base, ...CLEAN }));
}

// ------------------------------------------------------------------------------------------ decisions

/** Whether two versions have the same title and text. */
export const isSame = (one, other) => Boolean(one && other) && FIELDS.every(({ name }) => (one[name] || "") === (other[name] || ""));

/**
 * Ends a conflict with a note that the server has, in version `server`: with `values`, or with the deletion if they are null. The
 * server's version becomes the base version, and the entry takes its date: only a later change there is a conflict again.
 */
export function decide(entryId, server, values) {
  const decided = values === null ? flags("__locally_deleted__") : isSame(values, server) ? CLEAN : flags("__locally_updated__");
  return inOrder(() => setBase(entryId, server, () => ({ ...(values || {}), ...decided })));
}

/** Lets a note with local changes be uploaded although the server's date is newer: its version is one that this device knows. */
export const rebase = (entryId, server) => inOrder(() => setBase(entryId, server, () => ({})));

async function setBase(entryId, server, changed) {
  const note = await read(entryId);
  if (!note || !isUnsynced(note)) return;
  await saveVersions(entryId, { base: pick(server) });
  await write({ ...without(note), ...changed(), LastModifiedDate: server.LastModifiedDate });
}

/** Ends a conflict with a note that the server does not have any more: `again` creates it once more, else it is removed. */
export function decideMissing(entryId, again) {
  return inOrder(async () => {
    const note = await read(entryId);
    await removeVersions(entryId);
    if (!note) return;
    if (again) {
      const { LastModifiedDate, ...rest } = without(note);
      await write({ ...rest, Id: `local_${crypto.randomUUID()}`, ...flags("__locally_created__") });
    } else {
      await store().removeFromSoup(NOTES, [entryId]);
    }
  });
}
