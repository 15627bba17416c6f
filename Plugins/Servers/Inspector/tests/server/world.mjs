// The stores, syncs, accounts and logs that the reference server shows: realistic, and the same in each run.
import { sampleConflicts } from "./conflicts.mjs";
import { LargeSoup, SmallSoup } from "./soups.mjs";

const START = Date.now();
const SYNC_INDEXES = [["Id", "string"], ["Name", "string"], ["__local__", "string"], ["__sync_id__", "integer"]];
const CLEAN = { __local__: false, __locally_created__: false, __locally_updated__: false, __locally_deleted__: false };
const flags = (state) => (state ? { ...CLEAN, __local__: true, [`__locally_${state}__`]: true } : CLEAN);
const visit = (number) => `a01${String(number).padStart(12, "0")}AAA`;
const part = (number) => `a02${String(number).padStart(12, "0")}AAA`;
const b64 = (text) => Buffer.from(text).toString("base64url");

/** A name that would be markup, or turn the line around, if a page were careless. */
export const HOSTILE_NAME = `<img src=x onerror="window.hacked=1">\u202Egnp.exe\u2066{soup:path}`;
export const HOSTILE_VALUES = {
  markup: "<script>window.hacked=1</script><svg onload=window.hacked=1>",
  attribute: `" onmouseover="window.hacked=1" x="`,
  link: "javascript:window.hacked=1",
  control: "a\u0000b\u0007c\u001b[31mred\u001b[0m\r\nd\u0085e\u2028f",
  bidi: "user\u202Enimda\u202C \u2066left\u2069 \u200Fmark",
  invisible: "pay\u200Bpal \u00ADsoft \uFEFFbom \u{E0041}tag",
  surrogate: "\ud800 alone",
  combining: "z" + "\u0301".repeat(300),
  __proto__x: "{}",
  wide: "﷽".repeat(50),
};

function visits() {
  const soup = new SmallSoup("visits", [...SYNC_INDEXES, ["Status__c", "string"], ["Notes__c", "full_text"]], 2);
  const states = ["updated", "deleted", "updated", "updated", "created", "created", "updated", "updated", "created", "deleted", "updated"];
  for (let id = 1; id <= 240; id++) {
    const local = states[id - 1] === "created";
    soup.add(id, {
      attributes: { type: "Visit__c" }, Id: local ? `local_81${19 + id}` : visit(id), Name: `Visit ${String(id).padStart(3, "0")}`,
      Status__c: ["Planned", "In progress", "Done"][id % 3], Notes__c: id % 4 ? `Pump ${id}, hall ${id % 7}` : null, Amount__c: id * 12.5,
      Owner: { Name: "Ada Marsh", Email: "ada@acme.example" }, Photos: id % 9 ? [] : [{ name: "front.jpg", bytes: 120_000 + id }],
      LastModifiedDate: "2026-11-12T08:30:00.000+0000", ...flags(states[id - 1]), __sync_id__: 2,
    });
    if (states[id - 1] === "updated") {
      soup.bases.set(id, JSON.stringify({ Name: `Visit ${String(id).padStart(3, "0")}`, Status__c: "Planned", Notes__c: null, Amount__c: 10 }));
    }
  }
  return soup;
}

function parts() {
  const soup = new SmallSoup("parts", [...SYNC_INDEXES, ["Visit__c", "string"]], 3);
  for (let id = 1; id <= 90; id++) {
    soup.add(id, { attributes: { type: "Part__c" }, Id: part(id), Name: `Seal ${id}`, Visit__c: visit(id === 1 ? 8 : id === 2 ? 999 : id), Quantity__c: 1 + (id % 5), ...flags(id < 3 ? "updated" : null), __sync_id__: 2 });
  }
  return soup;
}

function hostile() {
  const soup = new SmallSoup(HOSTILE_NAME, [["Id", "string"], ["<b>Name</b>", "string"]], 4);
  Object.entries(HOSTILE_VALUES).forEach(([kind, text], index) => soup.add(index + 1, {
    Id: `x${index}`, "<b>Name</b>": text, kind, [text]: text, nested: { [text]: [text, { deep: text }] },
  }));
  // Numbers that no double holds, and a name that stands twice.
  soup.add(20, `{"Id":"exact","a":12345678901234567890.10,"10":1.50,"2":-0,"a":"again","__proto__":{"polluted":1},"_soupEntryId":20,"_soupLastModifiedDate":1790000020000}`);
  soup.add(21, `{"Id":"deep","value":${"[".repeat(400)}${"]".repeat(400)},"_soupEntryId":21,"_soupLastModifiedDate":1790000021000}`);
  return soup;
}

