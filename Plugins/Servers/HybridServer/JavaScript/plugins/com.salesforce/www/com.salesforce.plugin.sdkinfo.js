// com.salesforce.plugin.sdkinfo: facts about the container and the app.
cordova.define("com.salesforce.plugin.sdkinfo", function (require, exports, module) {
  "use strict";
  const SERVICE = "com.salesforce.sdkinfo";
  const VERSION = "14.0.0";
  const exec = (success, fail, action, args) =>
    require("com.salesforce.util.exec").exec(VERSION, success, fail, SERVICE, action, args);

  class SDKInfo {
    constructor(sdkVersion, forcePluginsAvailable, appName, appVersion, bootconfig) {
      Object.assign(this, { sdkVersion, forcePluginsAvailable, appName, appVersion, bootConfig: bootconfig });
    }
  }

  const getInfo = (success, fail) => exec(success, fail, "getInfo", []);

  // An empty feature code means nothing, so it is not sent.
  const featureCall = (action) => (feature, success, fail) => {
    if (feature) exec(success, fail, action, [{ feature }]);
  };

  module.exports = {
    SDKInfo,
    getInfo,
    registerAppFeature: featureCall("registerAppFeature"),
    unregisterAppFeature: featureCall("unregisterAppFeature"),
  };
});
