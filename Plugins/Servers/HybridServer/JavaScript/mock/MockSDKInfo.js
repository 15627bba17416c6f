// MockSDKInfo.js: com.salesforce.sdkinfo without native code. Include it after MockCordova.js.
(function (root) {
  "use strict";
  const SERVICE = "com.salesforce.sdkinfo";
  const info = {
    sdkVersion: "14.0.0",
    appName: "",
    appVersion: "",
    forcePluginsAvailable: ["sdkinfo", "smartstore", "mobilesync"].map((name) => `com.salesforce.${name}`),
    bootConfig: { isLocal: true, shouldAuthenticate: true, attemptOfflineLoad: false, startPage: "index.html" },
  };
  const features = new Set();

  root.cordova.interceptExec(SERVICE, "getInfo", (success) => success({ ...info }));
  root.cordova.interceptExec(SERVICE, "registerAppFeature", (success, error, [{ feature }]) => {
    features.add(feature);
    success();
  });
  root.cordova.interceptExec(SERVICE, "unregisterAppFeature", (success, error, [{ feature }]) => {
    features.delete(feature);
    success();
  });
  root.mockSDKInfo = { info, features };
})(globalThis);
