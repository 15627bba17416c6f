// com.salesforce.util.storeconfig: the optional first argument of every call that works on a store.
cordova.define("com.salesforce.util.storeconfig", function (require, exports, module) {
  "use strict";
  const has = (object, key) => Object.prototype.hasOwnProperty.call(object, key);

  const isStoreConfig = (value) =>
    value !== null && typeof value === "object" && (has(value, "isGlobalStore") || has(value, "storeName"));

  // Apps that keep the flag in an attribute or in localStorage have a text: "false" must not name the global store.
  const isTrue = (flag) => Boolean(flag) && flag !== "false";
  const storeOf = (config) => ({ isGlobalStore: isTrue(config.isGlobalStore), storeName: config.storeName });

  // The number of arguments before the first callback.
  const valuesIn = (args) => {
    const firstCallback = args.findIndex((argument) => typeof argument === "function");
    return firstCallback < 0 ? args.length : firstCallback;
  };

  // Splits the store off `args`: a store config, a boolean (is it a global store?) or nothing, which means the default
  // user store. A leading null counts as a missing config only if more arguments than the function's own
  // `ownParameters` stand before the callbacks: otherwise it is the first argument itself. Arguments that the caller left
  // out are undefined in `rest`: the callbacks stand behind them, so that the call's error reaches the caller.
  const splitStoreConfig = (args, ownParameters) => {
    const [first, ...others] = args;
    const padded = (rest) => {
      const given = rest.slice(0, valuesIn(rest));
      const missing = Math.max(0, ownParameters - given.length);
      return [...given, ...Array(missing).fill(undefined), ...rest.slice(given.length)];
    };
    if (typeof first === "boolean") return { store: storeOf({ isGlobalStore: first }), rest: padded(others) };
    if (isStoreConfig(first)) return { store: storeOf(first), rest: padded(others) };
    const isMissingConfig = first == null && valuesIn(args) > ownParameters;
    return { store: storeOf({}), rest: padded(isMissingConfig ? others : args) };
  };

  module.exports = { splitStoreConfig };
});
