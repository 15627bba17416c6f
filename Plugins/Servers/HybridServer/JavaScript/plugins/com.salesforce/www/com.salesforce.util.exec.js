// com.salesforce.util.exec: one native call of a Salesforce plug-in, with version, duration and log of failures.
cordova.define("com.salesforce.util.exec", function (require, exports, module) {
  "use strict";
  let calls = 0;

  const exec = (pluginVersion, successCB, errorCB, service, action, args) => {
    const label = `${service}:${action}:${++calls}`;
    const ended = (outcome, callback) =>
      function (...values) {
        console.timeEnd(label);
        if (outcome === "failure") console.error(`${label} failed`);
        if (typeof callback === "function") return callback.apply(this, values);
        return undefined;
      };
    console.time(label);
    cordova.exec(
      ended("success", successCB),
      ended("failure", errorCB),
      service,
      action,
      [`pluginSDKVersion:${pluginVersion}`].concat(args == null ? [] : args)
    );
  };

  module.exports = { exec };
});
