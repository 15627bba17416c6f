// com.salesforce.plugin.smartstore.client (navigator.smartstoreClient): the store with promises instead of callbacks.
cordova.define("com.salesforce.plugin.smartstore.client", function (require, exports, module) {
  "use strict";
  const smartstore = require("com.salesforce.plugin.smartstore");
  const { promiser } = require("com.salesforce.util.promiser");

  for (const name of [
    "alterSoup",
    "alterSoupWithSpec",
    "clearSoup",
    "closeCursor",
    "getAllGlobalStores",
    "getAllStores",
    "getDatabaseSize",
    "getSoupIndexSpecs",
    "getSoupSpec",
    "moveCursorToNextPage",
    "moveCursorToPageIndex",
    "moveCursorToPreviousPage",
    "querySoup",
    "reIndexSoup",
    "registerSoup",
    "registerSoupWithSpec",
    "removeAllGlobalStores",
    "removeAllStores",
    "removeFromSoup",
    "removeSoup",
    "removeStore",
    "retrieveSoupEntries",
    "runSmartQuery",
    "soupExists",
    "upsertSoupEntries",
    "upsertSoupEntriesWithExternalId",
  ]) {
    exports[name] = promiser(smartstore, name, "smartstoreClient");
  }
});
