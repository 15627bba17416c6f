import { Fieldforce } from "../core/types.js";

export * from "../core/exports.js";

/** What the first line of `fieldforce hybrid serve` says. */
export interface Bridge {
  url: string;
  startUrl: string | null;
  socket: string;
}

/**
 * Connects to a running bridge: the line that it printed (as text or parsed), or the address of its socket.
 * Default: the environment variable FIELDFORCE_BRIDGE. Throws BridgeError `unreachable` if that is no address, or one of another computer.
 */
export function connect(bridge?: string | Bridge): Fieldforce;

export interface LaunchOptions {
  /** The program with its first arguments. Default: ["fieldforce"]. */
  command?: string[];
  www?: string;
  state?: string;
  port?: number;
  appName?: string;
  appVersion?: string;
  /** Adds the service for test suites of pages. */
  testRunner?: boolean;
}

/** A client of a bridge that it started. */
export interface LaunchedFieldforce extends Omit<Fieldforce, "close"> {
  readonly bridge: Bridge;
  /** Ends the connection and the process. */
  close(): Promise<void>;
}

/** Starts a bridge and connects to it. Rejects with BridgeError `unreachable` if it does not start. */
export function launch(options?: LaunchOptions): Promise<LaunchedFieldforce>;
