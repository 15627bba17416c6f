// com.salesforce.plugin.oauth: the login of the page's user.
cordova.define("com.salesforce.plugin.oauth", function (require, exports, module) {
  "use strict";
  const SERVICE = "com.salesforce.oauth";
  const VERSION = "14.0.0";
  const exec = (success, fail, action, args) =>
    require("com.salesforce.util.exec").exec(VERSION, success, fail, SERVICE, action, args);
  let logoutSent = false;

  // The credentials of the current user. Fails when there is no user: it never starts a login.
  const getAuthCredentials = (success, fail) => exec(success, fail, "getAuthCredentials", []);

  // Logs in, or renews the session of a user who is logged in, then gives the credentials.
  const authenticate = (success, fail) => exec(success, fail, "authenticate", []);

  // Ends the session. The page goes away, so a second call on the same page does nothing, unless the first one failed: a
  // logout is refused while entries exist only here. Both callbacks may be left out.
  const logout = (success, fail) => {
    if (logoutSent) return;
    logoutSent = true;
    const refused = (error) => {
      logoutSent = false;
      if (typeof fail === "function") fail(error);
    };
    exec(success, refused, "logoutCurrentUser", []);
  };

  const getAppHomeUrl = (success, fail) => exec(success, fail, "getAppHomeUrl", []);

  module.exports = { getAuthCredentials, authenticate, logout, getAppHomeUrl };
});
