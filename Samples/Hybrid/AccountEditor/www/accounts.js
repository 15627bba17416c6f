// Accounts with mobilesync.js: models over a cache in SmartStore, a second cache of the versions that the server had last,
// and conflicts found by comparing the two with the server.
import { explain } from "./common.js";

const { Force } = window;
const { CACHE_MODE, MERGE_MODE, MERGE_MODE_DOWNLOAD } = Force;

export const FIELDS = [
  { name: "Name", label: "Name" },
  { name: "Industry", label: "Industry" },
  { name: "Phone", label: "Phone" },
  { name: "Website", label: "Website" },
];
const NAMES = FIELDS.map(({ name }) => name);
const QUERY = { type: "soql", query: `SELECT Id, ${NAMES.join(", ")} FROM Account ORDER BY Name, Id LIMIT 2000` };

export const MODES = [
  { value: MERGE_MODE.MERGE_FAIL_IF_CONFLICT, label: "Merge; ask if both changed a field" },
  { value: MERGE_MODE.MERGE_FAIL_IF_CHANGED, label: "Ask" },
  { value: MERGE_MODE.MERGE_ACCEPT_YOURS, label: "Merge; my values win" },
  { value: MERGE_MODE.OVERWRITE, label: "Overwrite the server" },
];

/** What the app chose. `isOffline`: changes stay on this device until the next sync. */
export const settings = { isOffline: false, mergeMode: MODES[0].value };

const cache = new Force.StoreCache("accounts", [{ path: "Name", type: "string" }]);
const originals = new Force.StoreCache("accountOriginals");

const Account = Force.SObject.extend({
  sobjectType: "Account",
  fieldlist: NAMES,
  cache: () => cache,
  cacheForOriginals: () => originals,
  // A deletion changes no field, so only the stricter mode finds what it would destroy.
  mergeMode: (method) =>
    method === "delete" && settings.mergeMode === MERGE_MODE.MERGE_FAIL_IF_CONFLICT ? MERGE_MODE.MERGE_FAIL_IF_CHANGED : settings.mergeMode,
});

const Accounts = Force.SObjectCollection.extend({ model: Account, cache: () => cache });

export async function start() {
  Force.init();
  await cache.init();
  await originals.init();
}

// ------------------------------------------------------------------------------------------ cache

const like = (text) => `%${text}%`;

/** The accounts of this device whose names contain `text`, without the network. */
export async function list(text = "") {
  const { buildAllQuerySpec, buildLikeQuerySpec } = window.navigator.smartstore;
  const query = text === "" ? buildAllQuerySpec("Name", "ascending", 500) : buildLikeQuerySpec("Name", like(text), "ascending", 500);
  const accounts = new Accounts();
  await accounts.fetch({ config: { type: "cache", cacheQuery: query } });
  while (accounts.hasMore()) await accounts.getMore();
  return accounts.toJSON();
}

export const isUnsynced = (record) => record.__local__ === true;

const clean = { __locally_created__: false, __locally_updated__: false, __locally_deleted__: false };
const pick = (record) => Object.fromEntries(NAMES.map((name) => [name, record[name] ?? null]));

async function forget(record) {
  await cache.remove(record.Id);
  await originals.remove(record.Id);
}

// ------------------------------------------------------------------------------------------ one account

const LOCALLY = { cacheMode: CACHE_MODE.CACHE_ONLY };
const ONLINE = { cacheMode: CACHE_MODE.SERVER_FIRST };

/**
 * What became of a change: `{kind, id}` with the kinds "saved" (the server has it), "local" (this device has it until the
 * next sync; `text` says why, if the server was to get it), "conflict" (`conflict` has base, theirs and yours), "refused" (`text`)
 * and "missing" (the server does not have the record any more). Rejects if the server does not respond.
 */
async function online(account, change) {
  try {
    await change();
    return { kind: "saved", id: account.id };
  } catch (raw) {
    const error = new Force.Error(raw);
    if (error.type === "ConflictError") return { kind: "conflict", id: account.id, conflict: error };
    const { kind, text } = explain(raw);
    if (kind === "unreachable") throw raw;
    return { kind: kind === "missing" ? "missing" : "refused", id: account.id, text };
  }
}

