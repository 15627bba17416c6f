// The accounts of the store, and their syncs.
const smartstore = () => window.cordova.require("com.salesforce.plugin.smartstore.client");
const mobilesync = () => window.cordova.require("com.salesforce.plugin.mobilesync");
const promise = (func) => new Promise((resolve, reject) => func(resolve, reject));

/** All accounts, by name. */
export async function list() {
  const spec = { queryType: "range", indexPath: "Name", order: "ascending", pageSize: 500 };
  const cursor = await smartstore().querySoup("accounts", spec);
  await smartstore().closeCursor(cursor);
  return cursor.currentPageOrderedEntries;
}

/** The entry with an edited field, flagged for the next upload. */
export function edited(account, field, value) {
  return { ...account, [field]: value, __local__: true, __locally_updated__: !account.__locally_created__ };
}

export const isUnsynced = (account) => account.__local__ === true;

export const save = (account) => smartstore().upsertSoupEntries("accounts", [account]);

/** Runs a sync by its name. Resolves with its last state; rejects if it failed. */
async function run(name) {
  const started = await promise((done, fail) => mobilesync().reSync(name, done, fail));
  return new Promise((resolve, reject) => {
    document.addEventListener("sync", function listener({ detail: state }) {
      if (state._soupEntryId !== started._soupEntryId || state.status === "RUNNING") return;
      document.removeEventListener("sync", listener);
      if (state.status === "DONE") resolve(state);
      else reject(new Error(`The sync ${name} ended as ${state.status}.`));
    });
  });
}

/** Uploads edits, downloads changes and removes what is gone. */
export async function sync() {
  await run("accounts-up");
  const down = await run("accounts-down");
  await promise((done, fail) => mobilesync().cleanResyncGhosts(down._soupEntryId, done, fail));
}
