/** A call that failed. `code` says how, `service` and `action` which call. */
export class BridgeError extends Error {
  /**
   * `closed`: the connection ended before the response, so the call may or may not have been carried out.
   * `unreachable`: no connection. `tooLarge`: not sent. `refused`: the bridge responded with an error.
   */
  constructor(code, message, { service, action, details } = {}) {
    super(message);
    this.name = "BridgeError";
    this.code = code;
    this.service = service;
    this.action = action;
    this.details = details;
  }
}

/** A request that the Salesforce server refused (`status`, `body`), or that got no response (`status` is 0). */
export class RestError extends Error {
  constructor(message, { status = 0, headers = {}, body } = {}) {
    super(message);
    this.name = "RestError";
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

/** A sync that ended as FAILED or STOPPED. `state` is its last state. */
export class SyncError extends Error {
  constructor(state) {
    super(`Sync ${state.name || state._soupEntryId} of soup '${state.soupName}' ended as ${state.status}. ${state.error || ""}`.trim());
    this.name = "SyncError";
    this.state = state;
  }
}