function attachments() {
  const soup = new SmallSoup("attachments", [["Id", "string"], ["Name", "string"]], 5);
  soup.add(1, { Id: "069000000000001AAA", Name: "inspection-2026.txt", Body: "All seals were checked. ".repeat(437_000).slice(0, 10 * 1024 * 1024) });
  soup.add(2, { Id: "069000000000002AAA", Name: "table.json", Rows: Array.from({ length: 5_000 }, (_, row) => ({ row, value: row * row })) });
  soup.add(3, { Id: "069000000000003AAA", Name: "wide.json", Rows: Array.from({ length: 40_000 }, (_, row) => `a row that makes the whole entry too large ${row}`) });
  return soup;
}

function accountsSoup(count) {
  const soup = new LargeSoup("accounts", SYNC_INDEXES, 1, count);
  if (count > 5000) for (const [index, id] of [17, 4711, count - 3].entries()) soup.edit(id, { Phone: `+49 30 555-99${index}0` });
  return soup;
}

function syncSoup(name, number, rows) {
  const soup = new SmallSoup(name, [["key", "string"]], number, { metadata: true });
  rows.forEach((row, index) => soup.add(index + 1, row));
  return soup;
}

function sync(id, type, name, soupName, more = {}) {
  return {
    id, _soupEntryId: id, type, name, soupName, target: type === "syncDown" ? { type: "soql", query: `SELECT Id, Name FROM ${soupName}` } : { impl: "collection" },
    options: { mergeMode: "MERGE_FIELDS", ...(type === "syncUp" ? { fieldlist: ["Name", "Status__c", "Notes__c"] } : {}) }, status: "DONE", progress: 100,
    totalSize: 0, maxTimeStamp: START - 90_000, startTime: START - 100_000, endTime: START - 90_000, error: null, moved: 0, elapsedSeconds: 10,
    recordsPerSecond: null, remainingSeconds: null, dirty: 0, conflictCount: 0, ...more,
  };
}

function syncs(entries) {
  return [
    sync(1, "syncDown", "accounts", "accounts", { totalSize: entries, moved: entries, elapsedSeconds: 318, recordsPerSecond: 3144, dirty: 3, startTime: START - 400_000, endTime: START - 82_000 }),
    sync(2, "syncDown", "visits", "visits", { totalSize: 240, moved: 240, recordsPerSecond: 24, dirty: 11, conflictCount: 7 }),
    sync(3, "syncUp", "visits-up", "visits", { totalSize: 11, moved: 11, elapsedSeconds: 2.4, recordsPerSecond: 4.6, dirty: 11, conflictCount: 7, unsentCount: 7, outcomes: { succeeded: 4, skipped: 5, failed: 2 } }),
    sync(4, "syncDown", null, "parts", {
      status: "FAILED", progress: 40, totalSize: 90, moved: 36, dirty: 2, conflictCount: 2,
      error: { code: 400, message: "The server refused the query: no such column 'Quantitty__c' on entity 'Part__c'. Correct the query with 'fieldforce sync change'.", body: [{ errorCode: "INVALID_FIELD", message: "No such column 'Quantitty__c' on entity 'Part__c'." }] },
    }),
    sync(5, "syncDown", "attachments", "attachments", { status: "STOPPED", progress: 66, totalSize: 3, moved: 2 }),
    sync(6, "syncUp", "parts-up", "parts", { status: "NEW", progress: 0, totalSize: -1, moved: null, dirty: 2, conflictCount: 2, startTime: 0, endTime: 0, elapsedSeconds: null, maxTimeStamp: -1, outcomes: { succeeded: 0, skipped: 0, failed: 0 } }),
  ];
}

function outcomes() {
  const of = (entryId, outcome, action, error = null, conflict = null) => ({ soup: "visits", entryId, recordId: entryId === 5 ? "local_8124" : visit(entryId), action, outcome, error, conflict, time: START - 90_000 + entryId, syncId: 3 });
  return [
    of(1, "conflict", "update", null, "visits/1"), of(2, "conflict", "delete", null, "visits/2"), of(3, "conflict", "update", null, "visits/3"),
    of(5, "unanswered", "create"), of(9, "rejected", "create", { errorCode: "REQUIRED_FIELD_MISSING", message: "Required fields are missing: [Account__c]", fields: ["Account__c"] }),
    of(10, "waiting", "delete", { message: "The record refers to local_8123, which is not on the server yet." }), of(11, "undecided", "update", { message: "The server did not say what it has of the record." }),
    of(12, "succeeded", "update"), of(13, "succeeded", "update"), of(14, "succeeded", "create"), of(15, "nothingToDo", null),
  ];
}

