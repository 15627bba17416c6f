/** The address of a page of the server. The page's path never leads to another host. */
export function pageAddress(instanceUrl, startPage) {
  const address = new URL(startPage.replace(/^\/+/, ""), `${instanceUrl.replace(/\/+$/, "")}/`);
  if (address.origin !== new URL(instanceUrl).origin) throw new Error(`${startPage} is not a path on the server.`);
  return address.href;
}
