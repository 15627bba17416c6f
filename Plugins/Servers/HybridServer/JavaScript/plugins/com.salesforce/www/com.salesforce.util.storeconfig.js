// com.salesforce.util.storeconfig: the optional first argument of every call that works on a store.
cordova.define("com.salesforce.util.storeconfig", function (require, exports, module) {
  "use strict";
  const has = (object, key) => Object.prototype.hasOwnProperty.call(object, key);

  const isStoreConfig = (value) =>
    value !== null && typeof value === "object" && (has(value, "isGlobalStore") || has(value, "storeName"));

  const storeOf = (config) => ({ isGlobalStore: Boolean(config.isGlobalStore), storeName: config.storeName });

  // Splits the store off `args`: a store config, a boolean (is it a global store?) or nothing, which means the default
  // user store. A leading null counts as a missing config only if more arguments than the function's own
  // `ownParameters` stand before the callbacks: otherwise it is the first argument itself.
  const splitStoreConfig = (args, ownParameters) => {
    const [first, ...rest] = args;
    if (typeof first === "boolean") return { store: storeOf({ isGlobalStore: first }), rest };
    if (isStoreConfig(first)) return { store: storeOf(first), rest };
    const firstCallback = args.findIndex((argument) => typeof argument === "function");
    const values = firstCallback < 0 ? args.length : firstCallback;
    const isMissingConfig = first == null && values > ownParameters;
    return { store: storeOf({}), rest: isMissingConfig ? rest : [...args] };
  };

  module.exports = { splitStoreConfig };
});
