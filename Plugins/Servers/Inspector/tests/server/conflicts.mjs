// The conflicts of the reference server: one of each kind, and what the resolutions do to the entries.
import { createHash } from "node:crypto";
import { ExactObject, exactText, parseExact } from "../../www/data/exact.js";
import { fault } from "./faults.mjs";

const TIME = Date.now() - 3_600_000;

/** The choices that a conflict permits. */
export function resolutionsOf(conflict) {
  switch (conflict.kind) {
    case "inDoubt": return ["record", "create"];
    case "parentMissing": return [
      ...(conflict.missingParent.isRequired ? [] : ["detach"]), ...(conflict.missingParent.entryId === null ? [] : ["recreateParent"]), "theirs",
    ];
    default: return ["mine", "theirs", "values"];
  }
}

export function versionOf(conflict) {
  return createHash("sha256").update(JSON.stringify(conflict)).digest("base64url").slice(0, 16);
}

function conflict(soupName, entryId, recordId, kind, fields, more = {}) {
  return {
    key: `${soupName}/${entryId}`, soupName, entryId, recordId, kind,
    fields: Object.entries(fields).map(([name, { base, mine, theirs }]) => ({
      name, ...(base === undefined ? {} : { base }), ...(mine === undefined ? {} : { mine }), ...(theirs === undefined ? {} : { theirs }),
    })),
    syncId: 2, mergeMode: "MERGE_FIELDS", time: TIME + entryId * 60_000, idField: "Id", dateField: "LastModifiedDate", ...more,
  };
}

/** One of each kind, on the first unsynced entries of a soup of visits and one of parts. */
export function sampleConflicts(visit, part) {
  const candidate = (id, Name) => ({ id, values: { Name, LastModifiedDate: "2026-11-20T09:12:00.000+0000" } });
  return [
    conflict("visits", 1, visit(1), "fields", {
      Name: { base: "Inspect pump 7", mine: "Inspect pumps 7 and 8", theirs: "Inspect pump 7 (urgent)" },
      Status__c: { base: "Planned", mine: "In progress", theirs: "Cancelled" },
      Notes__c: {
        base: "Seal leaks.\nBring spare seals.", mine: "Seal leaks.\nBring spare seals.\nCustomer is in from 14:00.",
        theirs: "Seal leaks, replaced on 12 November.\nBring spare seals.",
      },
      Amount__c: { base: 120.5, mine: 12345678901234567890n, theirs: 140 }, Contact__c: { base: "0030000000000AAA", mine: null, theirs: "0030000000000BBB" },
    }),
    conflict("visits", 2, visit(2), "deletedHere", { Status__c: { base: "Planned", theirs: "In progress" } }),
    conflict("visits", 3, visit(3), "deletedThere", { Notes__c: { base: "", mine: "Valve replaced, see photo." } }),
    conflict("visits", 4, visit(4), "changedThere", { Status__c: { base: "Planned", mine: "Done" } }),
    conflict("visits", 5, "local_8123", "inDoubt", { Name: { base: "Visit Harbor Repair", mine: "Visit Harbor Repair, hall 2" } }, {
      candidates: [candidate(visit(905), "Visit Harbor Repair"), candidate(visit(906), "Visit harbor repair")],
    }),
    conflict("visits", 6, "local_8124", "inDoubt", { Name: { base: "Collect samples", mine: "Collect samples" } }),
    conflict("visits", 7, visit(7), "localEdits", { Status__c: { mine: "Done", theirs: "Planned" }, __locally_deleted__: { theirs: true } }),
    conflict("parts", 1, part(1), "parentMissing", { Quantity__c: { base: 2, mine: 4 } }, {
      missingParent: { soupName: "visits", entryId: 8, recordId: visit(8), field: "Visit__c", isRequired: true, idField: "Id", dateField: "LastModifiedDate" },
    }),
    conflict("parts", 2, part(2), "parentMissing", { Quantity__c: { base: 1, mine: 3 } }, {
      missingParent: { soupName: "visits", entryId: null, recordId: visit(999), field: "Visit__c", isRequired: false, idField: "Id", dateField: "LastModifiedDate" },
    }),
  ];
}

/** JSON of a conflict with its numbers exact, as the store has it. */
export function conflictText(conflict) {
  const text = JSON.stringify(conflict, (_, value) => (typeof value === "bigint" ? `\u0001${value}\u0001` : value));
  return text.replace(/"\\u0001(\d+)\\u0001"/g, "$1");
}

/** Applies a resolution to the entry of a conflict. */
export function resolve(store, { key, version, resolution, fields, record }) {
  const index = store.conflicts.findIndex((one) => one.key === key);
  const found = store.conflicts[index];
  if (!found || versionOf(conflictText(found)) !== version) {
    throw fault("conflictChanged", `The conflict of ${key} is over, or not as it was listed. List the conflicts again.`);
  }
  if (!resolutionsOf(found).includes(resolution)) {
    throw fault("invalidResolution", `The conflict of ${key} does not permit '${resolution}'. Resolve it with ${resolutionsOf(found).join(" or ")}.`);
  }
  if (resolution === "record" && !(typeof record === "string" && record && !record.startsWith("local_"))) {
    throw fault("invalidResolution", `'${record ?? ""}' is not an id of the server. Give the id of a record there.`);
  }
  const soup = store.soups.find(({ name }) => name === found.soupName);
  const entry = soup.entry(found.entryId);
  store.conflicts.splice(index, 1);
  const put = (name, value) => {
    const member = entry.members.find(([other]) => other === name);
    if (member) member[1] = value;
    else entry.members.push([name, value]);
  };
  const values = parseExact(conflictText(found)).get("fields");
  const side = (field, name) => field.get(name) ?? null;
  for (const field of values) {
    const name = field.get("name");
    const choice = resolution === "values" ? fields?.[name] ?? "theirs" : resolution;
    if (typeof choice === "object") put(name, choice.value);
    else if (["base", "mine", "theirs"].includes(choice) && (choice !== "mine" || field.get("mine") !== undefined)) put(name, side(field, choice));
  }
  if (resolution === "record") put("Id", record);
  if (resolution === "detach") put(found.missingParent.field, null);
  const clean = resolution === "theirs" || resolution === "record";
  put("__local__", !clean);
  if (clean) for (const flag of ["created", "updated", "deleted"]) put(`__locally_${flag}__`, false);
  soup.add(found.entryId, exactText(new ExactObject(entry.members)));
  return { resolved: key };
}
