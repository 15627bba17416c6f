import assert from "node:assert/strict";
import test from "node:test";
import { random, withPage } from "./support/harness.mjs";
import { plain } from "./support/page.mjs";

// ------------------------------------------------------------------------------------------ define and require

test("require runs a factory once and gives its exports", async (t) => {
  const { cordova } = await withPage(t);
  let runs = 0;
  cordova.define("a", (require, exports, module) => {
    runs += 1;
    assert.equal(module.id, "a");
    assert.equal(module.factory, undefined);
    exports.value = 1;
  });
  assert.equal(runs, 0);
  assert.equal(cordova.require("a"), cordova.require("a"));
  assert.equal(cordova.require("a").value, 1);
  assert.equal(runs, 1);
});

test("define refuses an id that exists, require one that does not", async (t) => {
  const { cordova } = await withPage(t);
  assert.throws(() => cordova.define("cordova", () => {}), { message: "module cordova already defined" });
  assert.throws(() => cordova.require("your mom"), { message: "module your mom not found" });
  cordova.define.remove("can't touch this");
  for (const name of ["hasOwnProperty", "toString", "ラーメン"]) {
    cordova.define(name, (require, exports, module) => (module.exports = name));
    assert.equal(cordova.require(name), name);
  }
});

test("a cycle of modules is named", async (t) => {
  const { cordova } = await withPage(t);
  cordova.define("A", (require) => require("B"));
  cordova.define("B", (require) => require("C"));
  cordova.define("C", (require) => require("A"));
  assert.throws(() => cordova.require("A"), { message: "Cycle in require graph: A->B->C->A" });
});

test("a module requires its siblings with ./", async (t) => {
  const { cordova } = await withPage(t);
  cordova.define("plugin.ios.foo", (require, exports, module) => (module.exports = require("./bar") * 2));
  cordova.define("plugin.ios.bar", (require, exports, module) => (module.exports = 2));
  assert.equal(cordova.require("plugin.ios.foo"), 4);
});

test("modules can be removed and put back through moduleMap", async (t) => {
  const { cordova } = await withPage(t);
  const { define } = cordova;
  const all = { ...define.moduleMap };
  for (const id of Object.keys(all)) define.remove(id);
  define("cordova", () => {});
  assert.throws(() => cordova.require("cordova/utils"), { message: "module cordova/utils not found" });
  Object.assign(define.moduleMap, all);
  assert.equal(typeof cordova.require("cordova/utils").clone, "function");
});

// ------------------------------------------------------------------------------------------ channels

test("a channel refuses what is no listener and counts each listener once", async (t) => {
  const channel = (await withPage(t)).cordova.require("cordova/channel");
  const one = channel.create("one");
  for (const bad of [undefined, null, { apply() {}, call() {} }]) {
    assert.throws(() => one.subscribe(bad));
    assert.throws(() => one.unsubscribe(bad));
  }
  const handler = () => {};
  one.subscribe(handler);
  one.subscribe(handler);
  one.subscribe({ handleEvent() {} });
  assert.equal(one.numHandlers, 2);
  one.unsubscribe(handler);
  one.unsubscribe(handler);
  one.unsubscribe(() => {});
  assert.equal(one.numHandlers, 1);
});

test("a sticky channel calls late listeners with the arguments of its firing, once", async (t) => {
  const channel = (await withPage(t)).cordova.require("cordova/channel");
  const sticky = channel.createSticky("sticky");
  const calls = [];
  sticky.subscribe((...args) => {
    calls.push(["before", ...args]);
    sticky.subscribe((...later) => calls.push(["during", ...later]));
  });
  sticky.fire(1, 2);
  sticky.fire(3);
  sticky.subscribe((...args) => calls.push(["after", ...args]));
  assert.deepEqual(calls, [["before", 1, 2], ["during", 1, 2], ["after", 1, 2]]);
});

test("a plain channel calls on every firing, and also a listener that was removed during it", async (t) => {
  const channel = (await withPage(t)).cordova.require("cordova/channel");
  const one = channel.create("one");
  const calls = [];
  const second = () => calls.push("second");
  one.subscribe(() => {
    calls.push("first");
    one.unsubscribe(second);
  });
  one.subscribe(second);
  one.fire();
  one.fire();
  assert.deepEqual(calls, ["first", "second", "first"]);
});

