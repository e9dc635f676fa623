/**
 * The process of the bit flip test: opens copies of a store with one flipped bit each, and prints a report for each as JSON. When a flip
 * crashes the process, the last line names the flip.
 *
 *     node bit-flipper.js <dir> <seed> <rounds>
 */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { RandomChoices } from '@krmkit/base/random-choices'
import { lmdbStorage } from '../lmdb/lmdb-storage.ts'
import { StorageError } from '../storage-error.ts'
import { crashValue } from './crash-value.ts'

export interface FlipReport {
  /** Offset in bits. */
  readonly bit: number
  /** `harmless`: the store opens with the same content, before and after more writes. */
  readonly outcome: 'flipped' | 'reported' | 'harmless' | 'wrong'
  readonly problem?: string
}

const [root = '', seed = '1', rounds = '1'] = process.argv.slice(-3)
const choices = new RandomChoices(Number(seed))
const say = (report: FlipReport) => writeSync(1, `${JSON.stringify(report)}\n`)

const sound = join(root, 'sound')
await fill(sound)
const expected = await contentOf(sound)
const bytes = readFileSync(join(sound, 'data.mdb'))
for (let round = 0; round < Number(rounds); round++) {
  const bit = choices.below(bytes.length * 8)
  say({ bit, outcome: 'flipped' })
  say({ bit, ...(await openFlipped(bit)) })
}

/** A store with several levels of pages, large values, deletions and free pages. */
async function fill(dir: string): Promise<void> {
  const storage = await lmdbStorage({ dir })
  for (let round = 0; round < 12; round++) {
    await Promise.all(
      Array.from({ length: 60 }, () => {
        const key = `/flip/${choices.below(120)}`
        const size = choices.chance(4) ? 20_000 : choices.below(600)
        const encode = (revision: number) => crashValue(key, revision, size)
        return choices.chance(15) ? storage.delete(key, encode) : storage.put(key, encode)
      }),
    )
    if (round % 3 === 2) await storage.compact(storage.revision - 60)
  }
  await storage.close()
}

async function openFlipped(bit: number): Promise<Omit<FlipReport, 'bit'>> {
  const dir = join(root, 'flipped')
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir, { mode: 0o700 })
  copyFileSync(join(sound, 'data.mdb'), join(dir, 'data.mdb'))
  const changed = Buffer.from(bytes)
  changed[bit >> 3]! ^= 1 << (bit & 7)
  writeFileSync(join(dir, 'data.mdb'), changed)
  try {
    const content = await contentOf(dir)
    if (content !== expected) return { outcome: 'wrong', problem: 'the content differs' }
    const written = await writeMore(dir)
    return written === (await contentOf(dir)) ? { outcome: 'harmless' } : { outcome: 'wrong', problem: 'later writes differ' }
  } catch (error) {
    if (!(error instanceof StorageError)) return { outcome: 'wrong', problem: String(error) }
    return { outcome: 'reported', problem: error.message }
  }
}

/** Writes that use free pages. @returns the content after them */
async function writeMore(dir: string): Promise<string> {
  const storage = await lmdbStorage({ dir })
  for (let n = 0; n < 30; n++) {
    const key = `/flip/more-${n}`
    await storage.put(key, (revision) => crashValue(key, revision, n % 10 === 0 ? 20_000 : 300))
  }
  await storage.compact(storage.revision - 10)
  const content = await describe(storage)
  await storage.close()
  return content
}

async function contentOf(dir: string): Promise<string> {
  const storage = await lmdbStorage({ dir })
  try {
    return await describe(storage)
  } finally {
    await storage.close()
  }
}

async function describe(storage: Awaited<ReturnType<typeof lmdbStorage>>): Promise<string> {
  const { entries, revision } = await storage.list({ prefix: '/' })
  const { compacted } = storage
  const watcher = storage.watch({ prefix: '/', from: compacted })
  const events = watcher.take()
  watcher.close()
  const text = (value: Uint8Array) => Buffer.from(value).toString('latin1')
  return JSON.stringify([
    revision,
    compacted,
    entries.map((entry) => [entry.key, entry.revision, entry.created, text(entry.value)]),
    events.map(({ type, entry }) => [type, entry.key, entry.revision, text(entry.value)]),
  ])
}
