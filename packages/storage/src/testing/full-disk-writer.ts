/**
 * The process of the full disk test: writes until the disk is full (its parent limits file sizes) and prints a report as a line of JSON.
 * When the parent writes a line, because space is available again, the process continues writing and prints another report.
 *
 *     node full-disk-writer.js <dir>
 */
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { systemClock } from '@krmkit/meta'
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

/** Report after space became available again. */
export interface FreedDiskReport {
  /** Revisions of the first writes. */
  readonly written: readonly unknown[]
  readonly visible: number
  readonly readable: number
}

let ahead = 0
const storage = await lmdbStorage({
  dir: process.argv.at(-1) ?? '',
  clock: { ...systemClock, now: () => systemClock.now() + ahead },
})
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
const say = (line: FullDiskReport | FreedDiskReport) => writeSync(1, `${JSON.stringify(line)}\n`)
say(report)
await once(process.stdin, 'data')
process.stdin.destroy()
// The store refuses writes for a second after a failure.
ahead = 2000
const writes = Array.from({ length: 50 }, (_, n) =>
  storage
    .put(`/full/freed-${n}`, () => new Uint8Array(1000))
    .then((result) => (result.outcome === 'written' ? result.entry.revision : result.outcome), failureOf),
)
const written = await Promise.all(writes)
const readable = (await storage.list({ prefix: '/full/' })).entries.length
say({ written, visible: storage.revision, readable })
await storage.close()
