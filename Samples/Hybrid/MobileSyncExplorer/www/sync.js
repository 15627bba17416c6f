// Runs the syncs of usersyncs.json. The same file in each sample that uses it.

/** Whether a sync exists: the bridge creates those of usersyncs.json when it starts, for the user who is logged in then. */
export const isSetUp = async (syncs, name) => (await syncs.status(name)) !== null;

/**
 * Uploads, downloads, and removes what the server no longer has. `report(what, percent)` is called with the progress. Rejects
 * if a sync fails; what it has not uploaded stays on this device.
 */
export async function syncAll(syncs, { up, down }, report) {
  await run(syncs, up, (percent) => report("Uploading", percent));
  const { _soupEntryId: id } = await run(syncs, down, (percent) => report("Downloading", percent));
  report("Looking for records that were deleted", 100);
  await syncs.cleanGhosts(id);
}

async function run(syncs, name, report) {
  const states = syncs.reSync(name);
  for await (const { progress } of states) report(progress);
  return states;
}
