// The plug-in modules of a page whose www folder brings no list of its own.
cordova.define("cordova/plugin_list", function (require, exports, module) {
  "use strict";
  const plugin = (name, symbols) => ({
    id: `com.salesforce.${name}`,
    file: `plugins/com.salesforce/www/com.salesforce.${name}.js`,
    pluginId: "com.salesforce",
    ...symbols,
  });

  module.exports = [
    plugin("plugin.oauth"),
    plugin("plugin.network"),
    plugin("plugin.sdkinfo"),
    plugin("plugin.sfaccountmanager"),
    plugin("plugin.smartstore", { clobbers: ["navigator.smartstore"] }),
    plugin("plugin.smartstore.client", { clobbers: ["navigator.smartstoreClient"] }),
    plugin("plugin.mobilesync"),
    plugin("plugin.smartsync"),
    plugin("plugin.testrunner", { clobbers: ["navigator.testrunner"] }),
    plugin("util.bootstrap"),
    plugin("util.event"),
    plugin("util.exec"),
    plugin("util.logger"),
    plugin("util.promiser"),
    plugin("util.push"),
    plugin("util.storeconfig"),
  ];
  module.exports.metadata = { "com.salesforce": "14.0.0" };
});
