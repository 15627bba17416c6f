/** A console whose messages below a level are dropped: error < warn < info < debug. */
export function makeLog(sink = console) {
  const LEVELS = ["error", "warn", "info", "debug"];
  let level = "info";
  // Errors and warnings go to the plain channel: those of the console open an overlay over the app.
  const at = (name) => (...values) => {
    if (LEVELS.indexOf(name) <= LEVELS.indexOf(level)) sink[LEVELS.indexOf(name) < 2 ? "log" : name](...values);
  };
  const [error, warn, info, debug] = LEVELS.map(at);
  return {
    setLogLevel: (value) => void (level = LEVELS.includes(value) ? value : "info"),
    getLogLevel: () => level,
    console: { error, warn, info, debug, log: info },
  };
}

/** Turns `(…, success, error)` into a function with a promise. */
export const promiser = (func) => (...args) => new Promise((resolve, reject) => func(...args, resolve, reject));

/** As `promiser`, but an error resolves, too. */
export const promiserNoRejection = (func) => (...args) => new Promise((resolve) => func(...args, resolve, resolve));

/** A promise that resolves after a time. */
export const timeoutPromiser = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Registers tests as components of their name without "test", where `register` is React Native's own function. */
export const makeTest = (register, done) => ({
  registerTest: (test) => register(test.name.replace(/^test/, ""), () => test),
  testDone: () => done(),
});
