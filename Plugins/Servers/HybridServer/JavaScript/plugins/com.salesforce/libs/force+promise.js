// force+promise.js: `forceJsClient`, the functions of force.js with promises. Include it after force.js (and
// force+files.js, if the page uses it).
(function (window) {
  "use strict";
  const { force } = window;

  // The number of arguments before the callbacks.
  const ARGUMENTS = {
    login: 0,
    versions: 0,
    resources: 0,
    describeGlobal: 0,
    metadata: 1,
    describe: 1,
    describeLayout: 2,
    getPickListValues: 1,
    query: 1,
    queryAll: 1,
    queryMore: 1,
    search: 1,
    retrieve: 3,
    create: 2,
    update: 2,
    upsert: 4,
    del: 2,
    getAttachment: 1,
    apexrest: 1,
    chatter: 1,
    anyrest: 4,
    ownedFilesList: 2,
    filesInUsersGroups: 2,
    filesSharedWithUser: 2,
    fileDetails: 2,
    batchFileDetails: 1,
    fileShares: 2,
    addFileShare: 3,
    deleteFileShare: 1,
  };

  function promised(name, count) {
    return (...args) =>
      new Promise((resolve, reject) => {
        // An optional argument that the caller left out must not shift the callbacks into its place.
        while (args.length < count) args.push(undefined);
        force[name](...args, resolve, reject);
      });
  }

  const forceJsClient = {};
  for (const name of Object.keys(ARGUMENTS)) {
    if (typeof force[name] === "function") forceJsClient[name] = promised(name, ARGUMENTS[name]);
  }
  window.forceJsClient = forceJsClient;
})(window);
