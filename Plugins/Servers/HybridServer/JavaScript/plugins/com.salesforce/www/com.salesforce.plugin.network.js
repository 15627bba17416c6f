// com.salesforce.plugin.network: REST requests that the native side sends, with its session and its token refresh.
cordova.define("com.salesforce.plugin.network", function (require, exports, module) {
  "use strict";
  const SERVICE = "com.salesforce.network";
  const VERSION = "14.0.0";

  // `payload` becomes the query of a GET, HEAD or DELETE and the body of the others. `fileParams` maps part names to
  // {fileMimeType, fileUrl, fileName}. The error is a text that holds JSON.
  const sendRequest = (
    endPoint,
    path,
    successCB,
    errorCB,
    method,
    payload,
    headerParams,
    fileParams,
    returnBinary,
    doesNotRequireAuthentication
  ) => {
    const request = {
      endPoint,
      path,
      method: method || "GET",
      queryParams: payload || {},
      headerParams: headerParams || {},
      fileParams: fileParams || {},
      returnBinary: Boolean(returnBinary),
      doesNotRequireAuthentication: Boolean(doesNotRequireAuthentication),
    };
    require("com.salesforce.util.exec").exec(VERSION, successCB, errorCB, SERVICE, "pgSendRequest", [request]);
  };

  module.exports = { sendRequest };
});
