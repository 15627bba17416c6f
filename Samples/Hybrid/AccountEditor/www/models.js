// The part of Backbone that mobilesync.js builds on: models and collections that talk to their server through `sync`.
(function () {
  "use strict";

  // Backbone passes (model, response, options) to callbacks. The promise of `sync` is what callers of this app use.
  function callbacks(owner, options, apply) {
    const { success, error } = options;
    return {
      ...options,
      success: (response) => {
        apply(response);
        if (success) success(owner, response, options);
      },
      error: (reason) => {
        if (error) error(owner, reason, options);
      },
    };
  }

  function extend(members) {
    class Child extends this {}
    Object.assign(Child.prototype, members);
    return Child;
  }

  class Model {
    static extend = extend;

    constructor(attributes) {
      this.attributes = { ...attributes };
    }

    get id() {
      return this.attributes[this.idAttribute];
    }

    get(name) {
      return this.attributes[name];
    }

    set(values) {
      Object.assign(this.attributes, values);
      return this;
    }

    toJSON() {
      return { ...this.attributes };
    }

    fetch(options = {}) {
      return this.sync("read", this, callbacks(this, options, (response) => this.set(response)));
    }

    save(values, options = {}) {
      this.set(values);
      const method = this.id == null ? "create" : "update";
      return this.sync(method, this, callbacks(this, options, (response) => this.set(response)));
    }

    destroy(options = {}) {
      return this.sync("delete", this, callbacks(this, options, () => {}));
    }
  }
  Model.prototype.idAttribute = "id";

  class Collection {
    static extend = extend;
    models = [];

    add(records) {
      this.models.push(...records.map((record) => new this.model(record)));
    }

    toJSON() {
      return this.models.map((model) => model.toJSON());
    }

    fetch(options = {}) {
      const replace = (records) => {
        this.models = [];
        this.add(records);
      };
      return this.sync("read", this, callbacks(this, options, replace));
    }
  }
  Collection.prototype.model = Model;

  window.Backbone = { Model, Collection };
})();
