/**
 * The process of the full disk test: writes until the disk is full (its parent limits file sizes), then prints a report as JSON.
 *
 *     node full-disk-writer.js <dir>
 */
import { writeSync } from 'node:fs'
import { lmdbStorage } from '../lmdb/lmdb-storage.ts'
import { StorageError } from '../storage-error.ts'

export interface FullDiskReport {
  /** The last acknowledged and the last visible revision. */
  readonly acknowledged: number
  readonly visible: number
  /** Errors of the failed concurrent writes, and of one more write after them. */
  readonly failures: readonly unknown[]
  readonly next: unknown
  /** Number of readable entries. */
  readonly readable: number
}

const storage = await lmdbStorage({ dir: process.argv[2] ?? '' })
const failureOf = (error: unknown) => (error instanceof StorageError ? { ...error.detail, problem: undefined } : String(error))
let acknowledged = storage.revision
let failures: unknown[] = []
while (failures.length === 0) {
  const outcomes = await Promise.allSettled(
    Array.from({ length: 50 }, (_, n) => storage.put(`/full/${storage.revision}-${n}`, () => new Uint8Array(1000))),
  )
  for (const outcome of outcomes) {
    if (outcome.status === 'fulfilled' && outcome.value.outcome === 'written') acknowledged = outcome.value.entry.revision
  }
  failures = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => failureOf(reason))
}
const next = await storage.put('/full/next', () => new Uint8Array(1)).catch(failureOf)
const { entries } = await storage.list({ prefix: '/full/' })
const report: FullDiskReport = { acknowledged, visible: storage.revision, failures, next, readable: entries.length }
await storage.close()
writeSync(1, JSON.stringify(report))
