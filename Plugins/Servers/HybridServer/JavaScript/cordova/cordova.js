// cordova.js: Cordova's JavaScript runtime for a page that `fieldforce hybrid serve` serves.
//
// It offers what Cordova documents (define and require, channels, exec, plug-in loading, document events), so that
// plug-ins written for Cordova load unchanged. Native calls travel over one WebSocket to the bridge. One file, because
// pages include one file and everything in it has to exist when the next script of the page runs.
(function () {
  "use strict";

  // The address of this file is the base of plug-in files and of the socket. Known only while the script runs.
  const ownAddress = (document.currentScript && document.currentScript.src) || document.baseURI;

  // ---------------------------------------------------------------------------------------------- modules

  const modules = Object.create(null);
  const requireStack = [];

  function build(module) {
    const factory = module.factory;
    // A plug-in's modules find their siblings with "./name", where the separator of ids is a dot.
    const localRequire = (id) => {
      const isSibling = id.charAt(0) === ".";
      return require(isSibling ? module.id.slice(0, module.id.lastIndexOf(".")) + "." + id.slice(2) : id);
    };
    module.exports = {};
    delete module.factory;
    factory(localRequire, module.exports, module);
    return module.exports;
  }

  function require(id) {
    const module = modules[id];
    if (!module) throw new Error(`module ${id} not found`);
    const position = requireStack.indexOf(id);
    if (position >= 0) {
      throw new Error(`Cycle in require graph: ${requireStack.slice(position).join("->")}->${id}`);
    }
    if (!module.factory) return module.exports;
    requireStack.push(id);
    try {
      return build(module);
    } finally {
      requireStack.pop();
    }
  }

  function define(id, factory) {
    if (modules[id]) throw new Error(`module ${id} already defined`);
    modules[id] = { id, factory };
  }
  define.remove = (id) => {
    delete modules[id];
  };
  define.moduleMap = modules;

  // ---------------------------------------------------------------------------------------------- cordova

  define("cordova", function (require, exports, module) {
    const channel = require("cordova/channel");
    const platform = require("cordova/platform");

    // The DOM's own functions, kept because pages call the replacements below.
    const native = {
      addToDocument: document.addEventListener,
      removeFromDocument: document.removeEventListener,
      addToWindow: window.addEventListener,
      removeFromWindow: window.removeEventListener,
    };
    const documentHandlers = Object.create(null);
    const windowHandlers = Object.create(null);

    document.addEventListener = function (type, handler, options) {
      const channelOfType = documentHandlers[String(type).toLowerCase()];
      if (channelOfType) channelOfType.subscribe(handler);
      else native.addToDocument.call(document, type, handler, options);
    };
    document.removeEventListener = function (type, handler, options) {
      const channelOfType = documentHandlers[String(type).toLowerCase()];
      if (channelOfType) channelOfType.unsubscribe(handler);
      else native.removeFromDocument.call(document, type, handler, options);
    };
    window.addEventListener = function (type, handler, options) {
      const channelOfType = windowHandlers[String(type).toLowerCase()];
      if (channelOfType) channelOfType.subscribe(handler);
      else native.addToWindow.call(window, type, handler, options);
    };
    window.removeEventListener = function (type, handler, options) {
      const channelOfType = windowHandlers[String(type).toLowerCase()];
      if (channelOfType) channelOfType.unsubscribe(handler);
      else native.removeFromWindow.call(window, type, handler, options);
    };

    function createEvent(type, data) {
      const event = new Event(type);
      for (const key of Object.keys(data || {})) {
        // "type" and the like are read-only on an event: such a member of the data stays out.
        try {
          event[key] = data[key];
        } catch (error) {
          continue;
        }
      }
      return event;
    }

    const cordova = {
      define,
      require: globalRequire,
      version: platform.cordovaVersion,
      platformVersion: platform.cordovaVersion,
      platformId: platform.id,

      addWindowEventHandler: (event) => (windowHandlers[event] = channel.create(event)),
      addStickyDocumentEventHandler: (event) => (documentHandlers[event] = channel.createSticky(event)),
      addDocumentEventHandler: (event) => (documentHandlers[event] = channel.create(event)),
      removeWindowEventHandler: (event) => delete windowHandlers[event],
      removeDocumentEventHandler: (event) => delete documentHandlers[event],

      getOriginalHandlers: () => ({
        document: { addEventListener: native.addToDocument, removeEventListener: native.removeFromDocument },
        window: { addEventListener: native.addToWindow, removeEventListener: native.removeFromWindow },
      }),

      // Fires on a later turn of the event loop, unless `noDetach`: native code may call in the middle of the page's.
      fireDocumentEvent(type, data, noDetach) {
        const event = createEvent(type, data);
        if (!documentHandlers[type]) {
          document.dispatchEvent(event);
          return;
        }
        const fire = () => {
          // Listeners that were attached before this script ran sit on the document itself.
          if (type === "deviceready") document.dispatchEvent(event);
          documentHandlers[type].fire(event);
        };
        if (noDetach) fire();
        else setTimeout(fire, 0);
      },
      fireWindowEvent(type, data) {
        const event = createEvent(type, data);
        if (!windowHandlers[type]) {
          window.dispatchEvent(event);
          return;
        }
        setTimeout(() => windowHandlers[type].fire(event), 0);
      },

      // Random, so that responses to calls of an earlier load of the page never meet a callback of this one.
      callbackId: Math.floor(Math.random() * 2000000000),
      callbacks: {},
      callbackStatus: {
        NO_RESULT: 0,
        OK: 1,
        CLASS_NOT_FOUND_EXCEPTION: 2,
        ILLEGAL_ACCESS_EXCEPTION: 3,
        INSTANTIATION_EXCEPTION: 4,
        MALFORMED_URL_EXCEPTION: 5,
        IO_EXCEPTION: 6,
        INVALID_ACTION: 7,
        JSON_EXCEPTION: 8,
        ERROR: 9,
      },
      callbackSuccess(callbackId, result) {
        cordova.callbackFromNative(callbackId, true, result.status, [result.message], result.keepCallback);
      },
      callbackError(callbackId, result) {
        cordova.callbackFromNative(callbackId, false, result.status, [result.message], result.keepCallback);
      },
      callbackFromNative(callbackId, isSuccess, status, args, keepCallback) {
        const callback = cordova.callbacks[callbackId];
        if (!callback) return;
        try {
          if (!isSuccess) {
            if (callback.fail) callback.fail.apply(null, args || []);
          } else if (status === cordova.callbackStatus.OK) {
            if (callback.success) callback.success.apply(null, args || []);
          }
        } catch (error) {
          const message = `Error in ${isSuccess ? "Success" : "Error"} callbackId: ${callbackId} : ${error}`;
          // Cordova documents `error`; its scripts before that named the same value `original`.
          cordova.fireWindowEvent("cordovacallbackerror", { message, error, original: error });
          throw error;
        } finally {
          // A multipart callback stays until a response says that it is the last one.
          if (!keepCallback) delete cordova.callbacks[callbackId];
        }
      },

      // Runs `constructor` when Cordova is ready, before "deviceready".
      addConstructor(constructor) {
        channel.onCordovaReady.subscribe(() => {
          try {
            constructor();
          } catch (error) {
            console.log(`Failed to run constructor: ${error}`);
          }
        });
      },
    };

    module.exports = cordova;
  });

  const globalRequire = require;

  // ---------------------------------------------------------------------------------------------- utilities

  define("cordova/utils", function (require, exports) {
    exports.defineGetterSetter = (object, key, getter, setter) => {
      const descriptor = { get: getter, configurable: true };
      if (setter) descriptor.set = setter;
      Object.defineProperty(object, key, descriptor);
    };
    exports.defineGetter = (object, key, getter) => exports.defineGetterSetter(object, key, getter);
    exports.arrayIndexOf = (array, item) => array.indexOf(item);
    // Removes the first occurrence; whether there was one.
    exports.arrayRemove = (array, item) => {
      const index = array.indexOf(item);
      if (index >= 0) array.splice(index, 1);
      return index >= 0;
    };
    exports.isArray = Array.isArray;
    exports.isDate = (value) => value instanceof Date;
    exports.typeName = (value) => Object.prototype.toString.call(value).slice(8, -1);

    exports.clone = (value) => {
      if (!value || typeof value !== "object" || exports.isDate(value)) return value;
      if (Array.isArray(value)) return value.map(exports.clone);
      const copy = {};
      for (const key in value) {
        if ((!(key in copy) || copy[key] !== value[key]) && value[key] !== undefined) copy[key] = exports.clone(value[key]);
      }
      return copy;
    };

    exports.close = (context, func, params) =>
      function () {
        return func.apply(context, params || arguments);
      };

    exports.createUUID = () => {
      const hex = (digits) => {
        let text = "";
        for (let i = 0; i < digits; i++) text += Math.floor(Math.random() * 16).toString(16);
        return text;
      };
      return [8, 4, 4, 4, 12].map(hex).join("-");
    };

    exports.extend = (Child, Parent) => {
      Child.prototype = Object.create(Parent.prototype);
      Child.prototype.constructor = Child;
      Child.__super__ = Parent.prototype;
    };

    // Not window.alert: a dialog would stop a page without a user, such as one under test.
    exports.alert = (message) => console.error(message);
  });

  define("cordova/argscheck", function (require, exports) {
    const utils = require("cordova/utils");
    const typeOfLetter = { A: "Array", D: "Date", N: "Number", S: "String", F: "Function", O: "Object" };

    function parameterName(callee, index) {
      const list = /\(\s*([^)]*?)\s*\)/.exec(String(callee));
      return list ? list[1].split(/\s*,\s*/)[index] : String(index);
    }

    function calleeOf(args) {
      // The arguments object of a strict function throws here: the message then names the position.
      try {
        return args.callee;
      } catch (error) {
        return undefined;
      }
    }

    // One letter of `spec` per argument: the type's first letter, in upper case if null and undefined are allowed too,
    // or "*" for any value.
    exports.checkArgs = (spec, functionName, args, callee) => {
      if (!exports.enableChecks) return;
      for (let i = 0; i < spec.length; i++) {
        const letter = spec.charAt(i);
        const upper = letter.toUpperCase();
        if (letter === "*") continue;
        if (args[i] == null && letter === upper) continue;
        const actual = utils.typeName(args[i]);
        if (actual === typeOfLetter[upper] || (upper === "F" && typeof args[i] === "function")) continue;
        const name = parameterName(callee || calleeOf(args), i);
        const message =
          `Wrong type for parameter "${name}" of ${functionName}: ` + `Expected ${typeOfLetter[upper]}, but got ${actual}.`;
        console.error(message);
        throw new TypeError(message);
      }
    };
    exports.getValue = (value, defaultValue) => (value === undefined ? defaultValue : value);
    exports.enableChecks = true;
  });

  define("cordova/base64", function (require, exports) {
    exports.fromArrayBuffer = (buffer) => {
      const bytes = new Uint8Array(buffer);
      let binary = "";
      // In pieces: an argument list has a limit.
      for (let i = 0; i < bytes.length; i += 8192) binary += String.fromCharCode.apply(null, bytes.subarray(i, i + 8192));
      return btoa(binary);
    };
    exports.toArrayBuffer = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0)).buffer;
  });

  define("cordova/urlutil", function (require, exports) {
    exports.makeAbsolute = (url) => new URL(url, document.baseURI).href;
  });

  // ---------------------------------------------------------------------------------------------- channels

  define("cordova/channel", function (require, exports, module) {
    // States of a channel: it is not sticky; it is sticky and has not fired; it is sticky and has fired.
    const PLAIN = 0;
    const STICKY = 1;
    const FIRED = 2;

    function check(listener) {
      const isListener = typeof listener === "function" || (listener && typeof listener.handleEvent === "function");
      if (!isListener) {
        throw new Error("Must provide a function or an EventListener object implementing the handleEvent interface.");
      }
    }

    function Channel(type, sticky) {
      this.type = type;
      this.handlers = new Map();
      this.state = sticky ? STICKY : PLAIN;
      this.fireArgs = null;
      this.numHandlers = 0;
      this.onHasSubscribersChange = null;
    }

    // Calls `listener` on each firing, once per firing however often it was subscribed. On a sticky channel that has
    // fired already the call happens now.
    Channel.prototype.subscribe = function (listener, context) {
      check(listener);
      const isObject = typeof listener === "object";
      const handle = isObject ? listener.handleEvent : listener;
      const receiver = isObject ? listener : context || this;
      if (this.state === FIRED) {
        handle.apply(receiver, this.fireArgs);
        return;
      }
      if (this.handlers.has(listener)) return;
      this.handlers.set(listener, (args) => handle.apply(receiver, args));
      this.numHandlers = this.handlers.size;
      if (this.numHandlers === 1 && this.onHasSubscribersChange) this.onHasSubscribersChange();
    };

    Channel.prototype.unsubscribe = function (listener) {
      check(listener);
      if (!this.handlers.delete(listener)) return;
      this.numHandlers = this.handlers.size;
      if (this.numHandlers === 0 && this.onHasSubscribersChange) this.onHasSubscribersChange();
    };

    Channel.prototype.fire = function (...args) {
      if (this.state === STICKY) {
        this.state = FIRED;
        this.fireArgs = args;
      }
      if (this.numHandlers === 0) return;
      // A copy: a handler that another handler removes during the firing is still called.
      const handlers = [...this.handlers.values()];
      if (this.state === FIRED) {
        this.handlers.clear();
        this.numHandlers = 0;
      }
      let failure = null;
      for (const handler of handlers) {
        try {
          handler(args);
        } catch (error) {
          // One faulty listener must not keep "deviceready" from the others.
          failure = failure || { error };
        }
      }
      if (this.state === FIRED && this.onHasSubscribersChange) this.onHasSubscribersChange();
      if (failure) throw failure.error;
    };

    const channel = {
      create: (type) => (channel[type] = new Channel(type, false)),
      createSticky: (type) => (channel[type] = new Channel(type, true)),

      // Calls `handler` once all of `channels`, which must be sticky, have fired.
      join(handler, channels) {
        if (channels.some((one) => one.state === PLAIN)) throw new Error("Can only use join with sticky channels.");
        let missing = channels.length;
        if (missing === 0) handler();
        for (const one of channels) {
          one.subscribe(() => {
            missing -= 1;
            if (missing === 0) handler();
          });
        }
      },

      deviceReadyChannelsArray: [],
      deviceReadyChannelsMap: {},
      // "deviceready" waits until initializationComplete is called with the same feature.
      waitForInitialization(feature) {
        if (!feature) return;
        const one = channel[feature] || channel.createSticky(feature);
        channel.deviceReadyChannelsMap[feature] = one;
        channel.deviceReadyChannelsArray.push(one);
      },
      initializationComplete(feature) {
        const one = channel.deviceReadyChannelsMap[feature];
        if (one) one.fire();
      },
    };

    for (const type of ["onDOMContentLoaded", "onNativeReady", "onCordovaReady", "onPluginsReady", "onDeviceReady"]) {
      channel.createSticky(type);
    }
    channel.create("onResume");
    channel.create("onPause");
    channel.waitForInitialization("onCordovaReady");
    channel.waitForInitialization("onDOMContentLoaded");

    module.exports = channel;
  });

  // ---------------------------------------------------------------------------------------------- symbols of plug-ins

  define("cordova/builder", function (require, exports) {
    const utils = require("cordova/utils");

    function clobber(object, key, value) {
      exports.replaceHookForTesting(object, key);
      // Properties of navigator are accessors of its prototype, which an assignment cannot shadow.
      try {
        object[key] = value;
      } catch (error) {
        utils.defineGetter(object, key, () => value);
        return;
      }
      if (object[key] !== value) utils.defineGetter(object, key, () => value);
    }

    exports.assignOrWrapInDeprecateGetter = (object, key, value, message) => {
      if (!message) {
        clobber(object, key, value);
        return;
      }
      utils.defineGetter(object, key, () => {
        console.log(message);
        delete object[key];
        clobber(object, key, value);
        return value;
      });
    };

    // Members of `source` replace those of `target`; objects are merged member by member, a class through its prototype.
    exports.recursiveMerge = (target, source) => {
      for (const key of Object.keys(source)) {
        if (target.prototype && target.prototype.constructor === target) {
          clobber(target.prototype, key, source[key]);
        } else if (source[key] && typeof source[key] === "object" && target[key] && typeof target[key] === "object") {
          exports.recursiveMerge(target[key], source[key]);
        } else {
          clobber(target, key, source[key]);
        }
      }
    };

    function include(objects, parent, replace, merge) {
      for (const key of Object.keys(objects)) {
        const object = objects[key];
        try {
          const value = object.path ? globalRequire(object.path) : {};
          if (parent[key] === undefined) {
            exports.assignOrWrapInDeprecateGetter(parent, key, value, object.deprecated);
          } else if (replace && object.path && merge) {
            exports.recursiveMerge(parent[key], value);
          } else if (replace && object.path) {
            exports.assignOrWrapInDeprecateGetter(parent, key, value, object.deprecated);
          }
          if (object.children) include(object.children, parent[key], replace, merge);
        } catch (error) {
          utils.alert(`Exception building Cordova JS globals: ${error} for key "${key}"`);
        }
      }
    }

    exports.buildIntoButDoNotClobber = (objects, target) => include(objects, target, false, false);
    exports.buildIntoAndClobber = (objects, target) => include(objects, target, true, false);
    exports.buildIntoAndMerge = (objects, target) => include(objects, target, true, true);
    exports.replaceHookForTesting = () => {};
  });

  define("cordova/modulemapper", function (require, exports) {
    const builder = require("cordova/builder");
    const originalsOfContext = new WeakMap();
    let entries = [];

    function add(strategy, moduleName, symbolPath, deprecationMessage) {
      if (!(moduleName in modules)) throw new Error(`Module ${moduleName} does not exist.`);
      entries.push({ strategy, moduleName, symbolPath, deprecationMessage });
    }

    function resolve(context, path) {
      return path.reduce((object, name) => (object == null ? undefined : object[name]), context);
    }

    function apply(entry, context) {
      const value = globalRequire(entry.moduleName);
      if (entry.strategy === "runs") return;
      const path = entry.symbolPath.split(".");
      const name = path.pop();
      // Assigned only when missing: symbols such as window.navigator have no setter.
      const parent = path.reduce((object, part) => object[part] || (object[part] = {}), context);
      const target = parent[name];
      if (entry.strategy === "merges" && target != null) {
        if (typeof target !== "object" && typeof target !== "function") {
          throw new Error(`Cannot merge module ${entry.moduleName} into ${entry.symbolPath}: it is not an object.`);
        }
        builder.recursiveMerge(target, value);
      } else if (entry.strategy !== "defaults" || target === undefined) {
        const originals = originalsOfContext.get(context);
        if (!originals.has(entry.symbolPath)) originals.set(entry.symbolPath, target);
        builder.assignOrWrapInDeprecateGetter(parent, name, value, entry.deprecationMessage);
      }
    }

    exports.reset = () => {
      entries = [];
    };
    exports.clobbers = (moduleName, symbolPath, message) => add("clobbers", moduleName, symbolPath, message);
    exports.merges = (moduleName, symbolPath, message) => add("merges", moduleName, symbolPath, message);
    exports.defaults = (moduleName, symbolPath, message) => add("defaults", moduleName, symbolPath, message);
    exports.runs = (moduleName) => add("runs", moduleName, null);

    exports.loadMatchingModules = (pattern) => {
      for (const id of Object.keys(modules)) if (pattern.test(id)) globalRequire(id);
    };

    // Sets the symbols of `context`, which is the window, in the order of the calls.
    exports.mapModules = (context) => {
      originalsOfContext.set(context, new Map());
      let failure = null;
      for (const entry of entries) {
        try {
          apply(entry, context);
        } catch (error) {
          // The other plug-ins get their symbols all the same.
          failure = failure || { error };
        }
      }
      if (failure) throw failure.error;
    };

    // What a plug-in's symbol was before the plug-in replaced it.
    exports.getOriginalSymbol = (context, symbolPath) => {
      const known = originalsOfContext.get(context);
      if (known && known.has(symbolPath)) return known.get(symbolPath);
      return resolve(context, symbolPath.split("."));
    };
  });

  define("cordova/pluginloader", function (require, exports) {
    const modulemapper = require("cordova/modulemapper");

    exports.injectScript = (url, onload, onerror) => {
      const script = document.createElement("script");
      script.onload = onload;
      script.onerror = onerror;
      script.src = url;
      document.head.appendChild(script);
    };

    function injectIfNecessary(id, url, done) {
      if (id in modules) {
        done(true);
        return;
      }
      exports.injectScript(
        url,
        () => done(id in modules),
        () => done(false)
      );
    }

    // The folder of cordova.js. The last such script counts: a page may have moved it.
    function basePath() {
      const scripts = [...document.getElementsByTagName("script")].reverse();
      const script = scripts.find((one) => /\/cordova\.js$/.test(String(one.src).replace(/[?#].*$/, "")));
      return (script ? script.src : ownAddress).replace(/[?#].*$/, "").replace(/[^/]*$/, "");
    }

    function mapSymbols(plugins) {
      for (const plugin of plugins) {
        for (const symbol of plugin.clobbers || []) modulemapper.clobbers(plugin.id, symbol);
        for (const symbol of plugin.merges || []) modulemapper.merges(plugin.id, symbol);
        if (plugin.runs) modulemapper.runs(plugin.id);
      }
    }

    // Loads the files of `cordova/plugin_list` whose modules are not defined yet, then calls `callback`. A file that
    // cannot be loaded is reported and left out: the other plug-ins and "deviceready" do not wait for it.
    exports.load = (callback) => {
      const path = basePath();
      injectIfNecessary("cordova/plugin_list", path + "cordova_plugins.js", (found) => {
        const plugins = found ? globalRequire("cordova/plugin_list") : [];
        const loaded = [];
        let missing = plugins.length;
        const finish = () => {
          mapSymbols(plugins.filter((plugin) => loaded.includes(plugin.id)));
          callback();
        };
        if (missing === 0) finish();
        for (const plugin of plugins) {
          injectIfNecessary(plugin.id, path + plugin.file, (defined) => {
            if (defined) loaded.push(plugin.id);
            else console.error(`Cannot load plug-in module '${plugin.id}' from ${path + plugin.file}.`);
            missing -= 1;
            if (missing === 0) finish();
          });
        }
      });
    };
  });

  // ---------------------------------------------------------------------------------------------- native calls

  define("cordova/exec/proxy", function (require, exports, module) {
    const proxies = Object.create(null);
    module.exports = {
      add: (service, proxy) => (proxies[service] = proxy),
      remove(service) {
        const proxy = proxies[service];
        delete proxies[service];
        return proxy;
      },
      get: (service, action) => (proxies[service] && proxies[service][action]) || null,
    };
  });

  // The socket. It opens once per load of the page; when it closes, every pending and every later call fails.
  define("fieldforce/socket", function (require, exports) {
    const cordova = require("cordova");
    const CLOSED = "The connection to the bridge is closed. Reload the page, or start 'fieldforce hybrid serve' again.";
    const RELOAD = "fieldforceReload";
    const CHOOSE_USER = "fieldforceChooseUser";
    const MAXIMUM_FRAME = 16 * 1024 * 1024;
    const pending = new Set();
    let waiting = [];
    let socket = null;
    let closed = false;

    function deliver(id, isSuccess, args, keep) {
      if (!pending.has(id)) return;
      if (!keep) pending.delete(id);
      const status = cordova.callbackStatus[!isSuccess ? "ERROR" : keep && args.length === 0 ? "NO_RESULT" : "OK"];
      try {
        cordova.callbackFromNative(id, isSuccess, status, args, keep);
      } catch (error) {
        // To the page's error handlers, as an exception in any other callback, without losing other responses.
        setTimeout(() => {
          throw error;
        }, 0);
      }
    }

    function fail(id, message) {
      setTimeout(() => deliver(id, false, [message], false), 0);
    }

    function receive(text) {
      let frame = null;
      try {
        frame = JSON.parse(text);
      } catch (error) {
        // Reported below.
      }
      if (frame === null || typeof frame !== "object") {
        console.error("The bridge sent a frame that is no JSON object.");
        return;
      }
      if (typeof frame.event === "string") {
        const event = new CustomEvent(frame.event, { detail: frame.detail, cancelable: true });
        const wanted = document.dispatchEvent(event);
        // Another user, or none: the page of the user before must not go on, unless it says that it handles this.
        if (frame.event === RELOAD && wanted) startAgain();
        if (frame.event === CHOOSE_USER && wanted) require("fieldforce/user-chooser").show(frame.detail);
      } else {
        deliver(frame.id, frame.status !== "error", "value" in frame ? [frame.value] : [], frame.status === "pending");
      }
    }

    // Ends the connection, so that no call of this page reaches the next user, and drops what the browser keeps of the page.
    function startAgain() {
      socket.onclose = null;
      socket.close();
      close();
      for (const storage of ["localStorage", "sessionStorage"]) {
        try {
          window[storage].clear();
        } catch (error) {
          // This browser keeps none for the page.
        }
      }
      const databases = window.indexedDB && indexedDB.databases ? indexedDB.databases() : Promise.resolve([]);
      const caches = window.caches ? window.caches.keys() : Promise.resolve([]);
      const dropped = [
        databases.then((all) => all.forEach(({ name }) => indexedDB.deleteDatabase(name))),
        caches.then((names) => Promise.all(names.map((name) => window.caches.delete(name)))),
      ];
      Promise.all(dropped.map((one) => one.catch((error) => console.error(String(error))))).then(() => location.reload());
    }

    function close() {
      if (closed) return;
      closed = true;
      waiting = [];
      for (const id of [...pending]) deliver(id, false, [CLOSED], false);
    }

    exports.connect = () => {
      const address = new URL("_bridge", ownAddress);
      address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
      address.search = "";
      address.hash = "";
      try {
        socket = new WebSocket(address.href);
      } catch (error) {
        close();
        return;
      }
      socket.onopen = () => {
        for (const text of waiting) socket.send(text);
        waiting = [];
      };
      socket.onmessage = (message) => receive(message.data);
      socket.onclose = close;
      socket.onerror = close;
      // A page that comes back from the browser's cache of pages has lost its socket.
      window.addEventListener("pageshow", (event) => {
        if (event.persisted && closed) location.reload();
      });
    };

    exports.send = (id, service, action, args) => {
      const text = JSON.stringify({ id, service, action, args });
      pending.add(id);
      if (closed) {
        fail(id, CLOSED);
      } else if (text.length * 3 > MAXIMUM_FRAME && new TextEncoder().encode(text).length > MAXIMUM_FRAME) {
        fail(id, `The call ${service}.${action} is larger than 16 MB. Send the data in several calls.`);
      } else if (socket.readyState === 1) {
        socket.send(text);
      } else {
        waiting.push(text);
      }
    };
  });

  // The list of accounts, for a page that switches the user without naming one. A page that calls preventDefault() on
  // "fieldforceChooseUser" shows a list of its own.
  define("fieldforce/user-chooser", function (require, exports) {
    const SERVICE = "com.salesforce.sfaccountmanager";
    const STYLE = `
      dialog { box-sizing: border-box; width: min(24rem, calc(100vw - 2rem)); max-height: calc(100vh - 4rem); padding: 1.25rem;
        border: 1px solid color-mix(in srgb, CanvasText 25%, Canvas); border-radius: 0.75rem; color-scheme: light dark;
        background: Canvas; color: CanvasText; font: 16px/1.4 system-ui, sans-serif; }
      dialog::backdrop { background: rgb(0 0 0 / 50%); }
      h2 { margin: 0 0 0.75rem; font-size: 1.125rem; }
      button { display: block; box-sizing: border-box; width: 100%; min-height: 2.75rem; margin-top: 0.5rem; padding: 0.5rem 0.75rem;
        border: 1px solid color-mix(in srgb, CanvasText 25%, Canvas); border-radius: 0.5rem; background: ButtonFace; color: ButtonText;
        font: inherit; text-align: start; overflow-wrap: anywhere; cursor: pointer; }
      button:focus-visible { outline: 3px solid CanvasText; outline-offset: 1px; }
      button[aria-current] { font-weight: 600; }
      p { margin: 0.75rem 0 0; }`;

    exports.show = ({ users, canLogIn }) => {
      const element = (name, text) => Object.assign(document.createElement(name), { textContent: text });
      const host = document.createElement("div");
      const root = host.attachShadow({ mode: "open" });
      const dialog = document.createElement("dialog");
      const title = element("h2", "Choose a user");
      const problem = element("p", "");
      title.id = "title";
      dialog.setAttribute("aria-labelledby", "title");
      problem.setAttribute("role", "alert");
      const buttons = [];
      const add = (text, action) => {
        const button = element("button", text);
        button.onclick = action;
        buttons.push(button);
        return button;
      };
      const enable = (isEnabled) => buttons.forEach((button) => (button.disabled = !isEnabled));
      const close = () => dialog.close();
      const switchTo = (user) => () => {
        enable(false);
        const refused = (error) => {
          problem.textContent = String(error);
          enable(true);
        };
        require("cordova/exec")(close, refused, SERVICE, "switchToUser", [user]);
      };
      for (const user of users) {
        const button = add(user.username, user.isCurrent ? close : switchTo(user));
        if (user.isCurrent) button.setAttribute("aria-current", "true");
      }
      if (canLogIn) add("Log in as another user", switchTo({ newUser: true }));
      add("Cancel", close);
      dialog.append(title, ...buttons, problem);
      dialog.onclose = () => host.remove();
      root.append(element("style", STYLE), dialog);
      document.body.append(host);
      dialog.showModal();
    };
  });

  define("cordova/exec", function (require, exports, module) {
    const cordova = require("cordova");
    const base64 = require("cordova/base64");
    const proxies = require("cordova/exec/proxy");
    const socket = require("fieldforce/socket");

    // JSON has no bytes: a buffer travels in the form that Cordova uses on iOS.
    const massage = (value) =>
      value instanceof ArrayBuffer ? { CDVType: "ArrayBuffer", data: base64.fromArrayBuffer(value) } : value;

    module.exports = function exec(success, fail, service, action, args) {
      const callbackId = service + cordova.callbackId++;
      const list = args == null ? [] : [].concat(args);
      cordova.callbacks[callbackId] = { success, fail };

      const proxy = proxies.get(service, action);
      if (proxy) {
        // A page's own implementation of a service, as plug-ins for browsers bring it.
        const finish = (isSuccess) => (value, options) =>
          setTimeout(() => {
            const keep = Boolean(options && options.keepCallback);
            const status = cordova.callbackStatus[isSuccess ? "OK" : "ERROR"];
            cordova.callbackFromNative(callbackId, isSuccess, status, value === undefined ? [] : [value], keep);
          }, 0);
        try {
          proxy(finish(true), finish(false), list);
        } catch (error) {
          finish(false)(`${service}.${action} failed: ${error}`);
        }
        return;
      }
      try {
        socket.send(callbackId, service, action, list.map(massage));
      } catch (error) {
        delete cordova.callbacks[callbackId];
        throw error;
      }
    };
  });

  // Services that a browser carries out by itself. Plug-ins for them (device, network information) hold back "deviceready"
  // until they have a result.
  define("fieldforce/browser-services", function (require) {
    const proxies = require("cordova/exec/proxy");
    const platform = require("cordova/platform");
    const connectionType = () => (navigator.onLine === false ? "none" : "unknown");

    proxies.add("NetworkStatus", {
      getConnectionInfo(success) {
        success(connectionType(), { keepCallback: true });
        window.addEventListener("online", () => success(connectionType(), { keepCallback: true }));
        window.addEventListener("offline", () => success(connectionType(), { keepCallback: true }));
      },
    });
    proxies.add("Device", {
      getDeviceInfo: (success) =>
        success({
          cordova: platform.cordovaVersion,
          platform: platform.id,
          model: "Browser",
          version: navigator.userAgent || "",
          uuid: null,
          manufacturer: "unknown",
          isVirtual: false,
          serial: "unknown",
        }),
    });
  });

  // ---------------------------------------------------------------------------------------------- start

  define("cordova/platform", function (require, exports, module) {
    module.exports = {
      id: "browser",
      cordovaVersion: "7.0.0",
      bootstrap() {
        require("cordova/channel").onNativeReady.fire();
      },
    };
  });

  define("cordova/init", function (require) {
    const cordova = require("cordova");
    const channel = require("cordova/channel");
    const modulemapper = require("cordova/modulemapper");
    const pluginloader = require("cordova/pluginloader");
    const platform = require("cordova/platform");
    const domListener = cordova.getOriginalHandlers().document.addEventListener;

    channel.onPause = cordova.addDocumentEventHandler("pause");
    channel.onResume = cordova.addDocumentEventHandler("resume");
    channel.onDeviceReady = cordova.addStickyDocumentEventHandler("deviceready");

    domListener.call(document, "visibilitychange", () => {
      cordova.fireDocumentEvent(document.visibilityState === "hidden" ? "pause" : "resume");
    });

    // Plug-in files load after the page's own scripts, so that a page that brings cordova.force.js defines first.
    channel.onDOMContentLoaded.subscribe(() => pluginloader.load(() => channel.onPluginsReady.fire()));

    channel.join(
      () => {
        try {
          modulemapper.mapModules(window);
        } catch (error) {
          console.error(`A plug-in cannot set its symbol. ${error}`);
        }
        channel.onCordovaReady.fire();
        channel.join(() => cordova.fireDocumentEvent("deviceready"), channel.deviceReadyChannelsArray);
      },
      [channel.onDOMContentLoaded, channel.onNativeReady, channel.onPluginsReady]
    );

    setTimeout(() => {
      const waitedFor = channel.deviceReadyChannelsArray.filter((one) => one.state !== 2).map((one) => one.type);
      if (waitedFor.length > 0) console.log(`deviceready has not fired after 5 seconds. Waiting for: ${waitedFor}`);
    }, 5000);

    if (document.readyState === "complete") {
      channel.onDOMContentLoaded.fire();
    } else {
      // "interactive" does not tell whether DOMContentLoaded is still to come: whichever event is first counts.
      const loaded = () => channel.onDOMContentLoaded.fire();
      domListener.call(document, "DOMContentLoaded", loaded);
      cordova.getOriginalHandlers().window.addEventListener.call(window, "load", loaded);
    }

    platform.bootstrap();
  });

  window.cordova = require("cordova");
  window.Cordova = window.cordova;
  window.cordova.exec = require("cordova/exec");
  require("fieldforce/socket").connect();
  require("fieldforce/browser-services");
  require("cordova/init");
})();
