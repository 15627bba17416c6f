// com.salesforce.plugin.mobilesync: syncs between soups and the server. Progress comes as document event "sync".
cordova.define("com.salesforce.plugin.mobilesync", function (require, exports, module) {
  "use strict";
  const SERVICE = "com.salesforce.mobilesync";
  const VERSION = "14.0.0";
  const MERGE_MODE = { OVERWRITE: "OVERWRITE", LEAVE_IF_CHANGED: "LEAVE_IF_CHANGED" };

  const exec = (success, fail, action, message) =>
    require("com.salesforce.util.exec").exec(VERSION, success, fail, SERVICE, action, [message]);
  const { splitStoreConfig } = require("com.salesforce.util.storeconfig");

  // A null in front of the soup's name is a target: a missing store config stands in front of the target.
  const splitSyncArguments = (args) => splitStoreConfig(args, args[0] == null && typeof args[1] === "string" ? 4 : 3);

  // (storeConfig?, target, soupName, options, syncName?, success, error)
  const syncDown = (...args) => {
    const { store, rest } = splitSyncArguments(args);
    const [target, soupName, options] = rest;
    const [syncName, success, fail] = nameAndCallbacks(rest.slice(3));
    exec(success, fail, "syncDown", { target, soupName, options, syncName, ...store });
  };

  // (storeConfig?, target?, soupName, options, syncName?, success, error)
  const syncUp = (...args) => {
    const { store, rest } = splitSyncArguments(args);
    if (typeof rest[0] === "string") rest.unshift({});
    const [target, soupName, options] = rest;
    const [syncName, success, fail] = nameAndCallbacks(rest.slice(3));
    exec(success, fail, "syncUp", { target: target || {}, soupName, options, syncName, ...store });
  };

  function nameAndCallbacks(rest) {
    return typeof rest[0] === "function" ? [undefined, ...rest] : rest;
  }

  // A string names a sync, also one that consists of digits; a number is an id.
  const idOrName = (value) => (typeof value === "string" ? { syncName: value } : { syncId: value });

  // (storeConfig?, syncIdOrName, success, error)
  const callBySync = (action, adapt) => (...args) => {
    const { store, rest } = splitStoreConfig(args, 1);
    const [sync, success, fail] = rest;
    exec(adapt ? adapt(success) : success, fail, action, { ...idOrName(sync), ...store });
  };

  // The wire has {} for "no such sync".
  const nullWhenEmpty = (success) => (state) => {
    if (success) success(state && state._soupEntryId !== undefined ? state : null);
  };

  // (storeConfig?, syncId, success, error)
  const cleanResyncGhosts = (...args) => {
    const { store, rest } = splitStoreConfig(args, 1);
    const [syncId, success, fail] = rest;
    exec(success, fail, "cleanResyncGhosts", { syncId, ...store });
  };

  // (storeConfig?, soupName?, success, error): the records that were changed on both sides. Not part of the Mobile SDK.
  const getConflicts = (...args) => {
    const { store, rest } = splitStoreConfig(args, 0);
    const [soupName, success, fail] = nameAndCallbacks(rest);
    exec(success, fail, "getConflicts", { soupName, ...store });
  };

  // (storeConfig?, key, resolution, success, error): "mine", "theirs", {values} or, for a record in doubt, {record} or
  // "create"; for a child without its parent "detach" or "recreateParent". Not part of the Mobile SDK.
  const resolveConflict = (...args) => {
    const { store, rest } = splitStoreConfig(args, 2);
    const [key, resolution, success, fail] = rest;
    exec(success, fail, "resolveConflict", { key, resolution, ...store });
  };

  module.exports = {
    MERGE_MODE,
    syncDown,
    syncUp,
    reSync: callBySync("reSync"),
    getSyncStatus: callBySync("getSyncStatus", nullWhenEmpty),
    deleteSync: callBySync("deleteSync"),
    cleanResyncGhosts,
    getConflicts,
    resolveConflict,
  };
});
