// MockCordova.js: Cordova for pages in a plain browser, without native code. Include it instead of cordova.js.
//
// Native calls go to functions that cordova.interceptExec registers; the other files of this folder register theirs.
(function (root) {
  "use strict";
  const modules = Object.create(null);
  const interceptors = Object.create(null);
  const ready = { fired: false, listeners: [] };

  function define(id, factory) {
    if (modules[id]) throw new Error(`module ${id} already defined`);
    modules[id] = { id, factory };
  }
  define.remove = (id) => delete modules[id];
  define.moduleMap = modules;

  function require(id) {
    const module = modules[id];
    if (!module) throw new Error(`module ${id} not found`);
    if (module.factory) {
      const { factory } = module;
      module.exports = {};
      delete module.factory;
      factory(require, module.exports, module);
    }
    return module.exports;
  }

  // `func` is called with (success, error, args) for every call of that action.
  function interceptExec(service, action, func) {
    interceptors[service] = interceptors[service] || Object.create(null);
    interceptors[service][action] = func;
  }

  const isVersion = (argument) => typeof argument === "string" && argument.startsWith("pluginSDKVersion");

  function exec(success, error, service, action, args) {
    const list = [].concat(args == null ? [] : args);
    if (isVersion(list[0])) list.shift();
    const ok = success || (() => {});
    const fail = error || (() => {});
    const func = interceptors[service] && interceptors[service][action];
    // Later, as a native call does, and in the order of the calls.
    queueMicrotask(() => {
      if (func) func(ok, fail, list);
      else fail(`No mock for ${service}.${action}. Register one with cordova.interceptExec.`);
    });
  }

  const cordova = { define, require, exec, interceptExec, platformId: "mock", version: "mock" };
  define("cordova", (localRequire, exports, module) => (module.exports = cordova));
  define("cordova/exec", (localRequire, exports, module) => (module.exports = exec));

  const { document } = root;
  cordova.fireDocumentEvent = (type, data) => {
    if (document) document.dispatchEvent(Object.assign(new Event(type), data));
  };

  // "deviceready" comes once; a listener that is added later is called too.
  function watchDeviceReady() {
    const addEventListener = document.addEventListener;
    document.addEventListener = function (type, listener, options) {
      if (String(type).toLowerCase() !== "deviceready") addEventListener.call(document, type, listener, options);
      else if (ready.fired) listener(new Event("deviceready"));
      else ready.listeners.push(listener);
    };
    const fire = () => {
      ready.fired = true;
      for (const listener of ready.listeners.splice(0)) listener(new Event("deviceready"));
    };
    if (document.readyState === "loading") addEventListener.call(document, "DOMContentLoaded", () => setTimeout(fire, 0));
    else setTimeout(fire, 0);
  }

  root.cordova = cordova;
  if (document) watchDeviceReady();
})(globalThis);
