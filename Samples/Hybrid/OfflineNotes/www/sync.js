// Syncs of the notes with the server: up, down, deletions of other users, and conflicts.
import { isSame, isUnsynced, list, rebase, saveVersions, versions } from "./notes.js";

const mobilesync = () => window.cordova.require("com.salesforce.plugin.mobilesync");
const promise = (func) => new Promise((resolve, reject) => func(resolve, reject));

/** Runs a sync by its name, with `report(state)` for each state. Gives the last state; rejects if the sync failed. */
async function run(name, report) {
  const started = await promise((done, fail) => mobilesync().reSync(name, done, fail));
  report(started);
  return new Promise((resolve, reject) => {
    // The states that follow the response are events. None comes before this listener is there.
    document.addEventListener("sync", function listener({ detail: state }) {
      if (state._soupEntryId !== started._soupEntryId) return;
      report(state);
      if (state.status === "RUNNING") return;
      document.removeEventListener("sync", listener);
      if (state.status === "DONE") resolve(state);
      else reject(new Error(reasonOf(state)));
    });
  });
}

function reasonOf({ name, status, error }) {
  const reason = typeof error === "string" ? error : (error && error.message) || "";
  return reason || `The sync ${name} ended as ${status}.`;
}

/** Whether the syncs of usersyncs.json exist: they are created at the start of the app for the user who is logged in then. */
export async function isSetUp() {
  return (await promise((done, fail) => mobilesync().getSyncStatus("notes-up", done, fail))) !== null;
}

/** Uploads, downloads and looks for conflicts. `report(what, percent)` tells the progress. */
export async function sync(report) {
  await upload(report);
  report("Looking for conflicts", 100);
  // What a person typed during the upload goes with a second one.
  if (await findConflicts()) {
    await upload(report);
    await findConflicts();
  }
  const down = await run("notes-down", ({ progress }) => report("Downloading", progress));
  report("Looking for deleted notes", 100);
  await promise((done, fail) => mobilesync().cleanResyncGhosts(down._soupEntryId, done, fail));
}

const unsynced = async () => (await list()).filter((note) => isUnsynced(note) && !note.__locally_created__);

async function upload(report) {
  // The notes first: the versions of a note are there before the note is unsynced.
  const notes = await unsynced();
  const known = await versions();
  for (const note of notes) {
    const { base, server } = known.get(note._soupEntryId) || {};
    const { Subject, Description } = note;
    await saveVersions(note._soupEntryId, { base, server, sent: { Subject, Description } });
  }
  await run("notes-up", ({ progress }) => report("Uploading", progress));
}

const IDS_PER_QUERY = 100;

/**
 * Keeps what the server has of the notes that an upload left unsynced because they are newer there: these are conflicts. A version
 * that this device knows, because it uploaded it or because only the date is new, is none. Gives whether there are such notes.
 */
async function findConflicts() {
  const left = await unsynced();
  const known = await versions();
  let isRepeated = false;
  for (let start = 0; start < left.length; start += IDS_PER_QUERY) {
    const notes = left.slice(start, start + IDS_PER_QUERY);
    const ids = notes.map(({ Id }) => `'${Id}'`).join(", ");
    const { records } = await window.forceJsClient.query(
      `SELECT Id, Subject, Description, LastModifiedDate FROM Task WHERE Id IN (${ids})`
    );
    const onServer = new Map(records.map(({ attributes, ...record }) => [record.Id, record]));
    for (const note of notes) {
      const { base, sent } = known.get(note._soupEntryId) || {};
      const server = onServer.get(note.Id) || null;
      const isNewer = server === null || Date.parse(server.LastModifiedDate) > Date.parse(note.LastModifiedDate);
      if (server && isNewer && (isSame(server, base) || isSame(server, sent))) {
        await rebase(note._soupEntryId, server);
        isRepeated = true;
      } else {
        await saveVersions(note._soupEntryId, { base, sent, server: isNewer ? server : undefined });
      }
    }
  }
  return isRepeated;
}
