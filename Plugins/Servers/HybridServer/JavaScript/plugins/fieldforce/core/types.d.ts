// Types that both entries of the package share.

/** A JSON value, as the store and the bridge keep it. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** How a call failed. `closed`: the connection ended before the response, so the call may have been carried out. */
export type BridgeErrorCode = "closed" | "unreachable" | "tooLarge" | "refused";

/** A call that failed. */
export class BridgeError extends Error {
  constructor(code: BridgeErrorCode, message: string, about?: { service?: string; action?: string; details?: unknown });
  readonly code: BridgeErrorCode;
  readonly service?: string;
  readonly action?: string;
  /** What the bridge sent as the error. */
  readonly details?: unknown;
}

/** A request that the Salesforce server refused, or that got no response (`status` is 0). */
export class RestError extends Error {
  constructor(message: string, response?: { status?: number; headers?: Record<string, string>; body?: unknown });
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

/** A sync that ended as FAILED or STOPPED. */
export class SyncError extends Error {
  constructor(state: SyncState);
  readonly state: SyncState;
}

/** Calls and events over one WebSocket. Reconnects with the next call after a loss. */
export class Connection {
  constructor(openSocket: () => WebSocketLike);
  /** Calls an action of a service. Rejects with BridgeError. */
  call<Value = unknown>(service: string, action: string, ...args: unknown[]): Promise<Value>;
  /** Calls `listener` with the detail of each event. Gives a function that ends this. */
  on<Detail = unknown>(event: string, listener: (detail: Detail) => void): () => void;
  close(): void;
}

/** The part of a WebSocket that a connection uses. */
export interface WebSocketLike {
  readonly readyState: number;
  onopen: ((event: any) => void) | null;
  onmessage: ((event: any) => void) | null;
  onclose: ((event: any) => void) | null;
  send(text: string): void;
  close(): void;
}

export type IndexType = "string" | "integer" | "floating" | "full_text" | "json1";

export interface SoupIndex {
  path: string;
  type: IndexType;
}

/** An entry as stored. */
export type SoupEntry<Record = { [key: string]: any }> = Record & {
  _soupEntryId: number;
  /** Milliseconds since 1970. */
  _soupLastModifiedDate: number;
};

export interface QueryOptions {
  /** Default: ascending. */
  order?: "ascending" | "descending";
  /** Default: the index path. */
  orderPath?: string;
  /** The number of entries that one call of the bridge fetches. Default: 100. */
  pageSize?: number;
  /** Gives rows of these paths instead of entries. */
  selectPaths?: string[];
}

export interface QuerySpecValue extends QueryOptions {
  queryType: "exact" | "range" | "like" | "match" | "smart";
  indexPath?: string | null;
  matchKey?: string | number | boolean;
  likeKey?: string;
  beginKey?: string | number | null;
  endKey?: string | number | null;
  smartSql?: string;
}

/** Builders of query specs. */
export const QuerySpec: {
  all(orderPath: string, options?: QueryOptions): QuerySpecValue;
  exact(indexPath: string, matchKey: string | number | boolean, options?: QueryOptions): QuerySpecValue;
  range(indexPath: string, beginKey?: string | number | null, endKey?: string | number | null, options?: QueryOptions): QuerySpecValue;
  like(indexPath: string, likeKey: string, options?: QueryOptions): QuerySpecValue;
  /** A full-text query. Without a path: in all full-text paths. */
  match(indexPath: string | null, matchKey: string, options?: QueryOptions): QuerySpecValue;
  smart(smartSql: string, options?: Pick<QueryOptions, "pageSize">): QuerySpecValue;
};

/** Results of a query. Each iteration has a cursor of its own, closed at its end. */
export class QueryResult<Item> implements AsyncIterable<Item> {
  [Symbol.asyncIterator](): AsyncIterableIterator<Item>;
  pages(): AsyncIterableIterator<{ entries: Item[]; index: number; totalEntries: number; totalPages: number }>;
  toArray(): Promise<Item[]>;
  first(): Promise<Item | undefined>;
}

/** One store of soups. */
export class SmartStore {
  constructor(connection: Connection, options?: { name?: string; isGlobal?: boolean });
  readonly name?: string;
  readonly isGlobal: boolean;
  readonly config: { isGlobalStore: boolean; storeName?: string };
  /** Creates the soup unless it exists. Gives its name. */
  registerSoup(soupName: string, indexes: SoupIndex[]): Promise<string>;
  soupExists(soupName: string): Promise<boolean>;
  soupIndexes(soupName: string): Promise<SoupIndex[]>;
  /** Replaces the indexes. Default: `reIndexData` is true. */
  alterSoup(soupName: string, indexes: SoupIndex[], options?: { reIndexData?: boolean }): Promise<string>;
  reIndexSoup(soupName: string, paths: string[]): Promise<string>;
  clearSoup(soupName: string): Promise<void>;
  removeSoup(soupName: string): Promise<void>;
  /** Inserts or updates all entries, or none. */
  upsert<Record extends object>(
    soupName: string,
    entries: Record[],
    options?: { externalIdPath?: string }
  ): Promise<SoupEntry<Record>[]>;
  /** The entries with these ids, without those that do not exist. */
  retrieve<Record = { [key: string]: any }>(soupName: string, entryIds: number[]): Promise<SoupEntry<Record>[]>;
  /** Removes entries by ids, or those on the first page of a query spec. */
  remove(soupName: string, idsOrQuerySpec: number[] | QuerySpecValue): Promise<void>;
  /** Bytes. */
  size(): Promise<number>;
  delete(): Promise<void>;
  query<Item = SoupEntry>(soupName: string, querySpec: QuerySpecValue): QueryResult<Item>;
  sql<Row extends unknown[] = any[]>(smartSql: string, options?: { pageSize?: number }): QueryResult<Row>;
}

export type SyncStatus = "NEW" | "RUNNING" | "DONE" | "FAILED" | "STOPPED";

/** The state of a sync, as the bridge sends it. */
export interface SyncState {
  _soupEntryId: number;
  type: "syncDown" | "syncUp";
  name?: string;
  soupName: string;
  target: { [key: string]: any };
  options: { [key: string]: any };
  status: SyncStatus;
  /** Percent, 0 to 100. */
  progress: number;
  /** The number of records, -1 before it is known. */
  totalSize: number;
  maxTimeStamp: number;
  startTime: number;
  endTime: number;
  error: string;
}

export interface SyncOptions {
  mergeMode?: "OVERWRITE" | "LEAVE_IF_CHANGED" | (string & {});
  fieldlist?: string[];
  [key: string]: any;
}

/** One run of a sync: its states as they come, and a promise of the last. FAILED and STOPPED reject with SyncError. */
export interface SyncRun extends AsyncIterable<SyncState>, PromiseLike<SyncState> {}

/** A record that was changed on both sides and waits for a decision. */
export interface SyncConflict {
  /** Names the conflict: soup and entry. */
  key: string;
  soupName: string;
  entryId: number;
  recordId: string;
  kind: string;
  /** The fields that differ: the value before both changes, the one of the store and the one of the server. */
  fields: { name: string; base?: Json; mine?: Json; theirs?: Json }[];
  /** Records that may be the one whose creation got no response. */
  candidates?: { id: string; values: { [field: string]: Json } }[];
  [key: string]: any;
}

/** How a conflict is resolved. `record` and `create` are for a record in doubt, the last two for a child without its parent. */
export type SyncResolution =
  | "mine"
  | "theirs"
  | { values: { [field: string]: Json } }
  | { record: string }
  | "create"
  | "detach"
  | "recreateParent";

/** The syncs of one store. */
export class MobileSync {
  constructor(connection: Connection, config: { isGlobalStore: boolean; storeName?: string });
  syncDown(sync: { target: { type: string; [key: string]: any }; soupName: string; options?: SyncOptions; name?: string }): SyncRun;
  syncUp(sync: { target?: { [key: string]: any }; soupName: string; options?: SyncOptions; name?: string }): SyncRun;
  /** A number is an id, a string a name. */
  reSync(idOrName: number | string): SyncRun;
  status(idOrName: number | string): Promise<SyncState | null>;
  delete(idOrName: number | string): Promise<void>;
  /** Gives the number of removed entries. */
  cleanGhosts(syncId: number): Promise<number>;
  /** The conflicts of a soup, or of all soups of the store. */
  conflicts(soupName?: string): Promise<SyncConflict[]>;
  /** The next sync up uploads the result. */
  resolve(conflict: SyncConflict | string, resolution: SyncResolution): Promise<void>;
}

export interface RestRequest {
  /** Absolute on the server, or a whole URL. */
  path: string;
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The query of GET, HEAD and DELETE. */
  params?: { [name: string]: string | number | boolean };
  /** The JSON body of the other methods. */
  body?: unknown;
  headers?: { [name: string]: string };
  files?: { [part: string]: { fileMimeType: string; fileUrl: string; fileName: string } };
  /** Gives `{encodedBody, contentType}` with the body in base64. */
  binary?: boolean;
  /** Default: true. */
  authenticated?: boolean;
}

/** Salesforce's REST API with the session of the current user. Rejects with RestError. */
export class RestClient {
  constructor(connection: Connection, options?: { apiVersion?: string });
  readonly apiVersion: string;
  request<Value = any>(request: RestRequest): Promise<Value>;
  query<Record = any>(soql: string): AsyncIterableIterator<Record>;
  search<Record = any>(sosl: string): Promise<Record[]>;
  describe(type: string): Promise<any>;
  retrieve<Record = any>(type: string, id: string, fields?: string[]): Promise<Record>;
  /** Gives the new id. */
  create(type: string, record: object): Promise<string>;
  update(type: string, id: string, fields: object): Promise<void>;
  upsert(type: string, field: string, value: string, record: object): Promise<any>;
  delete(type: string, id: string): Promise<void>;
}

export interface Credentials {
  accessToken: string;
  refreshToken: string | null;
  clientId: string;
  userId: string;
  orgId: string;
  loginUrl: string;
  instanceUrl: string;
  userAgent: string;
  communityId: string | null;
  communityUrl: string | null;
  [key: string]: any;
}

export interface User {
  userId: string;
  orgId: string;
  username: string;
  [key: string]: any;
}

/** Everything that the bridge offers, over one connection. */
export class Fieldforce {
  constructor(connection: Connection);
  readonly connection: Connection;
  /** Without a name: the default store. */
  store(name?: string, options?: { isGlobal?: boolean }): SmartStore;
  /** Default: the syncs of the current user's default store. */
  syncs(store?: SmartStore): MobileSync;
  rest(options?: { apiVersion?: string }): RestClient;
  stores(): Promise<{ storeName: string; isGlobalStore: boolean }[]>;
  /** Rejects if there is no user. */
  credentials(): Promise<Credentials>;
  authenticate(): Promise<Credentials>;
  logout(): Promise<void>;
  users(): Promise<User[]>;
  currentUser(): Promise<User | null>;
  info(): Promise<{
    /** The version of the Mobile SDK whose JavaScript the bridge speaks. */
    sdkVersion: string;
    /** The version of the product. */
    fieldforceVersion?: string;
    appName: string;
    appVersion: string;
    forcePluginsAvailable: string[];
    bootConfig: any;
  }>;
  close(): void;
}
