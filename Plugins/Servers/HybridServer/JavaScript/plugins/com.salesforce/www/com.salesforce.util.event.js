// com.salesforce.util.event: status of a starting app, as document event "bootstrapStatusEvent".
cordova.define("com.salesforce.util.event", function (require, exports, module) {
  "use strict";
  const EVENT = {
    AUTHENTICATING: { code: 0, isError: false, msg: "Authenticating..." },
    STARTING: { code: 1, isError: false, msg: "Loading application" },
    OFFLINE: { code: 2, isError: true, msg: "Your device is offline. Can't continue." },
  };

  const sendStatusEvent = (event) => {
    const logger = require("com.salesforce.util.logger");
    if (event.isError) logger.logError(event.msg);
    else logger.logToConsole(event.msg);
    cordova.fireDocumentEvent("bootstrapStatusEvent", event);
  };

  module.exports = { EVENT, ...EVENT, sendStatusEvent };
});
