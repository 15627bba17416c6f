// com.salesforce.util.bootstrap: what a page checks before it starts.
cordova.define("com.salesforce.util.bootstrap", function (require, exports, module) {
  "use strict";

  // By Cordova's connection object if the network plug-in is there, else by the browser.
  const deviceIsOnline = () => {
    const connection = navigator.connection;
    const types = window.Connection;
    if (types && types.NONE !== undefined && connection && typeof connection.type === "string") {
      return connection.type !== types.NONE && connection.type !== types.UNKNOWN;
    }
    return navigator.onLine !== false;
  };

  module.exports = { deviceIsOnline };
});
