// Stands for the program `fieldforce` in tests of launch(): `hybrid serve` with a test bridge.
import { startBridge } from "../bridge.mjs";

const [group, command, ...options] = process.argv.slice(2);
if (group !== "hybrid" || command !== "serve" || options.includes("--www")) {
  console.error("error: cannot serve");
  process.exit(2);
}
if (options.includes("--state")) {
  // A program that prints something else first.
  console.log("not JSON");
} else {
  const bridge = await startBridge();
  console.log(JSON.stringify({ ...JSON.parse(bridge.line), options }));
  console.log("a later line");
}
process.on("SIGTERM", () => process.exit(0));
setInterval(() => {}, 1000);
