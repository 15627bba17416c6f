// com.salesforce.plugin.testrunner (navigator.testrunner): selects and starts the tests of a page, and reports their
// results to the native side.
cordova.define("com.salesforce.plugin.testrunner", function (require, exports, module) {
  "use strict";
  const SERVICE = "com.salesforce.testrunner";
  const VERSION = "14.0.0";
  const exec = (success, fail, action, args) =>
    require("com.salesforce.util.exec").exec(VERSION, success, fail, SERVICE, action, args);

  let suiteName = null;
  let suite = null;

  // Creates the suite with the constructor that is the global `name`. The name of the present suite keeps that suite,
  // so that the native side may name it before each test.
  const setTestSuite = (name) => {
    if (suite && suiteName === name) return;
    const Suite = window[name];
    if (typeof Suite !== "function") {
      throw new Error(`Cannot set the test suite '${name}': the page has no global function of this name. Load its script first.`);
    }
    suite = new Suite();
    suiteName = name;
  };

  // Starts the test of the present suite, which reports its result with `onTestComplete`.
  const startTest = (testName) => {
    if (!suite) throw new Error(`Cannot start the test '${testName}': there is no test suite. Call setTestSuite first.`);
    suite.startTest(testName);
  };

  const onReadyForTests = (success, fail) => exec(success, fail, "onReadyForTests", []);

  // `status` is the suite's record of the test: its `testDuration` is in milliseconds.
  const onTestComplete = (testName, isSuccess, message, status, success, fail) => {
    const testDuration = (status && status.testDuration) || 0;
    exec(success, fail, "onTestComplete", [{ testName, success: Boolean(isSuccess), message, testDuration }]);
  };

  module.exports = { setTestSuite, startTest, onReadyForTests, onTestComplete };
  // The suite that `setTestSuite` created, else null.
  Object.defineProperty(module.exports, "testSuite", { get: () => suite, enumerable: true });
});
