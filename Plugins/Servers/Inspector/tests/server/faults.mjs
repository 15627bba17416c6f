// Errors of the interface: the status of each name.

const STATUS = {
  invalidRequest: 400, invalidCursor: 400,
  notFound: 404, unknownSoup: 404, noSuchEntry: 404, doesNotExist: 404, unknownAccount: 404,
  readOnly: 409, busyOtherProcess: 409, conflictChanged: 409, alreadyRunning: 409, managerStopped: 409, unsyncedRecords: 409,
  sql: 422, refusedStatement: 422, invalidReference: 422, bindArgumentCount: 422, notIndexed: 422, notListed: 422, invalidResolution: 422,
  invalidEdit: 422, cannotUndo: 422, ghostsNeedSyncDown: 422,
  keyLocked: 423, keyMissing: 423, wrongKey: 423, corruptKeyFile: 423, foreignStore: 423,
  busy: 503, tooManyStreams: 503, interrupted: 504,
};
const NUMBERS = {
  managerStopped: 900, alreadyRunning: 902, doesNotExist: 903, ghostsNeedSyncDown: 904, notIndexed: 2, unknownSoup: 999, noSuchEntry: 999, readOnly: 999,
  busyOtherProcess: 999, sql: 999, refusedStatement: 999, invalidReference: 999, bindArgumentCount: 999, keyLocked: 999, keyMissing: 999,
  wrongKey: 999, corrupt: 999, databaseMissing: 999, interrupted: 999, busy: 999,
};

export class Fault extends Error {
  constructor(name, message, remedy = null, details) {
    super(message);
    this.document = { code: NUMBERS[name] ?? name, name, message, remedy, ...(details ? { details } : {}) };
    this.status = STATUS[name] ?? 500;
  }
}

export const fault = (name, message, remedy, details) => new Fault(name, message, remedy, details);