// `change(options)`, on the server if it responds, else on this device. What needs a decision is kept on this device too.
async function apply(account, change) {
  const locally = async (text) => {
    await change(LOCALLY);
    return { kind: "local", id: account.id, text };
  };
  if (settings.isOffline) return locally();
  try {
    const result = await online(account, () => change(ONLINE));
    if (result.kind === "conflict" || result.kind === "missing") await change(LOCALLY);
    return result;
  } catch (raw) {
    if (explain(raw).kind !== "unreachable") throw raw;
    return locally(explain(raw).text);
  }
}

/** Creates an account (a record without Id), or changes one. */
export function save(record, values) {
  const account = new Account({ ...record });
  return apply(account, (options) => account.save(values, options));
}

/** Deletes an account. One that the server does not have yet is gone at once. */
export async function remove(record) {
  const account = new Account({ ...record });
  if (cache.isLocalId(record.Id)) {
    await forget(record);
    return { kind: "saved", id: null };
  }
  return removed(record, await apply(account, (options) => account.destroy(options)));
}

// A record that the server has lost already is what a deletion wants.
async function removed(record, result) {
  if (result.kind !== "missing") return result;
  await forget(record);
  return { kind: "saved", id: null };
}

/** Takes back a deletion that the server does not know of. Earlier edits of the account stay. */
export const undelete = (record) => cache.save({ Id: record.Id, __locally_deleted__: false });

/** Takes back all changes that the server does not know of. */
export async function undo(record) {
  const original = await originals.retrieve(record.Id);
  if (original) await cache.save({ Id: record.Id, ...pick(original), ...clean });
  else await cache.remove(record.Id);
}

// ------------------------------------------------------------------------------------------ decisions

/**
 * Ends a conflict with these values; null stands for the local deletion. What the server has becomes the version that both sides
 * have in common, so that only a further change there would be a conflict again.
 */
export async function decide(record, theirs, values) {
  await originals.save({ Id: record.Id, ...pick(theirs), ...clean });
  const isTheirs = values && NAMES.every((name) => (values[name] ?? "") === (theirs[name] ?? ""));
  if (isTheirs) {
    await cache.save({ Id: record.Id, ...pick(theirs), ...clean });
    return { kind: "saved", id: record.Id };
  }
  if (values) await cache.save({ Id: record.Id, ...values, ...clean, __locally_updated__: true });
  const decided = await cache.retrieve(record.Id);
  if (settings.isOffline) return { kind: "local", id: record.Id };
  return upload(decided);
}

/** An account that was deleted on the server: `again` creates it once more, otherwise it is removed here too. */
export async function decideMissing(record, again) {
  await forget(record);
  if (!again) return { kind: "saved", id: null };
  return save(pick(record), {});
}

// ------------------------------------------------------------------------------------------ sync

// The deletion or the edit of one record, to the server.
async function upload(record) {
  const account = new Account({ ...record });
  if (!record.__locally_deleted__) return online(account, () => account.save(null, ONLINE));
  return removed(record, await online(account, () => account.destroy(ONLINE)));
}

/**
 * Uploads what is unsynced, record by record, then downloads. `report(done, total)` is called after each record. Gives
 * `{uploaded, problems, downloaded, moved}`: `problems` maps ids to outcomes that need a decision, `moved` maps the ids of records
 * that were created here to the server's. Rejects if the server does not respond.
 */
export async function sync(report) {
  const records = (await list()).filter(isUnsynced);
  const problems = new Map();
  const moved = new Map();
  let uploaded = 0;
  for (const [index, record] of records.entries()) {
    report(index, records.length + 1);
    const result = await upload(record);
    if (result.kind === "saved") uploaded += 1;
    else problems.set(record.Id, result);
    if (result.kind === "saved" && result.id !== record.Id) moved.set(record.Id, result.id);
  }
  report(records.length, records.length + 1);
  const downloaded = await download();
  return { uploaded, problems, downloaded, moved };
}

async function download() {
  const accounts = new Accounts();
  const options = { config: QUERY, cacheForOriginals: originals, mergeMode: MERGE_MODE_DOWNLOAD.LEAVE_IF_CHANGED };
  await accounts.fetch(options);
  while (accounts.hasMore()) await accounts.getMore();
  const onServer = new Set(accounts.models.map((account) => account.id));
  // The list is complete: what it lacks was deleted on the server. A local change stays, for the next upload to find that out.
  for (const record of await list()) if (!isUnsynced(record) && !onServer.has(record.Id)) await forget(record);
  return onServer.size;
}