/** A store, and what it says of itself. */
function store(name, label, owner, more = {}) {
  return { id: b64(`${owner ?? "global"}/${name}`), name, label, owner, status: "open", encrypted: true, writable: true, error: null, readOnlyError: null, soups: [], syncs: [], conflicts: [], outcomes: [], ...more };
}

/** Files in each state, and one whose name is meant to be shown as a text. */
const files = () => ({
  files: [
    { id: "069000000000001AAA", title: "Roof plan", extension: "pdf", attachment: false, bytes: 4_200_000, storedBytes: 4_200_000, state: "available", records: ["001000000000001AAA"], problem: null },
    { id: "069000000000002AAA", title: "Crane manual", extension: "pdf", attachment: false, bytes: 91_000_000, storedBytes: 30_000_000, state: "partial", records: ["001000000000001AAA", "001000000000002AAA"], problem: "The download ended early. It resumes with the next sync." },
    { id: "00P000000000001AAA", title: "Contract", extension: null, attachment: true, bytes: 80_000, storedBytes: 0, state: "onServer", records: ["001000000000003AAA"], problem: null },
    { id: "069000000000003AAA", title: HOSTILE_NAME, extension: "svg", attachment: false, bytes: 700, storedBytes: 650, state: "outdated", records: [], problem: HOSTILE_VALUES.markup },
  ],
  total: 612, usedBytes: 34_281_250,
  queued: [
    { id: "file_a1", name: "leak.jpg", bytes: 81_250, state: "queued", parent: "local_17", reason: null },
    { id: "file_a2", name: "signature.png", bytes: 600, state: "rejected", parent: "001000000000002AAA", reason: "The server refuses files of this type. Remove it from the queue." },
  ],
});

const ADA = b64("00D000000000001-005000000000001");
const BEN = b64("00D000000000001-005000000000002");

