import { reactForce } from "./index.js";

/**
 * Runs an app for the current user, and from its beginning for each next one.
 *
 * `start(modules)` loads the app with the modules of `reactForce`. It may return a function that ends it: that is called
 * before the next start. With `shouldAuthenticate`, a user logs in before each start; without, the app calls
 * `oauth.authenticate` when it wants to. `failed(error)` is called with what stopped a start, such as a login that was
 * cancelled. Returns `started`, a promise of the first start, and `close()`, which ends the app and starts it no more.
 */
export function reactApp(connection, start, { shouldAuthenticate = true, failed = (error) => console.error(error) } = {}) {
  let end = null;
  let isClosed = false;
  const { oauth } = reactForce(connection);
  const promised = (method) => new Promise((resolve, reject) => oauth[method](resolve, reject));
  const authenticate = () => promised("getAuthCredentials").catch(() => promised("authenticate"));
  const leave = async () => {
    const ending = end;
    end = null;
    if (typeof ending === "function") await ending();
  };
  const load = async () => {
    await leave();
    if (isClosed) return;
    if (shouldAuthenticate) await authenticate();
    if (!isClosed) end = await start(reactForce(connection));
  };
  // One after the other: a user may change while the app starts.
  let turn = Promise.resolve();
  const inTurn = (work) => (turn = turn.then(work).catch(failed));
  const stopListening = connection.on("fieldforceReload", () => inTurn(load));
  return {
    started: inTurn(load),
    close() {
      isClosed = true;
      stopListening();
      return inTurn(leave);
    },
  };
}
