import { Fieldforce } from "./core/types.js";

export { BridgeError, QuerySpec, RestError, SyncError } from "./core/types.js";
export type {
  BridgeErrorCode,
  Connection,
  Credentials,
  Fieldforce,
  IndexType,
  Json,
  MobileSync,
  QueryOptions,
  QueryResult,
  QuerySpecValue,
  RestClient,
  RestRequest,
  SmartStore,
  SoupEntry,
  SoupIndex,
  SyncOptions,
  SyncRun,
  SyncState,
  SyncStatus,
  User,
  WebSocketLike,
} from "./core/types.js";

/** Connects a page to the bridge that serves it. Default of `socket`: the bridge of the page's own address. */
export function connect(options?: { socket?: string }): Fieldforce;
