// Starts the reference server by hand and prints the address of the page:
//
//   node Plugins/Servers/Inspector/tests/server/main.mjs [--port N] [--entries N] [--live] [--read-only] [--slow MS] [--failing PATTERN]
//     [--state locked|damaged|missing|owned]
import { parseArgs } from "node:util";
import { startInspector } from "./server.mjs";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" }, entries: { type: "string", default: "1000000" }, live: { type: "boolean", default: false },
    "read-only": { type: "boolean", default: false }, slow: { type: "string", default: "0" }, failing: { type: "string" }, state: { type: "string" },
  },
});
const server = await startInspector({
  port: Number(values.port), entries: Number(values.entries), live: values.live, access: values["read-only"] ? "readOnly" : "readWrite",
  slow: Number(values.slow), failing: values.failing ? new RegExp(values.failing) : null, state: values.state,
});
console.log(server.url);
