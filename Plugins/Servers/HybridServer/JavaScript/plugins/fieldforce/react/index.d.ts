import { Connection, SoupIndex, SyncState } from "../core/types.js";

export type Success<Value = any> = (value: Value) => void;
export type Failure = (error: any) => void;
/** A store config, true for the app's default store, anything else for the user's. */
export type Store = { isGlobalStore?: boolean; storeName?: string } | boolean | null | undefined;
type Call<Args extends unknown[], Value = any> = (...args: [...Args, Success<Value>?, Failure?]) => void;
type Spec = { [key: string]: any };
type Cursor = { cursorId: number; currentPageIndex: number; totalPages: number; [key: string]: any };

export interface Net {
  setApiVersion(version: string): void;
  getApiVersion(): string;
  sendRequest(
    endPoint: string, path: string, success?: Success, failure?: Failure, method?: string, payload?: any,
    headerParams?: { [name: string]: string } | null, fileParams?: Spec | null, returnBinary?: boolean,
    doesNotRequireAuthentication?: boolean
  ): void;
  versions: Call<[]>;
  resources: Call<[]>;
  describeGlobal: Call<[]>;
  metadata: Call<[type: string]>;
  describe: Call<[type: string]>;
  describeLayout: Call<[type: string, recordTypeId: string | null]>;
  create: Call<[type: string, fields: object], { id: string }>;
  retrieve: Call<[type: string, id: string]> & Call<[type: string, id: string, fields: string | string[]]>;
  upsert: Call<[type: string, field: string, value: string, fields: object]>;
  update: Call<[type: string, id: string, fields: object]>;
  del: Call<[type: string, id: string]>;
  query: Call<[soql: string]>;
  queryMore: Call<[url: string]>;
  search: Call<[sosl: string]>;
  getAttachment: Call<[id: string], { encodedBody: string; contentType: string | null }>;
  collectionCreate: Call<[allOrNone: boolean, records: object[]]>;
  collectionUpdate: Call<[allOrNone: boolean, records: object[]]>;
  collectionUpsert: Call<[allOrNone: boolean, type: string, field: string, records: object[]]>;
  collectionRetrieve: Call<[type: string, ids: string[], fields: string[]]>;
  collectionDelete: Call<[allOrNone: boolean, ids: string[]]>;
}

export interface ReactSmartStore {
  getDatabaseSize: Call<[Store], number>;
  registerSoup: Call<[Store, string, SoupIndex[]], string>;
  registerSoupWithSpec: Call<[Store, Spec, SoupIndex[]], string>;
  removeSoup: Call<[Store, string]>;
  clearSoup: Call<[Store, string]>;
  soupExists: Call<[Store, string], boolean>;
  getSoupIndexSpecs: Call<[Store, string], SoupIndex[]>;
  getSoupSpec: Call<[Store, string]>;
  alterSoup: Call<[Store, string, SoupIndex[], boolean], string>;
  alterSoupWithSpec: Call<[Store, string, Spec, SoupIndex[], boolean], string>;
  reIndexSoup: Call<[Store, string, string[]], string>;
  upsertSoupEntries: Call<[Store, string, object[]], any[]>;
  upsertSoupEntriesWithExternalId: Call<[Store, string, object[], string], any[]>;
  retrieveSoupEntries: Call<[Store, string, number[]], any[]>;
  removeFromSoup: Call<[Store, string, number[] | Spec]>;
  querySoup: Call<[Store, string, Spec], Cursor>;
  runSmartQuery: Call<[Store, Spec], Cursor>;
  moveCursorToPageIndex: Call<[Store, Cursor, number], Cursor>;
  moveCursorToNextPage: Call<[Store, Cursor], Cursor>;
  moveCursorToPreviousPage: Call<[Store, Cursor], Cursor>;
  closeCursor: Call<[Store, Cursor]>;
  removeStore: Call<[Store]>;
  getAllStores: Call<[]>;
  getAllGlobalStores: Call<[]>;
  removeAllStores: Call<[]>;
  removeAllGlobalStores: Call<[]>;
}

type Run = Call<[Store, Spec, string, Spec], SyncState> & Call<[Store, Spec, string, Spec, string], SyncState>;

export interface ReactMobileSync {
  syncDown: Run;
  syncUp: Run;
  reSync: Call<[Store, number | string], SyncState>;
  getSyncStatus: Call<[Store, number | string], SyncState | null>;
  cleanResyncGhosts: Call<[Store, number | string], number>;
  deleteSync: Call<[Store, number | string]>;
  MERGE_MODE: { OVERWRITE: "OVERWRITE"; LEAVE_IF_CHANGED: "LEAVE_IF_CHANGED" };
}

type Level = "error" | "warn" | "info" | "debug";

/** The modules of react-native-force on a connection. */
export function reactForce(connection: Connection): {
  oauth: { getAuthCredentials: Call<[]>; authenticate: Call<[]>; logout: Call<[]> };
  net: Net;
  forceClient: Net;
  smartstore: ReactSmartStore;
  mobilesync: ReactMobileSync;
  forceLog: {
    setLogLevel(level: Level): void;
    getLogLevel(): Level;
    console: { [Name in Level | "log"]: (...values: unknown[]) => void };
  };
  forceUtil: typeof forceUtil;
};

/** Runs an app for the current user, and from its beginning for each next one. */
export function reactApp(
  connection: Connection,
  start: (modules: ReturnType<typeof reactForce>) => void | (() => void | Promise<void>) | Promise<void | (() => void | Promise<void>)>,
  options?: { shouldAuthenticate?: boolean; failed?: (error: unknown) => void },
): { started: Promise<void>; close(): Promise<void> };

/** `NativeModules` of a platform, for a port of React Native without them. */
export function nativeModules(connection: Connection, platform?: "ios" | "android"): {
  [module: string]: { [method: string]: (args: object, ...callbacks: ((...values: any[]) => void)[]) => void };
};

export const forceUtil: {
  promiser<Value = any>(func: (...args: any[]) => void): (...args: any[]) => Promise<Value>;
  promiserNoRejection<Value = any>(func: (...args: any[]) => void): (...args: any[]) => Promise<Value>;
  timeoutPromiser(milliseconds: number): Promise<void>;
};

export function forceTest(register: (name: string, component: () => Function) => void, done: () => void): {
  registerTest(test: Function): void;
  testDone(): void;
};