export function makeWorld({ entries = 1_000_000 } = {}) {
  const main = store("smartstore", "default (user store)", ADA, {
    soups: [accountsSoup(entries), attachments(), parts(), visits(), syncSoup("syncs_conflicts", 7, []), syncSoup("syncs_soup", 6, [{ key: "1" }])],
    syncs: syncs(entries), conflicts: sampleConflicts(visit, part), outcomes: outcomes(), files: files(),
  });
  const stores = [
    main, store("drafts", "drafts (user store)", ADA, { soups: [] }),
    store("hostile", "hostile (user store)", ADA, { soups: [hostile()] }),
    store("smartstore", "default (global store)", null, { soups: [new SmallSoup("settings", [["key", "string"]], 1)] }),
    store("catalog", "catalog (global store)", null, {
      writable: false, soups: [parts()],
      readOnlyError: ["busyOtherProcess", "Store 'catalog' is open for writing in process 4712 (fieldforce sync).", "Wait until that process has ended, or change the store there. Reading works."],
    }),
    store("archive", "archive (user store)", ADA, {
      status: "locked", error: ["keyLocked", "Cannot open store 'archive': the secret store is locked.", "Unlock the secret store, then reload this page. The data is unharmed."],
    }),
    store("ledger", "ledger (user store)", ADA, {
      status: "damaged", error: ["corrupt", "Store 'ledger' is damaged: page 214 was changed outside the store.", "Run 'fieldforce store verify --store ledger' for the details, then restore the store from a backup. Nothing was deleted."],
    }),
    store("scratch", "scratch (global store)", null, {
      status: "missing", error: ["databaseMissing", "Store 'scratch' has a key but no database file.", "Restore the store's folder, or remove the store to start over."],
    }),
  ];
  main.soups[4].add(1, { key: "visits/1" });
  stores[3].soups[0].add(1, { key: "theme", value: "dark" });

  const token = (age, expiry = null, format = "opaque") => ({ access: { issuedTime: START - age, expiryTime: expiry, format }, refresh: { issuedTime: START - 40 * 86_400_000 } });
  const accounts = [
    { id: ADA, username: "ada@acme.example", userId: "005000000000001AAA", organizationId: "00D000000000001AAA", instanceUrl: "https://acme.my.salesforce.com", loginServer: "https://login.salesforce.com", current: true, loginState: "loggedIn", scopes: ["api", "refresh_token", "web"], unsynced: 16, tokens: token(47 * 60_000) },
    { id: BEN, username: "ben@acme.example", userId: "005000000000002AAA", organizationId: "00D000000000001AAA", instanceUrl: "https://acme.my.salesforce.com", loginServer: "https://acme.my.salesforce.com", current: false, loginState: "loggedIn", scopes: ["api", "refresh_token"], unsynced: 0, tokens: token(3 * 3_600_000, START + 600_000, "jwt") },
  ];
  return {
    now: START, stores, accounts, unreadable: [{ file: "005000000000003.account", error: { code: 10003, name: "wrongKey", message: "The account file was written with another key. It was kept.", remedy: "Restore that key, or log in again." } }],
    loginHosts: [
      { name: "Production", url: "https://login.salesforce.com", selected: true, isDeletable: false },
      { name: "Sandbox", url: "https://test.salesforce.com", selected: false, isDeletable: false },
      { name: "Acme", url: "https://acme.my.salesforce.com", selected: false, isDeletable: true },
    ],
    policies: [
      { name: "Screen lock", value: "after 10 minutes", source: "connected app" }, { name: "Login hosts", value: "list can be extended", source: "app" },
      { name: "Reuse of refresh tokens", value: "rotated", source: "connected app" },
    ],
    keyValues: [
      { id: b64("kv/drafts"), name: "drafts", owner: ADA, storeVersion: 2, error: null, values: new Map([
        ["greeting", Buffer.from("Hello from the field")], ["form/visit-17", Buffer.from(JSON.stringify({ visit: visit(17), signed: false, items: [1, 2, 3] }))],
        ["photo", Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * 37 + 200) % 256))], ["empty", Buffer.alloc(0)],
        ...Array.from({ length: 260 }, (_, index) => [`cache/page-${String(index).padStart(3, "0")}`, Buffer.from(`page ${index}`)]),
        [HOSTILE_NAME, Buffer.from(HOSTILE_VALUES.markup)],
      ]) },
      { id: b64("kv/old"), name: "old", owner: null, storeVersion: 1, error: null, values: new Map() },
    ],
    information: [
      ["section:Fieldforce", ""], ["SDK Version", "14.0.0"], ["App Type", "Native"], ["User Agent", "SalesforceMobileSDK/14.0.0 Linux/12 (x86_64) FieldNotes/1.4(27) Native uid_8f1c ftr_UA"],
      ["Current User", "ada@acme.example"], ["Authenticated Users", "ada@acme.example, ben@acme.example"],
      ["section:Auth Config", ""], ["Use Web Server Authentication", "YES"], ["Browser Login Enabled", "YES"], ["IDP Enabled", "NO"],
      ["section:SmartStore", ""], ["SQLCipher version", "Fieldforce pages 1, SQLite 3.45.1"], ["SQLCipher Compile Options", "ENABLE_FTS5, ENABLE_JSON1, THREADSAFE=2"],
      ["SQLCipher Runtime Settings", "cipher=AES-256-GCM page_size=4096"], ["User SmartStores", "archive, drafts, hostile, ledger, smartstore"], ["Global SmartStores", "catalog, scratch, smartstore"],
      ["section:Key Value Stores", ""], ["User Key Value Stores", "drafts"], ["Global Key Value Stores", "old"],
    ].map(([name, value]) => ({ name, value })),
    actions: [
      { name: "Logout", enabled: true, writes: true, reason: null, confirmation: "Log out ada@acme.example? 16 entries are not uploaded and would be lost." },
      { name: "Switch User", enabled: true, writes: true, reason: null, confirmation: null, fields: [
        { name: "account", label: "User", kind: "choice", value: ADA, choices: accounts.map(({ id, username }) => ({ value: id, text: username })) }] },
      { name: "Login Options", enabled: true, writes: true, reason: null, confirmation: null, fields: [
        { name: "flow", label: "Flow", kind: "choice", value: "webServer", choices: [{ value: "webServer", text: "Web server" }, { value: "userAgent", text: "User agent" }] },
        { name: "consumerKey", label: "Consumer key", kind: "text", value: "" }, { name: "hybrid", label: "Hybrid tokens", kind: "switch", value: false }] },
      { name: "Refresh Token", enabled: true, writes: true, reason: null, confirmation: null },
      { name: "React Developer Menu", enabled: false, writes: false, reason: "This app has no React Native runtime.", confirmation: null },
    ],
    levels: { MobileSync: "info", SalesforceSDKCore: "debug", SmartStore: "error" },
  };
}
