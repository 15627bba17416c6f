// A stand-in for Backbone: the part of its documented Model and Collection that mobilesync.js builds on.
(function (root) {
  "use strict";

  class Events {
    on(name, callback) {
      this.listeners = this.listeners || {};
      (this.listeners[name] = this.listeners[name] || []).push(callback);
      return this;
    }

    trigger(name, ...args) {
      for (const callback of (this.listeners && this.listeners[name]) || []) callback.apply(this, args);
      return this;
    }
  }

  function extend(members) {
    const Parent = this;
    function Child(...args) {
      return Reflect.construct(Parent, args, new.target || Child);
    }
    Child.prototype = Object.create(Parent.prototype);
    Object.assign(Child.prototype, members, { constructor: Child });
    Child.extend = extend;
    Child.__super__ = Parent.prototype;
    return Child;
  }

  // Backbone passes (model, response, options) on, and triggers events beside.
  function wrapError(model, options) {
    const { error } = options;
    options.error = (response) => {
      if (error) error.call(options.context, model, response, options);
      model.trigger("error", model, response, options);
    };
  }

  class Model extends Events {
    constructor(attributes, options) {
      super();
      this.attributes = {};
      this.set(attributes || {});
      if (this.initialize) this.initialize(attributes, options);
    }

    get(name) {
      return this.attributes[name];
    }

    set(key, value) {
      const changes = typeof key === "object" && key !== null ? key : { [key]: value };
      Object.assign(this.attributes, changes);
      this.id = this.attributes[this.idAttribute];
      this.trigger("change", this);
      return this;
    }

    isNew() {
      return this.id === undefined || this.id === null;
    }

    toJSON() {
      return { ...this.attributes };
    }

    parse(response) {
      return response;
    }

    sync() {
      throw new Error("Backbone.sync needs a server of its own.");
    }

    request(method, options, apply) {
      const { success } = options;
      options.success = (response) => {
        apply(response);
        if (success) success.call(options.context, this, response, options);
        this.trigger("sync", this, response, options);
      };
      wrapError(this, options);
      return this.sync(method, this, options);
    }

    fetch(options) {
      return this.request("read", { parse: true, ...options }, (response) => this.set(this.parse(response)));
    }

    save(key, value, given) {
      const isPair = typeof key === "string";
      const options = { parse: true, ...(isPair ? given : value) };
      if (key !== null && key !== undefined) this.set(key, value);
      const method = this.isNew() ? "create" : options.patch ? "patch" : "update";
      return this.request(method, options, (response) => response && this.set(this.parse(response)));
    }

    destroy(given) {
      const options = { ...given };
      if (this.isNew()) {
        if (options.success) setTimeout(() => options.success(this, undefined, options), 0);
        return false;
      }
      return this.request("delete", options, () => this.trigger("destroy", this));
    }
  }
  Model.prototype.idAttribute = "id";
  Model.extend = extend;

  class Collection extends Events {
    constructor(models, options) {
      super();
      this.models = [];
      this.length = 0;
      if (models) this.set(models);
      if (this.initialize) this.initialize(models, options);
    }

    set(records) {
      this.models = [];
      this.length = 0;
      return this.add(records);
    }

    add(records) {
      for (const record of [].concat(records)) {
        const model = record instanceof Model ? record : new this.model(record);
        const known = model.id == null ? undefined : this.models.find((one) => one.id === model.id);
        if (known) known.set(model.attributes);
        else this.models.push(model);
      }
      this.length = this.models.length;
      this.trigger("add", this);
      return this.models;
    }

    at(index) {
      return this.models[index];
    }

    pluck(name) {
      return this.models.map((model) => model.get(name));
    }

    toJSON() {
      return this.models.map((model) => model.toJSON());
    }

    fetch(given) {
      const options = { parse: true, ...given };
      const { success } = options;
      options.success = (response) => {
        this.set(response);
        if (success) success.call(options.context, this, response, options);
        this.trigger("sync", this, response, options);
      };
      wrapError(this, options);
      return this.sync("read", this, options);
    }
  }
  Collection.prototype.model = Model;
  Collection.extend = extend;

  root.Backbone = { Model, Collection, Events };
})(globalThis);
