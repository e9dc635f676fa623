import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { StorageError } from '../storage-error.ts'
import { fillDisk, flipBits, kill, killWriters, startChild } from '../testing/crash-runs.ts'
import { isCrashValue } from '../testing/crash-value.ts'
import { withTempDir } from '../testing/temp-dir.ts'
import { backupLmdb, restoreLmdb } from './backup.ts'
import { checkLmdb } from './check.ts'
import { lmdbStorage } from './lmdb-storage.ts'

const rounds = 12
const flips = 40
const seed = 20240101

describe('lmdbStorage in another process', () => {
  // The directory is below node_modules, so that the bundle resolves lmdb like this package.
  const cache = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url))
  let buildDir = ''

  beforeAll(async () => {
    await mkdir(cache, { recursive: true })
    buildDir = await mkdtemp(join(cache, 'crash-'))
    const bundle = await rolldown({
      input: ['crash-writer', 'full-disk-writer', 'bit-flipper'].map((name) =>
        fileURLToPath(new URL(`../testing/${name}.ts`, import.meta.url)),
      ),
      platform: 'node',
      external: ['lmdb'],
      resolve: { conditionNames: ['source', 'import', 'node', 'default'] },
      logLevel: 'silent',
    })
    await bundle.write({ dir: buildDir, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' })
    await bundle.close()
  })

  afterAll(() => rm(buildDir, { recursive: true, force: true }))

  const program = (name: string) => [join(buildDir, `${name}.mjs`)]

  it(`loses no acknowledged write when killed, in ${rounds} rounds (Durable, seed ${seed})`, { timeout: 300_000 }, async () => {
    await withTempDir(async (dir) => {
      const { acknowledged } = await killWriters(program('crash-writer'), { dir, rounds, seed })
      expect(acknowledged).toBeGreaterThan(rounds)
    })
  })

  it(`reports a flipped bit or serves what was written, in ${flips} rounds (seed ${seed})`, async () => {
    await withTempDir(async (dir) => {
      const { reported, harmless } = await flipBits(program('bit-flipper'), { dir, rounds: flips, seed })
      expect(reported).toBeGreaterThan(0)
      expect(reported + harmless).toBe(flips)
    })
  })

  it('locks its directory while running, and leaves no lock behind when killed', async () => {
    await withTempDir(async (dir) => {
      const child = startChild(program('crash-writer'), dir, 1)
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

  it('is backed up and checked while another process writes', async () => {
    await withTempDir(async (dir) => {
      const from = join(dir, 'from')
      const child = startChild(program('crash-writer'), from, 2)
      try {
        let acknowledged = 1
        createInterface(child.stdout!).on('line', (line) => {
          acknowledged = Math.max(acknowledged, Number.parseInt(line, 10) || 1)
        })
        let last = 100
        for (let round = 0; round < 5; round++) {
          await expect.poll(() => acknowledged, { timeout: 110_000 }).toBeGreaterThan(last)
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

  it('rejects writes on a full disk, loses nothing, and accepts writes when space is available again', async () => {
    await withTempDir(async (dir) => {
      const { refused, recovered } = await fillDisk(program('full-disk-writer'), { dir, blocks: 2000 })
      expect([refused > 0, recovered]).toEqual([true, process.platform === 'linux'])
    })
  })
})
