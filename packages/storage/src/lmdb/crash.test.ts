import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { RandomChoices } from '@krmkit/meta/random-choices'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Storage } from '../interfaces.ts'
import { StorageError } from '../storage-error.ts'
import { isCrashValue } from '../testing/crash-value.ts'
import type { FullDiskReport } from '../testing/full-disk-writer.ts'
import { takeUntil } from '../testing/harness.ts'
import { withTempDir } from '../testing/temp-dir.ts'
import { backupLmdb, restoreLmdb } from './backup.ts'
import { checkLmdb } from './check.ts'
import { lmdbStorage } from './lmdb-storage.ts'

const rounds = 12
const seed = 20240101

/** The writes that the killed process reported as durable, after the state it started from. */
interface Acknowledged {
  readonly writes: Map<number, { key: string; type: 'put' | 'delete' }>
  /** The newest write of each key. */
  readonly newest: Map<string, { revision: number; type: 'put' | 'delete' }>
  last: number
}

describe('lmdbStorage in another process', () => {
  // Below node_modules, so that the bundle resolves lmdb like this package.
  const cache = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url))
  let buildDir = ''

  beforeAll(async () => {
    await mkdir(cache, { recursive: true })
    buildDir = await mkdtemp(join(cache, 'crash-'))
    const bundle = await rolldown({
      input: ['crash-writer', 'full-disk-writer'].map((name) => fileURLToPath(new URL(`../testing/${name}.ts`, import.meta.url))),
      platform: 'node',
      external: ['lmdb'],
      resolve: { conditionNames: ['source', 'import', 'node', 'default'] },
      logLevel: 'silent',
    })
    await bundle.write({ dir: buildDir, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' })
    await bundle.close()
  })

  afterAll(() => rm(buildDir, { recursive: true, force: true }))

  it(`loses no acknowledged write when killed, in ${rounds} rounds (Durable, seed ${seed})`, {
    timeout: 120_000,
  }, async () => {
    await withTempDir(async (dir) => {
      const choices = new RandomChoices(seed)
      let acknowledged: Acknowledged = { writes: new Map(), newest: new Map(), last: 1 }
      for (let round = 0; round < rounds; round++) {
        await writeUntilKilled(join(buildDir, 'crash-writer.mjs'), { dir, seed: seed + round, choices, acknowledged })
        const storage = await lmdbStorage({ dir })
        try {
          await check(storage, acknowledged)
          acknowledged = await stateOf(storage)
        } catch (error) {
          throw new Error(`seed ${seed}, round ${round}: ${error instanceof Error ? error.message : String(error)}`, {
            cause: error,
          })
        } finally {
          await storage.close()
        }
      }
      expect(acknowledged.last).toBeGreaterThan(rounds)
    })
  })

  it('locks its directory while running, and leaves no lock behind when killed', { timeout: 60_000 }, async () => {
    await withTempDir(async (dir) => {
      const child = start(join(buildDir, 'crash-writer.mjs'), dir, 1)
      try {
        await once(child.stdout!, 'data')
        const failure = await lmdbStorage({ dir }).catch((error: unknown) => error)
        expect(failure instanceof StorageError && failure.detail).toEqual({
          code: 'Unavailable',
          reason: 'locked',
          problem: `${dir} is in use by process ${child.pid}`,
        })
      } finally {
        await kill(child)
      }
      const storage = await lmdbStorage({ dir })
      await storage.close()
    })
  })

  it('is backed up and checked while another process writes', { timeout: 60_000 }, async () => {
    await withTempDir(async (dir) => {
      const from = join(dir, 'from')
      const child = start(join(buildDir, 'crash-writer.mjs'), from, 2)
      try {
        child.stdout!.setEncoding('utf8')
        while (!String((await once(child.stdout!, 'data'))[0]).includes('00 '));
        child.stdout!.resume()
        let last = 1
        for (let round = 0; round < 5; round++) {
          const chunks: Uint8Array[] = []
          const write = async (chunk: Uint8Array) => void chunks.push(chunk)
          const { revision } = await backupLmdb({ dir: from, write })
          expect(revision).toBeGreaterThan(last)
          last = revision
          const to = join(dir, `to-${round}`)
          await restoreLmdb({ dir: to, chunks: Readable.from(chunks) })
          const storage = await lmdbStorage({ dir: to })
          expect(storage.revision).toBe(revision)
          for (const { key, value, revision: written } of (await storage.list({ prefix: '/' })).entries) {
            expect(isCrashValue(value, key, written)).toBe(true)
          }
          await storage.close()
          expect((await checkLmdb({ dir: from })).problems).toEqual([])
        }
        expect(child.exitCode).toBeNull()
      } finally {
        await kill(child)
      }
    })
  })

  it('rejects writes on a full disk, then becomes read-only and loses nothing', { timeout: 60_000 }, async () => {
    await withTempDir(async (dir) => {
      const script = join(buildDir, 'full-disk-writer.mjs')
      // Files of at most 2000 blocks, which have 512 or 1024 bytes each.
      const child = spawn('sh', ['-c', 'ulimit -f 2000 && exec "$0" "$1" "$2"', process.execPath, script, dir], {
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      const chunks = await child.stdout.setEncoding('utf8').toArray()
      const report = JSON.parse(chunks.join('')) as FullDiskReport
      const unavailable = { code: 'Unavailable', reason: 'journal' }
      expect(report.failures.length).toBeGreaterThan(0)
      expect([...new Set(report.failures.map((failure) => JSON.stringify(failure)))]).toEqual([JSON.stringify(unavailable)])
      expect(report.next).toEqual(unavailable)
      expect([report.visible, report.readable]).toEqual([report.acknowledged, report.acknowledged - 1])
      const storage = await lmdbStorage({ dir })
      expect(storage.revision).toBeGreaterThanOrEqual(report.acknowledged)
      expect(storage.count('/full/')).toBe(storage.revision - 1)
      await storage.put('/full/more', () => new Uint8Array(1))
      await storage.close()
    })
  })
})

function start(script: string, dir: string, seedOfChild: number): ChildProcess {
  return spawn(process.execPath, [script, dir, String(seedOfChild)], { stdio: ['ignore', 'pipe', 'inherit'] })
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** Runs the writer, kills it after a random number of acknowledgements, and records what it acknowledged. */
async function writeUntilKilled(
  script: string,
  run: { dir: string; seed: number; choices: RandomChoices; acknowledged: Acknowledged },
): Promise<void> {
  const child = start(script, run.dir, run.seed)
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
  expect([child.signalCode, isReady]).toEqual(['SIGKILL', true])
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

/** The state the next process starts from, including writes that were not acknowledged in time. */
async function stateOf(storage: Storage): Promise<Acknowledged> {
  const { entries } = await storage.list({ prefix: '/' })
  const newest = new Map(entries.map(({ key, revision }) => [key, { revision, type: 'put' as const }]))
  return { writes: new Map(), newest, last: storage.revision }
}

async function check(storage: Storage, { writes, newest, last }: Acknowledged): Promise<void> {
  expect(storage.revision).toBeGreaterThanOrEqual(last)
  for (const [key, { revision, type }] of newest) {
    const entry = storage.peek(key)
    // A later, unacknowledged write may exist, but no earlier one may be visible.
    if (entry === undefined) expect(type === 'delete' || storage.revision > last, `${key}@${revision} is there`).toBe(true)
    else
      expect(entry.revision > last || (type === 'put' && entry.revision === revision), `${key}@${revision} is the newest`).toBe(
        true,
      )
  }
  for (const entry of (await storage.list({ prefix: '/' })).entries) {
    expect(isCrashValue(entry.value, entry.key, entry.revision), `${entry.key}@${entry.revision} is whole`).toBe(true)
  }
  const expected = storage.revision - storage.compacted
  const watcher = storage.watch({ prefix: '/', from: storage.compacted })
  const events = await takeUntil(watcher, expected)
  watcher.close()
  expect(events.map(({ revision }) => revision)).toEqual(Array.from({ length: expected }, (_, at) => storage.compacted + 1 + at))
  for (const { entry, key, type, revision } of events) {
    expect(isCrashValue(entry.value, key, revision), `${key}@${revision} is whole`).toBe(true)
    if (writes.has(revision)) expect({ key, type }).toEqual(writes.get(revision))
  }
}
