// force+files.js: functions of force.js for Salesforce files. Include it after force.js.
(function (window) {
  "use strict";
  const { force } = window;
  const connect = (path) => `/services/data/${force.apiVersion}/connect${path}`;
  const HEADERS = { "X-Chatter-Entity-Encoding": "false" };

  function required(value, what) {
    if (value == null || value === "") throw new Error(`IllegalArgumentException: ${what} is missing.`);
    return encodeURIComponent(value);
  }

  // Without the members that have no value. Page 0 is the server's default.
  function given(params) {
    const entries = Object.entries(params).filter(([name, value]) => value != null && !(name === "page" && value === 0));
    return entries.length > 0 ? Object.fromEntries(entries) : undefined;
  }

  const get = (path, params, success, error) =>
    force.request({ path: connect(path), params: given(params), headerParams: HEADERS }, success, error);
  const user = (userId) => encodeURIComponent(userId || "me");

  const ownedFilesList = (userId, page, success, error) => get(`/files/users/${user(userId)}`, { page }, success, error);
  const filesInUsersGroups = (userId, page, success, error) =>
    get(`/files/users/${user(userId)}/filter/groups`, { page }, success, error);
  const filesSharedWithUser = (userId, page, success, error) =>
    get(`/files/users/${user(userId)}/filter/sharedwithme`, { page }, success, error);
  const fileDetails = (fileId, version, success, error) =>
    get(`/files/${required(fileId, "the file's id")}`, { versionNumber: version }, success, error);
  const batchFileDetails = (fileIds, success, error) =>
    get(`/files/batch/${fileIds.map((id) => required(id, "a file's id")).join(",")}`, {}, success, error);
  const fileShares = (fileId, page, success, error) =>
    get(`/files/${required(fileId, "the file's id")}/file-shares`, { page }, success, error);

  const links = (path) => `/services/data/${force.apiVersion}/sobjects/ContentDocumentLink${path}`;

  // `shareType`: "V" to view, "C" to collaborate.
  function addFileShare(fileId, entityId, shareType, success, error) {
    required(fileId, "the file's id");
    required(entityId, "the id of the user or group");
    const data = { ContentDocumentId: fileId, LinkedEntityId: entityId, ShareType: shareType };
    return force.request({ path: links(""), method: "POST", data }, success, error);
  }

  const deleteFileShare = (shareId, success, error) =>
    force.request({ path: links(`/${required(shareId, "the share's id")}`), method: "DELETE" }, success, error);

  function withQuery(path, params) {
    const query = Object.entries(given(params) || {}).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    return query.length > 0 ? `${path}?${query.join("&")}` : path;
  }

  // These two give a path relative to /services/data, not the data.
  const fileRenditionPath = (fileId, version, renditionType, page) =>
    withQuery(`/${force.apiVersion}/connect/files/${required(fileId, "the file's id")}/rendition`, {
      type: renditionType || "THUMB120BY90",
      page,
      versionNumber: version,
    });
  const fileContentsPath = (fileId, version) =>
    withQuery(`/${force.apiVersion}/connect/files/${required(fileId, "the file's id")}/content`, {
      versionNumber: version,
    });

  Object.assign(force, {
    ownedFilesList,
    filesInUsersGroups,
    filesSharedWithUser,
    fileDetails,
    batchFileDetails,
    fileShares,
    addFileShare,
    deleteFileShare,
    fileRenditionPath,
    fileContentsPath,
  });
})(window);
