// The modules of react-native-force on a bridge: for Node programs, and for ports of React Native without its native modules.
import { caller } from "./native.js";
import { makeNet } from "./net.js";
import { makeMobileSync, makeSmartStore } from "./stores.js";
import { makeLog, promiser, promiserNoRejection, timeoutPromiser } from "./util.js";

export { reactApp } from "./app.js";
export { nativeModules } from "./native.js";
export { makeTest as forceTest } from "./util.js";

export const forceUtil = { promiser, promiserNoRejection, timeoutPromiser };

/** The modules on the connection of a client: `reactForce(connect(bridge).connection)`. */
export function reactForce(connection) {
  const exec = caller(connection, "oauth");
  const oauth = {
    getAuthCredentials: (ok, fail) => exec(ok, fail, "getAuthCredentials", {}),
    authenticate: (ok, fail) => exec(ok, fail, "authenticate", {}),
    logout: (ok, fail) => exec(ok, fail, "logoutCurrentUser", {}),
  };
  const net = makeNet(connection);
  return {
    oauth, net, forceClient: net, smartstore: makeSmartStore(connection), mobilesync: makeMobileSync(connection),
    forceLog: makeLog(), forceUtil,
  };
}
