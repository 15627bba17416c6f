// com.salesforce.util.push: one handler for push notifications, over the push plug-in of the app.
cordova.define("com.salesforce.util.push", function (require, exports, module) {
  "use strict";

  // `notificationHandler` gets the plug-in's data with `payload` (what the server sent) and `foreground` (false if the
  // user opened the app from the notification) added.
  const registerPushNotificationHandler = (notificationHandler, fail) => {
    if (!window.PushNotification) {
      const reason = "Push is not available: the page has no push plug-in (PushNotification).";
      console.error(reason);
      if (fail) fail(reason);
      return;
    }
    const push = window.PushNotification.init({ android: {}, ios: { alert: "true", badge: "true", sound: "true" } });
    push.on("notification", (data) => {
      const additional = data.additionalData || {};
      notificationHandler(Object.assign({}, data, { payload: additional, foreground: Boolean(additional.foreground) }));
      if (typeof push.finish === "function") push.finish(() => {}, () => {}, additional.notId);
    });
    push.on("error", (error) => fail && fail(error));
  };

  module.exports = { registerPushNotificationHandler };
});
