// com.salesforce.util.logger: the console, and in debug mode also two sections of the page.
cordova.define("com.salesforce.util.logger", function (require, exports, module) {
  "use strict";
  const started = Date.now();

  // As text: what is logged comes from servers and users.
  function append(sectionId, text) {
    if (window.debugMode !== true) return;
    const section = document.getElementById(sectionId);
    if (!section) return;
    const line = document.createElement("p");
    line.textContent = `At ${Date.now() - started} ms: ${text}`;
    section.appendChild(line);
  }

  const logToConsole = (text) => {
    console.log(`jslog: ${text}`);
    append("console", text);
  };

  const logError = (text) => {
    console.error(`jslog: ${text}`);
    append("errors", text);
  };

  // Replaces the values of the query parameters that `names` lists, in any case, by "[redacted]".
  const sanitizeUrlParamsForLogging = (url, names) => {
    const secret = [].concat(names || []).map((name) => String(name).toLowerCase());
    return String(url).replace(/([?&#])([^=&#]+)=([^&#]*)/g, (whole, separator, name) =>
      secret.includes(name.toLowerCase()) ? `${separator}${name}=[redacted]` : whole
    );
  };

  module.exports = { logToConsole, logError, sanitizeUrlParamsForLogging };
});
