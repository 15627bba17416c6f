// force.js: Salesforce's REST API for pages. Global `force`.
//
// In the container (cordova.js of the bridge) every request goes through the network plug-in, which holds the session
// and refreshes it. In a plain browser the library logs in itself and sends the requests.
(function (window) {
  "use strict";
  const CALLBACK_PAGE = "/oauthcallback.html";

  const settings = {
    appId: undefined,
    apiVersion: "v66.0",
    loginURL: "https://login.salesforce.com",
    proxyURL: undefined,
    oauthCallbackURL: undefined,
    useProxy: undefined,
    useCordova: undefined,
    requestHandler: undefined,
  };
  const session = { accessToken: undefined, instanceURL: undefined, refreshToken: undefined, userId: undefined };
  let pendingLogin = null;

  const noop = () => {};

  // ------------------------------------------------------------------------------------------ texts

  // The parts of an absolute URL; `params` are decoded.
  function parseUrl(url) {
    const parts = /^([a-z][a-z0-9+.-]*:)\/\/(([^/:?#]*)(?::(\d+))?)([^?#]*)(?:\?([^#]*))?(#.*)?$/i.exec(url);
    if (!parts) throw new Error(`Cannot parse '${url}': it is not an absolute URL.`);
    const [, protocol, host, hostname, port, path, query, hash] = parts;
    return { protocol, host, hostname, port, path, params: parseQueryString(query || ""), hash: hash || "" };
  }

  function parseQueryString(text) {
    const params = {};
    for (const pair of text.split("&")) {
      if (pair === "") continue;
      const [name, ...value] = pair.replace(/\+/g, " ").split("=");
      params[decodeURIComponent(name)] = decodeURIComponent(value.join("="));
    }
    return params;
  }

  function toQueryString(params) {
    return Object.keys(params || {})
      .filter((name) => params[name] !== undefined)
      .map((name) => `${encodeURIComponent(name)}=${encodeURIComponent(params[name])}`)
      .join("&");
  }

  // The network plug-in takes an endpoint and a path: the first two parts of a full path are the endpoint.
  function computeEndPointIfMissing(endPoint, path) {
    if (endPoint !== undefined && endPoint !== null) return { endPoint, path };
    if (/^https?:\/\//i.test(path)) return { path };
    const [beforeQuery, ...query] = path.split("?");
    const parts = beforeQuery.split("/").filter((part) => part !== "");
    if (parts.length < 2) return { path };
    const suffix = query.length > 0 ? `?${query.join("?")}` : "";
    return { endPoint: `/${parts[0]}/${parts[1]}`, path: `/${parts.slice(2).join("/")}${suffix}` };
  }

  const data = (path) => `/services/data/${settings.apiVersion}${path}`;
  const part = encodeURIComponent;

  // ------------------------------------------------------------------------------------------ state

  function init(params) {
    const given = params || {};
    const names = ["appId", "apiVersion", "loginURL", "proxyURL", "oauthCallbackURL", "useProxy", "useCordova"];
    for (const name of names) if (given[name] !== undefined) settings[name] = given[name];
    for (const name of Object.keys(session)) if (given[name] !== undefined) session[name] = given[name];
    // Tests set a handler for one run and leave it out to get rid of it.
    settings.requestHandler = given.requestHandler;
  }

  const isAuthenticated = () => Boolean(session.accessToken);
  const getUserId = () => session.userId;
  const discardToken = () => {
    session.accessToken = undefined;
  };

  // The plug-in `name` of a container. A mock of Cordova (it has interceptExec) has no server behind its network.
  function plugin(name) {
    const { cordova } = window;
    if (settings.useCordova === false || !cordova || !cordova.require) return null;
    if (cordova.interceptExec && settings.useCordova !== true) return null;
    try {
      return cordova.require(`com.salesforce.plugin.${name}`);
    } catch (error) {
      return null;
    }
  }

  const isInContainer = () =>
    settings.useCordova === true || (settings.useCordova !== false && window.cordova && !window.cordova.interceptExec);

  // ------------------------------------------------------------------------------------------ login

  function keepCredentials(credentials) {
    session.accessToken = credentials.accessToken;
    session.instanceURL = credentials.instanceUrl;
    session.refreshToken = credentials.refreshToken;
    session.userId = credentials.userId;
  }

  function login(success, error) {
    if (isInContainer()) loginInContainer(success || noop, error || noop);
    else loginInBrowser(success || noop, error || noop);
  }

  function loginInContainer(success, error) {
    const finish = (credentials) => {
      keepCredentials(credentials);
      success();
    };
    afterDeviceReady(() => {
      const oauth = plugin("oauth");
      if (oauth) oauth.getAuthCredentials(finish, () => oauth.authenticate(finish, error));
      else error("Cannot log in: the page has no com.salesforce.plugin.oauth.");
    });
  }

  function loginInBrowser(success, error) {
    const random = window.crypto.getRandomValues(new Uint32Array(4));
    const state = Array.from(random, (value) => value.toString(16)).join("");
    pendingLogin = { success, error, state };
    const query = toQueryString({
      client_id: settings.appId,
      redirect_uri: settings.oauthCallbackURL || pageBase() + CALLBACK_PAGE,
      response_type: "token",
      state,
    });
    window.open(`${settings.loginURL}/services/oauth2/authorize?${query}`, "_blank", "location=no");
  }

  // Called by the page that the login redirects to, with that page's address.
  function oauthCallback(url) {
    const { success, error, state } = pendingLogin || { success: noop, error: noop };
    pendingLogin = null;
    const { params, hash } = parseUrl(url);
    const fragment = parseQueryString(hash.slice(1));
    if (fragment.access_token && (fragment.state === undefined || fragment.state === state)) {
      keepCredentials({
        accessToken: fragment.access_token,
        instanceUrl: fragment.instance_url,
        refreshToken: fragment.refresh_token,
        userId: fragment.id && fragment.id.split("/").pop(),
      });
      success();
    } else {
      error(params.error ? params : { status: "access_denied" });
    }
  }

  // ------------------------------------------------------------------------------------------ requests

  // {path, endPoint?, method = "GET", params?, data?, headerParams?, contentType?}
  function request(obj, success, error, returnBinary, doesNotRequireAuthentication) {
    const call = { ...obj, method: obj.method || "GET" };
    const flags = [Boolean(returnBinary), Boolean(doesNotRequireAuthentication)];
    if (settings.requestHandler) return settings.requestHandler(call, success, error, ...flags);
    if (plugin("network")) requestWithPlugin(call, success || noop, error || noop, ...flags);
    else if (isInContainer()) afterDeviceReady(() => requestWithPlugin(call, success || noop, error || noop, ...flags));
    else requestWithBrowser(call, success || noop, error || noop, flags, true);
    return undefined;
  }

  // The plug-in is loaded then. In a container no request leaves the page by another way.
  const afterDeviceReady = (action) => document.addEventListener("deviceready", action, false);

  function requestWithPlugin(call, success, error, returnBinary, doesNotRequireAuthentication) {
    const network = plugin("network");
    if (!network) {
      error("Cannot send the request: the page has no com.salesforce.plugin.network.");
      return;
    }
    const { endPoint, path } = computeEndPointIfMissing(call.endPoint, call.path);
    const headers = { ...call.headerParams };
    if (call.contentType) headers["Content-Type"] = call.contentType;
    network.sendRequest(
      endPoint,
      path,
      success,
      error,
      call.method,
      call.data || call.params,
      headers,
      null,
      returnBinary,
      doesNotRequireAuthentication
    );
  }

  const pageBase = () => window.location.href.replace(/[?#].*$/, "").replace(/\/[^/]*$/, "");

  function usesProxy() {
    if (settings.useProxy !== undefined) return settings.useProxy;
    return !/\.(force|salesforce|visualforce)\.com$/.test(window.location.hostname);
  }

  function requestWithBrowser(call, success, error, flags, mayRefresh) {
    const [returnBinary] = flags;
    const isAbsolute = /^https?:\/\//i.test(call.path);
    // The token is for the instance: another server must not get it.
    const isForeign = isAbsolute && new URL(call.path).origin !== new URL(session.instanceURL || window.location.href).origin;
    const doesNotRequireAuthentication = flags[1] || isForeign;
    if (!session.accessToken && !doesNotRequireAuthentication && !(mayRefresh && session.refreshToken)) {
      error("No access token. Login and try again.");
      return;
    }
    const proxied = usesProxy() && !isAbsolute;
    const base = proxied ? settings.proxyURL || pageBase() : session.instanceURL || window.location.origin;
    const query = toQueryString(call.params);
    const path = `${call.endPoint || ""}${call.path}`;
    const xhr = new XMLHttpRequest();
    xhr.open(call.method, `${isAbsolute ? "" : base}${path}${query && (path.includes("?") ? "&" : "?")}${query}`, true);
    if (returnBinary) xhr.responseType = "arraybuffer";
    xhr.setRequestHeader("Accept", "application/json");
    xhr.setRequestHeader("Cache-Control", "no-store");
    xhr.setRequestHeader("X-Connect-Bearer-Urls", "true");
    if (!doesNotRequireAuthentication) xhr.setRequestHeader("Authorization", `Bearer ${session.accessToken}`);
    if (call.data) xhr.setRequestHeader("Content-Type", call.contentType || "application/json");
    if (proxied) xhr.setRequestHeader("Target-URL", session.instanceURL);
    for (const name of Object.keys(call.headerParams || {})) xhr.setRequestHeader(name, call.headerParams[name]);
    xhr.onload = () => {
      if (xhr.status >= 200 && xhr.status < 300) {
        success(returnBinary ? xhr.response : parseBody(xhr.responseText));
      } else if (xhr.status === 401 && session.refreshToken && mayRefresh && !doesNotRequireAuthentication) {
        // Once: a token that is refused right after its refresh is refused for another reason.
        refresh(() => requestWithBrowser(call, success, error, flags, false), error);
      } else {
        error(returnBinary ? new TextDecoder().decode(xhr.response) : parseBody(xhr.responseText));
      }
    };
    xhr.onerror = () => error({ error: `No response from ${base}.` });
    xhr.send(call.data ? JSON.stringify(call.data) : undefined);
  }

  function parseBody(text) {
    if (text === "") return undefined;
    try {
      return JSON.parse(text);
    } catch (error) {
      return text;
    }
  }

  function refresh(success, error) {
    const xhr = new XMLHttpRequest();
    xhr.open("POST", `${usesProxy() ? settings.proxyURL || pageBase() : settings.loginURL}/services/oauth2/token`, true);
    xhr.setRequestHeader("Content-Type", "application/x-www-form-urlencoded");
    if (usesProxy()) xhr.setRequestHeader("Target-URL", settings.loginURL);
    xhr.onload = () => {
      const response = parseBody(xhr.responseText);
      if (xhr.status !== 200) {
        error(response);
        return;
      }
      session.accessToken = response.access_token;
      session.instanceURL = response.instance_url || session.instanceURL;
      success();
    };
    xhr.onerror = () => error({ error: `No response from ${settings.loginURL}.` });
    xhr.send(
      toQueryString({ grant_type: "refresh_token", refresh_token: session.refreshToken, client_id: settings.appId })
    );
  }

  // ------------------------------------------------------------------------------------------ functions

  const get = (path, params, success, error) => request({ path, params }, success, error);

  const versions = (success, error) => get("/services/data/", undefined, success, error);
  const resources = (success, error) => get(data(""), undefined, success, error);
  const describeGlobal = (success, error) => get(data("/sobjects"), undefined, success, error);
  const metadata = (name, success, error) => get(data(`/sobjects/${part(name)}`), undefined, success, error);
  const describe = (name, success, error) => get(data(`/sobjects/${part(name)}/describe`), undefined, success, error);
  const getPickListValues = describe;

  function describeLayout(name, recordTypeId, success, error) {
    if (typeof recordTypeId === "function") return describeLayout(name, "", recordTypeId, success);
    return get(data(`/sobjects/${part(name)}/describe/layouts/${part(recordTypeId || "")}`), undefined, success, error);
  }

  const query = (soql, success, error) => get(data("/query"), { q: soql }, success, error);
  const queryAll = (soql, success, error) => get(data("/queryAll"), { q: soql }, success, error);
  const search = (sosl, success, error) => get(data("/search"), { q: sosl }, success, error);

  // `url` is the nextRecordsUrl of a page: a path, or an address of the instance, whose host does not matter.
  function queryMore(url, success, error) {
    const { path, params } = parseUrl(/^https?:\/\//i.test(url) ? url : `https://instance${url}`);
    return get(path, Object.keys(params).length > 0 ? params : undefined, success, error);
  }

  function retrieve(name, id, fields, success, error) {
    if (typeof fields === "function") return retrieve(name, id, null, fields, success);
    const params = fields ? { fields: Array.isArray(fields) ? fields.join(",") : fields } : undefined;
    return get(data(`/sobjects/${part(name)}/${part(id)}`), params, success, error);
  }

  const create = (name, record, success, error) =>
    request({ path: data(`/sobjects/${part(name)}/`), method: "POST", data: record }, success, error);

  // (name, record with its Id, …) or (name, id, fields, …)
  function update(name, record, success, error, ...rest) {
    if (typeof record === "string") return update(name, { ...success, Id: record }, error, ...rest);
    const { attributes, Id, id, ...fields } = record;
    const path = data(`/sobjects/${part(name)}/${part(Id || id)}`);
    return request({ path, method: "PATCH", data: fields }, success, error);
  }

  function upsert(name, field, value, record, success, error) {
    const method = value ? "PATCH" : "POST";
    return request(
      { path: data(`/sobjects/${part(name)}/${part(field)}/${part(value || "")}`), method, data: record },
      success,
      error
    );
  }

  const del = (name, id, success, error) =>
    request({ path: data(`/sobjects/${part(name)}/${part(id)}`), method: "DELETE" }, success, error);

  const getAttachment = (id, success, error) =>
    request({ path: data(`/sobjects/Attachment/${part(id)}/Body`) }, success, error, true);

  const withPrefix = (path, prefix) => {
    const absolute = path.charAt(0) === "/" ? path : `/${path}`;
    return absolute.startsWith("/services/") ? absolute : prefix + absolute;
  };

  // `pathOrParams`: a path, or {path, method, params, data, …}. Paths are relative to /services/apexrest.
  function apexrest(pathOrParams, success, error) {
    const call = typeof pathOrParams === "string" ? { path: pathOrParams } : pathOrParams;
    return request({ ...call, path: withPrefix(call.path, "/services/apexrest") }, success, error);
  }

  function chatter(pathOrParams, success, error) {
    const call = typeof pathOrParams === "string" ? { path: pathOrParams } : pathOrParams || {};
    if (!call.path) {
      if (error) error("You must specify a path for the request");
      return undefined;
    }
    return request({ ...call, path: withPrefix(call.path, data("/chatter")) }, success, error);
  }

  // A GET of any address, with `params` as its query. A page may read an address that needs no login this way.
  function anyrest(url, returnsBinary, doesNotRequireAuthentication, params, success, error) {
    const endPoint = /^https?:\/\//i.test(url) ? undefined : "";
    return request({ endPoint, path: url, params }, success, error, returnsBinary, doesNotRequireAuthentication);
  }

  window.force = {
    get apiVersion() {
      return settings.apiVersion;
    },
    init,
    login,
    oauthCallback,
    isAuthenticated,
    getUserId,
    discardToken,
    parseUrl,
    computeEndPointIfMissing,
    request,
    versions,
    resources,
    describeGlobal,
    metadata,
    describe,
    describeLayout,
    getPickListValues,
    query,
    queryAll,
    queryMore,
    search,
    retrieve,
    create,
    update,
    upsert,
    del,
    getAttachment,
    apexrest,
    chatter,
    anyrest,
  };
})(window);
