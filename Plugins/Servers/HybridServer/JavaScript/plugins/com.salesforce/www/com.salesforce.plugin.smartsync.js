// com.salesforce.plugin.smartsync: the name of com.salesforce.plugin.mobilesync before Mobile SDK 8.
cordova.define("com.salesforce.plugin.smartsync", function (require, exports, module) {
  module.exports = require("com.salesforce.plugin.mobilesync");
});