test("a listener that throws does not keep the event from the others", async (t) => {
  const channel = (await withPage(t)).cordova.require("cordova/channel");
  const one = channel.create("one");
  const calls = [];
  one.subscribe(() => { throw new Error("first"); });
  one.subscribe(() => calls.push("second"));
  assert.throws(() => one.fire(), { message: "first" });
  assert.deepEqual(calls, ["second"]);
});

test("join waits for all channels, which must be sticky", async (t) => {
  const channel = (await withPage(t)).cordova.require("cordova/channel");
  const [a, b] = [channel.createSticky("a"), channel.createSticky("b")];
  let joined = 0;
  channel.join(() => (joined += 1), [a, b]);
  a.fire();
  assert.equal(joined, 0);
  b.fire();
  assert.equal(joined, 1);
  channel.join(() => (joined += 1), [a, b]);
  assert.equal(joined, 2);
  assert.throws(() => channel.join(() => {}, [a, channel.create("plain")]));
});

test("onHasSubscribersChange tells of the first and the last listener", async (t) => {
  const channel = (await withPage(t)).cordova.require("cordova/channel");
  const one = channel.create("one");
  const counts = [];
  one.onHasSubscribersChange = function () { counts.push(this.numHandlers); };
  const [a, b] = [() => {}, () => {}];
  one.subscribe(a);
  one.subscribe(b);
  one.unsubscribe(a);
  one.unsubscribe(b);
  assert.deepEqual(counts, [1, 0]);
});

// ------------------------------------------------------------------------------------------ argscheck, utils, base64

test("checkArgs names the parameter, the expected and the actual type", async (t) => {
  const argscheck = (await withPage(t)).cordova.require("cordova/argscheck");
  function testFunc(num, obj, arr, str, date, func) { argscheck.checkArgs("NOASDF*", "testFunc", arguments, testFunc); }
  testFunc(0, {}, [], "", new Date(), testFunc, "");
  testFunc(null, undefined);
  const cases = [
    [["foo"], "num", "Number", "String"],
    [[null, []], "obj", "Object", "Array"],
    [[null, null, {}], "arr", "Array", "Object"],
    [[null, null, null, 5], "str", "String", "Number"],
    [[null, null, null, null, 233], "date", "Date", "Number"],
    [[null, null, null, null, null, new Date()], "func", "Function", "Date"],
  ];
  for (const [args, name, expected, actual] of cases) {
    const message = `Wrong type for parameter "${name}" of testFunc: Expected ${expected}, but got ${actual}.`;
    assert.throws(() => testFunc(...args), { name: "TypeError", message });
  }
  const required = (...args) => argscheck.checkArgs("n", "f", args, (num) => num);
  assert.throws(() => required(undefined));
  argscheck.enableChecks = false;
  required(undefined);
});

