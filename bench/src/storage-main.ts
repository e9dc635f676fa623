/**
 * Measures the embedded store in one process, and prints the figures as JSON:
 *
 *     puts     writers that each wait for their write to be durable, in our store or in the library alone
 *     open     an existing store of `n` objects is opened, and then read
 */
import { parseArgs } from 'node:util'
import { lmdbStorage } from '@krmkit/storage'
import { openRawLmdb } from '../../packages/storage/src/lmdb/testing/raw-lmdb.ts'

const { values } = parseArgs({
  options: {
    what: { type: 'string', default: 'puts' },
    store: { type: 'string', default: 'krmkit' },
    dir: { type: 'string', default: '' },
    n: { type: 'string', default: '1000' },
    writers: { type: 'string', default: '32' },
  },
})
const n = Number(values.n)
const value = new Uint8Array(1024).fill(7)
const { dir } = values

interface Puts {
  put(at: number): Promise<unknown>
  close(): Promise<void>
}

const stores: Readonly<Record<string, () => Promise<Puts>>> = {
  async krmkit() {
    const storage = await lmdbStorage({ dir })
    // A store owns the bytes it is given.
    return { put: (at) => storage.put(keyOf(at), () => value.slice()), close: () => storage.close() }
  },
  async lmdb() {
    const database = openRawLmdb(dir)
    return { put: (at) => database.put(keyOf(at), value), close: () => database.close() }
  },
}

console.log(JSON.stringify(values.what === 'puts' ? await measurePuts() : await measureOpening()))

async function measurePuts() {
  const store = await stores[values.store]!()
  let next = 0
  const write = async () => {
    while (next < n) await store.put(next++)
  }
  const [from, usage] = [performance.now(), process.cpuUsage()]
  await Promise.all(Array.from({ length: Number(values.writers) }, write))
  const seconds = (performance.now() - from) / 1000
  const cpuMicroseconds = cpuSince(usage) / n
  await store.close()
  return { perSecond: n / seconds, cpuMicroseconds }
}

async function measureOpening() {
  const before = collected()
  const usage = process.cpuUsage()
  const from = performance.now()
  const storage = await lmdbStorage({ dir })
  const opened = { ms: performance.now() - from, cpuMs: cpuSince(usage) / 1000, bytes: collected() - before }
  const { entries } = await storage.list({ prefix: '/' })
  for (const entry of entries) if (entry.value.length !== value.length) throw new Error(`${entry.key} has another value`)
  const bytesAfterReads = collected() - before
  await storage.close()
  return { objects: entries.length, ...opened, bytesAfterReads }
}

function keyOf(at: number): string {
  return `/core/configmaps/bench/cm-${String(at).padStart(6, '0')}`
}

function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** Bytes in the heap and in buffers after a full collection. */
function collected(): number {
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
