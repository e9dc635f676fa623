/** Runs processes that write to a durable store, and makes them fail: killed, on a full disk, with a flipped bit in their file. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { RandomChoices } from '@krmkit/base/random-choices'
import type { Storage } from '../interfaces.ts'
import { lmdbStorage } from '../lmdb/lmdb-storage.ts'
import type { FlipReport } from './bit-flipper.ts'
import { isCrashValue } from './crash-value.ts'
import type { FreedDiskReport, FullDiskReport } from './full-disk-writer.ts'
import { takeUntil } from './harness.ts'

/** A script for Node, with arguments before those of a run. */
export type Program = readonly string[]

/** The writes that the killed process has reported as durable, with the state that it started from. */
interface Acknowledged {
  readonly writes: Map<number, { key: string; type: 'put' | 'delete' }>
  /** The newest write of each key. */
  readonly newest: Map<string, { revision: number; type: 'put' | 'delete' }>
  last: number
}

/**
 * Kills writers at random times; each writer starts from the state that the previous one left. @returns the number of acknowledged writes
 */
export async function killWriters(
  program: Program,
  { dir, rounds, seed }: { readonly dir: string; readonly rounds: number; readonly seed: number },
): Promise<{ readonly acknowledged: number }> {
  const choices = new RandomChoices(seed)
  let acknowledged: Acknowledged = { writes: new Map(), newest: new Map(), last: 1 }
  let count = 0
  for (let round = 0; round < rounds; round++) {
    await writeUntilKilled(program, { dir, seed: seed + round, choices, acknowledged })
    count += acknowledged.writes.size
    const storage = await lmdbStorage({ dir })
    try {
      await check(storage, acknowledged)
      acknowledged = await stateOf(storage)
    } catch (error) {
      throw new Error(`seed ${seed}, round ${round}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
    } finally {
      await storage.close()
    }
  }
  return { acknowledged: count }
}

/**
 * Writes until files of this many blocks, of 512 or 1024 bytes each, are full; then the limit is raised (where the program `prlimit` is
 * installed), and the same process continues writing. @returns the numbers of writes
 */
export async function fillDisk(
  program: Program,
  { dir, blocks }: { readonly dir: string; readonly blocks: number },
): Promise<{ readonly acknowledged: number; readonly refused: number; readonly recovered: boolean }> {
  const command = ['-c', `ulimit -S -f ${blocks} && exec "$0" "$@"`, process.execPath, ...program, dir]
  const child = spawn('sh', command, { stdio: ['pipe', 'pipe', 'ignore'] })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const report = JSON.parse((await lines.next()).value ?? '') as FullDiskReport
  const unavailable = { code: 'Unavailable', reason: 'journal' }
  for (const failure of [...report.failures, report.next]) assert.deepEqual(failure, unavailable)
  assert.deepEqual([report.visible, report.readable], [report.acknowledged, report.acknowledged - 1])
  const recovered = raiseFileSizeLimit(child.pid)
  child.stdin.end('\n')
  const { written, visible, readable } = JSON.parse((await lines.next()).value ?? '') as FreedDiskReport
  await once(child, 'close')
  if (recovered) {
    const expected = Array.from({ length: written.length }, (_, n) => report.acknowledged + 1 + n)
    assert.deepEqual(written, expected, 'writes go on where they ended')
  }
  assert.equal(readable, visible - 1)
  const storage = await lmdbStorage({ dir })
  try {
    assert.equal(storage.revision, visible, 'Durable: acknowledged writes')
    assert.equal(storage.count('/full/'), visible - 1)
    await storage.put('/full/more', () => new Uint8Array(1))
  } finally {
    await storage.close()
  }
  return { acknowledged: report.acknowledged - 1, refused: report.failures.length, recovered }
}

/** @returns whether the limit was raised */
function raiseFileSizeLimit(pid: number | undefined): boolean {
  return spawnSync('prlimit', ['--pid', String(pid), '--fsize=unlimited'], { stdio: 'ignore' }).status === 0
}

/** Flips one bit of a file in each round. Fails when a store returns other content than before, or a process crashes. */
export async function flipBits(
  program: Program,
  { dir, rounds, seed }: { readonly dir: string; readonly rounds: number; readonly seed: number },
): Promise<{ readonly reported: number; readonly harmless: number }> {
  const child = spawn(process.execPath, [...program, dir, String(seed), String(rounds)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  const chunks = await child.stdout.setEncoding('utf8').toArray()
  await closed
  const lines = chunks.join('').trim().split('\n')
  assert.deepEqual([child.exitCode, child.signalCode], [0, null], `the process ended after: ${lines.at(-1)}`)
  const reports = lines.map((line) => JSON.parse(line) as FlipReport).filter(({ outcome }) => outcome !== 'flipped')
  const wrong = reports.find(({ outcome }) => outcome === 'wrong')
  assert.equal(wrong, undefined, `a store shows something else: ${JSON.stringify(wrong)}`)
  const countOf = (outcome: FlipReport['outcome']) => reports.filter((report) => report.outcome === outcome).length
  return { reported: countOf('reported'), harmless: countOf('harmless') }
}

/** Starts a writer. */
export function startChild(program: Program, dir: string, seed: number): ChildProcess {
  return spawn(process.execPath, [...program, dir, String(seed)], { stdio: ['ignore', 'pipe', 'inherit'] })
}

export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** Runs the writer, kills it after a random number of acknowledgements, and records what it acknowledged. */
async function writeUntilKilled(
  program: Program,
  run: { dir: string; seed: number; choices: RandomChoices; acknowledged: Acknowledged },
): Promise<void> {
  const child = startChild(program, run.dir, run.seed)
  const closed = once(child, 'close')
  let pending = ''
  let left = run.choices.below(1500)
  let isReady = false
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    const lines = (pending + text).split('\n')
    pending = lines.pop() ?? ''
    for (const line of lines) {
      if (line === 'ready') isReady = true
      else recordAcknowledgement(run.acknowledged, line)
      if (left-- === 0) child.kill('SIGKILL')
    }
  })
  await closed
  assert.deepEqual([child.signalCode, isReady], ['SIGKILL', true])
}

function recordAcknowledgement(acknowledged: Acknowledged, line: string): void {
  const [revisionText = '', name = ''] = line.split(' ')
  const revision = Number(revisionText)
  const type = name.startsWith('-') ? 'delete' : 'put'
  const key = type === 'delete' ? name.slice(1) : name
  if (revision <= acknowledged.last)
    throw new Error(`Ordered, Unique: revision ${revision} was acknowledged after ${acknowledged.last}`)
  acknowledged.last = revision
  acknowledged.writes.set(revision, { key, type })
  acknowledged.newest.set(key, { revision, type })
}

/** The state that the next process starts from, including writes that were not acknowledged before the kill. */
async function stateOf(storage: Storage): Promise<Acknowledged> {
  const { entries } = await storage.list({ prefix: '/' })
  const newest = new Map(entries.map(({ key, revision }) => [key, { revision, type: 'put' as const }]))
  return { writes: new Map(), newest, last: storage.revision }
}

async function check(storage: Storage, { writes, newest, last }: Acknowledged): Promise<void> {
  assert.ok(storage.revision >= last, 'Durable: the newest revision')
  for (const [key, { revision, type }] of newest) {
    const entry = storage.peek(key)
    // A later, unacknowledged write may exist, but the key must not have an earlier state.
    if (entry === undefined) assert.ok(type === 'delete' || storage.revision > last, `${key}@${revision} is there`)
    else assert.ok(entry.revision > last || (type === 'put' && entry.revision === revision), `${key}@${revision} is the newest`)
  }
  for (const entry of (await storage.list({ prefix: '/' })).entries) {
    assert.ok(isCrashValue(entry.value, entry.key, entry.revision), `${entry.key}@${entry.revision} is whole`)
  }
  const expected = storage.revision - storage.compacted
  const watcher = storage.watch({ prefix: '/', from: storage.compacted })
  const events = await takeUntil(watcher, expected)
  watcher.close()
  assert.deepEqual(
    events.map(({ revision }) => revision),
    Array.from({ length: expected }, (_, at) => storage.compacted + 1 + at),
  )
  for (const { entry, key, type, revision } of events) {
    assert.ok(isCrashValue(entry.value, key, revision), `${key}@${revision} is whole`)
    if (writes.has(revision)) assert.deepEqual({ key, type }, writes.get(revision))
  }
}