test("utils clones, closes, extends and makes UUIDs", async (t) => {
  const utils = (await withPage(t)).cordova.require("cordova/utils");
  const original = { a: { b: { c: "d" } }, list: [1, { four: 4 }, "5"], none: null };
  assert.deepEqual(plain(utils.clone(original)), original);
  assert.notEqual(utils.clone(original).a, original.a);
  assert.equal(utils.clone(null), null);
  assert.equal(utils.clone(undefined), undefined);
  assert.equal(utils.close(null, (value) => value, [42])(16), 42);
  assert.equal(utils.close(null, (value) => value)(16), 16);
  assert.match(utils.createUUID(), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  assert.notEqual(utils.createUUID(), utils.createUUID());
  assert.equal(utils.arrayIndexOf([1, 2, 1], 1), 0);
  const array = [1, 2, 1];
  assert.deepEqual([utils.arrayRemove(array, 1), utils.arrayRemove(array, 4), array], [true, false, [2, 1]]);
  assert.equal(utils.typeName([]), "Array");
  function Parent() {}
  Parent.prototype.greet = () => "hello";
  function Child() {}
  utils.extend(Child, Parent);
  assert.equal(new Child().greet(), "hello");
  assert.equal(new Child().constructor, Child);
  assert.equal(Child.__super__, Parent.prototype);
});

test("base64 gives back any bytes", async (t) => {
  const base64 = (await withPage(t)).cordova.require("cordova/base64");
  const seed = Date.now();
  t.diagnostic(`seed ${seed}`);
  const { below } = random(seed);
  for (let round = 0; round < 200; round++) {
    const bytes = Uint8Array.from({ length: below(round < 190 ? 50 : 40000) }, () => below(256));
    const text = base64.fromArrayBuffer(bytes.buffer);
    assert.equal(text, Buffer.from(bytes).toString("base64"));
    assert.deepEqual(new Uint8Array(base64.toArrayBuffer(text)), bytes);
  }
});

test("urlutil makes addresses absolute", async (t) => {
  const { cordova, bridge } = await withPage(t);
  const { makeAbsolute } = cordova.require("cordova/urlutil");
  assert.equal(makeAbsolute("http://www.foo.com?foo#bar"), "http://www.foo.com/?foo#bar");
  assert.equal(makeAbsolute("foo/b%20ar?a#b"), `${bridge.url}foo/b%20ar?a#b`);
});

// ------------------------------------------------------------------------------------------ symbols

test("builder builds objects out of modules", async (t) => {
  const { cordova } = await withPage(t);
  const builder = cordova.require("cordova/builder");
  const target = { kept: 1 };
  const children = { bart: {}, maggie: { path: "cordova/builder" } };
  builder.buildIntoButDoNotClobber({ kept: { path: "cordova/utils" }, homer: { children } }, target);
  assert.equal(target.kept, 1);
  assert.equal(target.homer.maggie, builder);
  assert.deepEqual(plain(target.homer.bart), {});
  builder.buildIntoAndClobber({ kept: { path: "cordova/utils" } }, target);
  assert.equal(target.kept, cordova.require("cordova/utils"));
});

test("modulemapper clobbers, defaults and merges symbols in the order of the calls", async (t) => {
  const { cordova, page } = await withPage(t);
  const mapper = cordova.require("cordova/modulemapper");
  const module = { func: () => "new", num: 2, obj: { str: "x" }, subObj: { str: "merged" } };
  cordova.define("mod", (require, exports, m) => (m.exports = module));
  class TestClass { method1() { return "orig"; } }
  const old = { str: "hello", num: 8, subObj: { num: 9 } };
  const context = { num: 1, obj: old, TestClass, get getter() { return "old"; } };
  Object.defineProperty(context, "getter", { configurable: true });
  mapper.reset();
  mapper.clobbers("mod", "new.deep.symbol");
  mapper.defaults("mod", "num");
  mapper.clobbers("mod", "getter");
  mapper.merges("mod", "obj");
  mapper.merges("mod", "TestClass");
  mapper.merges("mod", "fresh");
  mapper.mapModules(context);
  assert.equal(context.new.deep.symbol, module);
  assert.equal(context.num, 1);
  assert.equal(context.getter, module);
  assert.equal(context.fresh, module);
  assert.deepEqual(plain(context.obj.subObj), { num: 9, str: "merged" });
  assert.equal(context.obj.num, 2);
  assert.equal(new TestClass().func(), "new");
  assert.equal(mapper.getOriginalSymbol(context, "getter"), "old");
  assert.equal(mapper.getOriginalSymbol(context, "obj"), old);
  assert.equal(mapper.getOriginalSymbol(context, "un.known"), undefined);
  assert.throws(() => mapper.clobbers("cordova/invalid", "x"));
  mapper.reset();
  mapper.merges("mod", "num");
  assert.throws(() => mapper.mapModules(context), /is not an object/);
  mapper.reset();
  mapper.clobbers("mod", "deprecated", "Use foo instead");
  mapper.mapModules(context);
  assert.equal(context.deprecated.func(), "new");
  assert.equal(context.deprecated.func(), "new");
  assert.equal(page.messages.filter((line) => line.includes("Use foo instead")).length, 1);
  const ran = [];
  for (const id of ["foo/a", "foo/symbols", "foo/bar/symbols", "baz/symbols"]) cordova.define(id, () => ran.push(id));
  mapper.loadMatchingModules(/^foo.*\/symbols$/);
  assert.deepEqual(ran, ["foo/symbols", "foo/bar/symbols"]);
});
