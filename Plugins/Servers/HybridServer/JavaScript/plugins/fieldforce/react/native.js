// The native modules of react-native-force on a bridge: what `NativeModules` of React Native has.

const MODULES = {
  ios: { oauth: "SFOauthReactBridge", net: "SFNetReactBridge", smartstore: "SFSmartStoreReactBridge", mobilesync: "SFMobileSyncReactBridge" },
  android: {
    oauth: "SalesforceOauthReactBridge", net: "SalesforceNetReactBridge", smartstore: "SmartStoreReactBridge",
    mobilesync: "MobileSyncReactBridge",
  },
};

const object = (error) => (error.details && typeof error.details === "object" ? error.details : error.message);

/**
 * The modules of a platform under their names, for a port of React Native that has none of its own. Every name of a method
 * works; the bridge refuses those that it does not have. On iOS a method takes its arguments and one callback
 * `(error, result)`; on Android two, `(text)` and `(errorText)`, with JSON.
 */
export function nativeModules(connection, platform = "ios") {
  const names = Object.values(MODULES[platform]);
  const text = (value) => JSON.stringify(value === undefined ? null : value);
  const ios = (result, callback) => result.then((value) => callback(null, value), (error) => callback(object(error)));
  const android = (result, success, fail) => result.then((value) => success(text(value)), (error) => fail(text(object(error))));
  const respond = platform === "android" ? android : ios;
  const module = (service) =>
    new Proxy({}, {
      get: (_, method) => (args, ...callbacks) => void respond(connection.call(service, method, args || {}), ...callbacks),
    });
  return Object.fromEntries(names.map((name) => [name, module(name)]));
}

/** Calls a method of a module; `success` gets its value, `fail` the error as the module gives it. Both may be left out. */
export const caller = (connection, module) => (success, fail, method, args) => {
  const ok = (value) => success && success(value);
  connection.call(MODULES.ios[module], method, args).then(ok, (error) => fail && fail(object(error)));
};
