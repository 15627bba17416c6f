// The records of one soup on this device, with the flags of Mobile Sync. Everything here works without the network. The
// same file in each sample that uses it.
const PAGE_SIZE = 500;
const FLAGS = ["__local__", "__locally_created__", "__locally_updated__", "__locally_deleted__"];
const CLEAN = Object.fromEntries(FLAGS.map((flag) => [flag, false]));
const flag = (name) => ({ ...CLEAN, __local__: true, [name]: true });
// Without what the server said about an older state of the record.
const without = ({ __last_error__, ...record }) => record;

export const isUnsynced = (record) => record.__local__ === true;

/** What differs from the server, in one word: null if nothing does. `conflict`: the record's conflict, if it has one. */
export function mark(record, conflict) {
  if (conflict) return ["bad", "Conflict"];
  if (!isUnsynced(record)) return null;
  if (record.__last_error__) return ["bad", "Refused"];
  if (record.__locally_deleted__) return ["warning", "Deleted"];
  return ["warning", record.__locally_created__ ? "New" : "Edited"];
}

/** Why the server refused a record, in its own words. */
export function refusalOf({ __last_error__: text }) {
  try {
    const [first] = [JSON.parse(text)].flat();
    return first.message || text;
  } catch {
    return text;
  }
}

const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];

/** The entries of a soup as records of the object `type`. */
export class Records {
  #last = Promise.resolve();

  constructor(store, soupName, type) {
    Object.assign(this, { store, soupName, type });
  }

  /** All entries, or those with all words of `text`, the last of which may be incomplete. In no order. */
  list(text = "") {
    const matchKey = `${words(text).join(" ")}*`;
    const found = { queryType: "match", indexPath: null, matchKey, orderPath: "Id", order: "ascending", pageSize: PAGE_SIZE };
    const all = { queryType: "range", indexPath: "Id", orderPath: "Id", order: "ascending", pageSize: PAGE_SIZE };
    return this.store.query(this.soupName, words(text).length > 0 ? found : all).toArray();
  }

  async read(entryId) {
    return (await this.store.retrieve(this.soupName, [entryId]))[0];
  }

  /** Creates a record that the next sync uploads, and gives its entry. */
  async create(values) {
    const Id = `local_${crypto.randomUUID()}`;
    return this.#write({ attributes: { type: this.type }, Id, ...values, ...flag("__locally_created__") });
  }

  /** Changes fields of a record; null if it does not exist any more. */
  edit(entryId, values) {
    return this.#change(entryId, (record) => ({
      ...values,
      ...flag(record.__locally_created__ ? "__locally_created__" : "__locally_updated__"),
    }));
  }

  /** Deletes a record: with the next sync, or at once if the server does not have it. Gives whether it can be taken back. */
  async remove(entryId) {
    const record = await this.read(entryId);
    if (!record) return false;
    if (record.__locally_created__) {
      await this.store.remove(this.soupName, [entryId]);
      return false;
    }
    // An edit stays marked: taking back the deletion must not lose it.
    await this.#change(entryId, ({ __locally_updated__ }) => ({ ...flag("__locally_deleted__"), __locally_updated__ }));
    return true;
  }

  /** Takes back a deletion that the server does not know of. An earlier edit stays. */
  undelete(entryId) {
    return this.#change(entryId, (record) => (record.__locally_updated__ ? flag("__locally_updated__") : CLEAN));
  }

  // A sync may have written the entry since the page showed it: a change starts from what the store has, and changes follow
  // each other, so that none writes over another.
  #change(entryId, changed) {
    const result = this.#last.then(async () => {
      const record = await this.read(entryId);
      return record ? this.#write({ ...without(record), ...changed(record) }) : null;
    });
    this.#last = result.catch(() => {});
    return result;
  }

  async #write(record) {
    return (await this.store.upsert(this.soupName, [record]))[0];
  }
}
