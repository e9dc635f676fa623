import { fork, type Storage } from '@krmkit/storage'

/** The state that `reset` restores. */
export interface Snapshot {
  readonly storage: Storage
  readonly atMs: number
}

/** Forks a store as a snapshot, which is never written to and whose history does not expire. */
export function snapshot(storage: Storage, atMs: number): Snapshot {
  return { storage: fork(storage, { clock: { now: () => atMs, setTimeout: () => () => undefined } }), atMs }
}

/**
 * Advances a store beyond a revision and compacts it. Clients with a version from before the reset must then list again, and
 * no revision is used twice.
 */
export async function advanceRevision(storage: Storage, revision: number): Promise<void> {
  while (storage.revision < revision) await storage.put(markerKey, noBytes)
  await compact(storage)
}

/** Compacts a store at a revision that no client has seen. */
export async function compact(storage: Storage): Promise<void> {
  await storage.put(markerKey, noBytes)
  await storage.delete(markerKey, noBytes)
  await storage.compact(storage.revision)
}

const markerKey = '/testing/marker'
const noBytes = () => new Uint8Array()
