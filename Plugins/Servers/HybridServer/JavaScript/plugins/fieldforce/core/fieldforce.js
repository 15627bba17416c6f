import { MobileSync } from "./mobilesync.js";
import { RestClient } from "./rest.js";
import { SmartStore } from "./smartstore.js";

/** Everything that the bridge offers, over one connection. */
export class Fieldforce {
  /** The connection, for services of other plug-ins: `fieldforce.connection.call(service, action, …args)`. */
  connection;

  constructor(connection) {
    this.connection = connection;
  }

  /** A store by name, of the current user or global. Without a name: the default store. */
  store(name, { isGlobal = false } = {}) {
    return new SmartStore(this.connection, { name, isGlobal });
  }

  /** The syncs of a store. Default: of the current user's default store. */
  syncs(store = this.store()) {
    return new MobileSync(this.connection, store.config);
  }

  rest(options) {
    return new RestClient(this.connection, options);
  }

  /** The stores that exist: `[{storeName, isGlobalStore}]`. */
  async stores() {
    const call = (action) => this.connection.call("com.salesforce.smartstore", action, {});
    return [...(await call("pgGetAllStores")), ...(await call("pgGetAllGlobalStores"))];
  }

  /** The credentials of the current user. Rejects if there is no user. */
  credentials() {
    return this.connection.call("com.salesforce.oauth", "getAuthCredentials");
  }

  /** Logs in, or renews the session, and gives the credentials. */
  authenticate() {
    return this.connection.call("com.salesforce.oauth", "authenticate");
  }

  async logout() {
    await this.connection.call("com.salesforce.oauth", "logoutCurrentUser");
  }

  users() {
    return this.connection.call("com.salesforce.sfaccountmanager", "getUsers");
  }

  /** The current user, or null. */
  async currentUser() {
    const user = await this.connection.call("com.salesforce.sfaccountmanager", "getCurrentUser");
    return user && user.userId ? user : null;
  }

  /** Versions, the app's name and the boot configuration. */
  info() {
    return this.connection.call("com.salesforce.sdkinfo", "getInfo");
  }

  close() {
    this.connection.close();
  }
}
