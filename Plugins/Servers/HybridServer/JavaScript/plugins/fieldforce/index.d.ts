import { Fieldforce } from "./core/types.js";

export * from "./core/exports.js";

/** Connects a page to the bridge that serves it. Default of `socket`: the bridge of the page's own address. */
export function connect(options?: { socket?: string }): Fieldforce;
