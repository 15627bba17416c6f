// Cases and the notes below them, on this device: two soups that one sync of trees uploads and downloads.
import { Records, isUnsynced } from "./records.js";

export class Casebook {
  constructor(fieldforce) {
    this.syncs = fieldforce.syncs();
    this.cases = new Records(fieldforce.store(), "cases", "Case");
    this.notes = new Records(fieldforce.store(), "notes", "CaseComment");
  }

  /** All cases with `notes`, the oldest first; or those that have, or whose notes have, all words of `text`. */
  async list(text = "") {
    const [cases, notes, conflicts] = await Promise.all([this.cases.list(), this.notes.list(), this.syncs.conflicts()]);
    const conflictOf = (soup, { _soupEntryId: id }) => conflicts.find((one) => one.soupName === soup && one.entryId === id);
    const below = groupBy(notes, (note) => note.ParentId);
    const trees = cases.map((one) => ({
      ...one,
      conflict: conflictOf("cases", one),
      notes: (below.get(one.Id) || []).map((note) => ({ ...note, conflict: conflictOf("notes", note) })).sort(byAge),
    }));
    if (text === "") return trees;
    const found = new Set((await this.cases.list(text)).map(({ Id }) => Id));
    for (const { ParentId } of await this.notes.list(text)) found.add(ParentId);
    return trees.filter(({ Id }) => found.has(Id));
  }

  /** The number of records that the server does not have as they are here. */
  async unsynced() {
    const all = [...(await this.cases.list()), ...(await this.notes.list())];
    return all.filter(isUnsynced).length;
  }

  /** Deletes a case with its notes. Gives whether it can be taken back: the server deletes the notes with the case. */
  async removeCase(tree) {
    if (tree.__locally_created__) for (const note of tree.notes) await this.notes.remove(note._soupEntryId);
    return this.cases.remove(tree._soupEntryId);
  }
}

const byAge = (a, b) => a._soupEntryId - b._soupEntryId;

function groupBy(values, key) {
  const groups = new Map();
  for (const value of values) groups.set(key(value), [...(groups.get(key(value)) || []), value]);
  return groups;
}
