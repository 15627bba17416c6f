// Says who is logged in, and links to the page on the server.
import { pageAddress } from "./address.js";

const byId = (id) => document.getElementById(id);
const promise = (func) => new Promise((resolve, reject) => func(resolve, reject));

async function start() {
  const oauth = window.cordova.require("com.salesforce.plugin.oauth");
  const credentials = await promise((done, fail) => oauth.getAuthCredentials(done, fail));
  const boot = await (await fetch("bootconfig.json")).json();
  byId("open").href = pageAddress(credentials.instanceUrl, boot.startPage);
  byId("open").hidden = false;
  byId("status").textContent = `The page ${boot.startPage} is on ${credentials.instanceUrl}.`;
}

if (window.cordova) {
  document.addEventListener("deviceready", () =>
    start().catch((error) => {
      byId("status").textContent = `Log in with 'fieldforce login', then load this page again. ${error.message || error}`;
    })
  );
} else {
  window.location.replace("error.html");
}
