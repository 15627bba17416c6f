// com.salesforce.util.promiser: turns a function that ends in (success, error) into one that returns a promise.
cordova.define("com.salesforce.util.promiser", function (require, exports, module) {
  "use strict";

  // `objectName` is accepted for the sake of existing callers, which name the object for their log.
  const promiser = (object, methodName, objectName) =>
    function (...args) {
      return new Promise((resolve, reject) => {
        object[methodName](...args, resolve, reject);
      });
    };

  module.exports = { promiser };
});
