// com.salesforce.plugin.sfaccountmanager: the accounts that are logged in.
cordova.define("com.salesforce.plugin.sfaccountmanager", function (require, exports, module) {
  "use strict";
  const SERVICE = "com.salesforce.sfaccountmanager";
  const VERSION = "14.0.0";
  const exec = (success, fail, action, args) =>
    require("com.salesforce.util.exec").exec(VERSION, success, fail, SERVICE, action, args);
  let logoutSent = false;

  class UserAccount {
    constructor(authToken, refreshToken, loginServer, idUrl, instanceServer, orgId, userId, username, clientId) {
      Object.assign(this, {
        authToken,
        refreshToken,
        loginServer,
        idUrl,
        instanceServer,
        orgId,
        userId,
        username,
        clientId,
      });
    }
  }

  const getUsers = (success, fail) => exec(success, fail, "getUsers", []);
  const getCurrentUser = (success, fail) => exec(success, fail, "getCurrentUser", []);

  // Logs out `user`, or the current user. The page goes away, so a second call on the same page does nothing, unless the
  // first one failed. Both callbacks may be left out.
  const logout = (user, success, fail) => {
    if (logoutSent) return;
    logoutSent = true;
    const refused = (error) => {
      logoutSent = false;
      if (typeof fail === "function") fail(error);
    };
    exec(success, refused, "logout", [user || null]);
  };

  // Makes `user` the current user. Without a user: the account chooser, or the login if there is no other account.
  const switchToUser = (user, success, fail) => exec(success, fail, "switchToUser", user ? [user] : []);

  module.exports = { UserAccount, getUsers, getCurrentUser, logout, switchToUser };
});
