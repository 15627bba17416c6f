// com.salesforce.plugin.testrunner (navigator.testrunner): tells the native side how a suite of the page goes.
cordova.define("com.salesforce.plugin.testrunner", function (require, exports, module) {
  "use strict";
  const SERVICE = "com.salesforce.testrunner";
  const VERSION = "14.0.0";
  const exec = (success, fail, action, args) =>
    require("com.salesforce.util.exec").exec(VERSION, success, fail, SERVICE, action, args);

  const onReadyForTests = (success, fail) => exec(success, fail, "onReadyForTests", []);

  // `status` is the suite's record of the test: its `testDuration` is in milliseconds.
  const onTestComplete = (testName, isSuccess, message, status, success, fail) => {
    const testDuration = (status && status.testDuration) || 0;
    exec(success, fail, "onTestComplete", [{ testName, success: Boolean(isSuccess), message, testDuration }]);
  };

  module.exports = { onReadyForTests, onTestComplete };
});
