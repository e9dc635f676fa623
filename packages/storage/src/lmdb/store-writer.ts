/** Creates a store from records, in a temporary directory beside the final one, which is renamed when all records are on disk. */
import { existsSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import type { Revision } from '../interfaces.ts'
import { keptTransformer } from '../value-transformer.ts'
import { prepareDataDir, rejectNonEmptyDir } from './data-dir.ts'
import { openEnvironment } from './environment.ts'
import { LmdbJournal } from './lmdb-journal.ts'
import { RecordWriter } from './record-writer.ts'

/**
 * Fills a new store by `fill`, which returns its oldest readable revision. A failure leaves no files.
 *
 * @throws StorageError `Unavailable`: `foreign` when `dir` is not empty, `access`, or `corrupt` when the records are not a valid store
 */
export async function createStore(dir: string, fill: (writer: RecordWriter) => Promise<Revision>): Promise<void> {
  rejectNonEmptyDir(dir)
  const partial = `${dir}.partial-${process.pid}`
  prepareDataDir(partial)
  try {
    const environment = await openEnvironment(partial, { readOnly: false })
    const writer = new RecordWriter(dir, environment)
    try {
      await writer.complete(await fill(writer))
    } finally {
      await environment.root.close()
    }
    await publish(partial, dir)
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    throw error
  }
}

/** Opens the new store like a server to verify it, then renames it to its final name. */
async function publish(partial: string, dir: string): Promise<void> {
  const journal = await LmdbJournal.open(partial, keptTransformer)
  try {
    journal.load()
  } finally {
    await journal.close()
  }
  rejectNonEmptyDir(dir)
  if (existsSync(dir)) rmdirSync(dir)
  renameSync(partial, dir)
}
