// cordova.force.js: all Salesforce plug-in modules, ready when the next script of the page runs.
//
// A page does not need this file: cordova.js loads the modules before "deviceready". Pages that call cordova.require in
// a script of their own, before "deviceready", include it after cordova.js.
(function () {
  "use strict";
  // Written into the page, because only scripts that the parser meets run before the next script of the page.
  const own = document.currentScript ? document.currentScript.src : "";
  const cordovaScript = [...document.getElementsByTagName("script")].find((one) => /\/cordova\.js([?#]|$)/.test(one.src));
  // A copy elsewhere, as in an app's own folder of libraries, finds the modules through cordova.js.
  const base = /\/com\.salesforce\/libs\/[^/]*$/.test(own)
    ? new URL("../www/", own).href
    : new URL("plugins/com.salesforce/www/", cordovaScript ? cordovaScript.src : document.baseURI).href;
  const names = [
    "util.logger",
    "util.event",
    "util.bootstrap",
    "util.exec",
    "util.promiser",
    "util.push",
    "util.storeconfig",
    "plugin.oauth",
    "plugin.network",
    "plugin.sdkinfo",
    "plugin.sfaccountmanager",
    "plugin.smartstore",
    "plugin.smartstore.client",
    "plugin.mobilesync",
    "plugin.smartsync",
    "plugin.testrunner",
  ];
  const missing = names.filter((name) => !(`com.salesforce.${name}` in window.cordova.define.moduleMap));
  const tags = missing.map((name) => `<script src="${base}com.salesforce.${name}.js"></scr` + "ipt>");
  tags.push(
    "<script>navigator.smartstore = cordova.require('com.salesforce.plugin.smartstore');" +
      "navigator.smartstoreClient = cordova.require('com.salesforce.plugin.smartstore.client');</scr" +
      "ipt>"
  );
  document.write(tags.join("\n"));
})();
