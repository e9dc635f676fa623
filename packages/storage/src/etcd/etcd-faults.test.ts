import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { opaqueForm, type StoredForm } from '../follower/stored-form.ts'
import type { Entry, Revision, Storage, StorageEvent, Watcher } from '../interfaces.ts'
import { StorageError } from '../storage-error.ts'
import { etcdStorage } from './etcd-storage.ts'
import { EtcdProcess, etcdProgram, withoutEtcd } from './testing/etcd-process.ts'
import { LoopbackProxy } from './testing/loopback-proxy.ts'
import { slowDisk, withoutSlowDisks } from './testing/slow-disk.ts'

const program = etcdProgram()
const timeoutMs = 1500
const noSlowDisks = withoutSlowDisks()

if (program === undefined) it.skip(`faults of etcd: ${withoutEtcd}`)
else describe('storage in etcd, with faults', () => faults(program))

function faults(program: string): void {
  let etcd: EtcdProcess
  let proxy: LoopbackProxy
  let count = 0
  beforeAll(async () => {
    etcd = await EtcdProcess.start(program)
    proxy = await LoopbackProxy.start(etcd.port)
  })
  afterAll(async () => {
    proxy.close()
    await etcd.dispose()
  })

  const run = async (fault: () => Promise<void>) => {
    const prefix = `/faults-${++count}`
    const storage = await etcdStorage({ endpoints: [proxy.url], prefix, timeoutMs, compactionIntervalMs: 0 })
    const load = new Load(storage)
    try {
      await load.until(50)
      await fault()
      await load.until(load.written + 50)
      await load.stop()
      const direct = await etcdStorage({ endpoints: [etcd.url], prefix, compactionIntervalMs: 0 })
      try {
        await load.check(direct)
      } finally {
        await direct.close()
      }
      return load
    } finally {
      await load.stop()
      await storage.close()
    }
  }

  it('loses no acknowledged write and invents none while etcd is killed and restarted', async () => {
    await run(async () => {
      await etcd.kill()
      await pause(500)
      await etcd.start()
    })
  })

  it('loses no acknowledged write and invents none while etcd is paused beyond the timeout of writes', async () => {
    const { unanswered } = await run(async () => {
      etcd.signal('SIGSTOP')
      await pause(2 * timeoutMs + 500)
      etcd.signal('SIGCONT')
    })
    expect(unanswered).toBeGreaterThan(0)
  })

  it.each([true, false])(
    'loses no acknowledged write and invents none in a partition (connections lost: %s)',
    async (lost) => {
      await run(async () => {
        proxy.partition()
        await pause(2 * timeoutMs + 500)
        proxy.heal({ lost })
      })
    },
    60_000,
  )

  it('loses no acknowledged write and invents none while connections are reset', async () => {
    await run(async () => {
      for (let n = 0; n < 10; n++) {
        proxy.cut()
        await pause(100)
      }
    })
  })

  it.each([200, 2 * timeoutMs])(
    'loses no acknowledged write and invents none while the network takes %d ms longer each way',
    async (delayMs) => {
      const { unanswered } = await run(async () => {
        proxy.delay(delayMs)
        await pause(6 * timeoutMs)
        proxy.delay(0)
      })
      expect(unanswered > 0).toBe(delayMs > timeoutMs)
    },
    60_000,
  )

  it.skipIf(noSlowDisks !== undefined)(
    `loses no acknowledged write and invents none while the disk is slow${noSlowDisks === undefined ? '' : ` (${noSlowDisks})`}`,
    async () => {
      const { unanswered } = await run(async () => {
        await using _slow = await slowDisk(etcd.pid!, 2 * timeoutMs)
        await pause(6 * timeoutMs)
      })
      expect(unanswered).toBeGreaterThan(0)
    },
    60_000,
  )

  it('continues after a partition in which history was compacted; only watchers of changed collections end', async () => {
    const prefix = `/faults-${++count}`
    const storage = await etcdStorage({ endpoints: [proxy.url], prefix, timeoutMs, compactionIntervalMs: 0 })
    const direct = await etcdStorage({ endpoints: [etcd.url], prefix, compactionIntervalMs: 0 })
    try {
      const kept = await storage.put('/a/x', bytes('1'))
      await storage.put('/b/x', bytes('1'))
      await storage.put('/c/x', bytes('1'))
      const [same, changed, removed] = ['/a/', '/b/', '/c/'].map((of) => storage.watch({ prefix: of, from: storage.revision }))
      proxy.partition()
      await direct.refresh?.()
      for (let n = 2; n < 5; n++) await direct.put('/b/x', bytes(String(n)))
      await direct.delete('/c/x', bytes('1'))
      const { revision } = direct
      await direct.compact(revision)
      proxy.heal({ lost: true })
      await expect
        .poll(
          () =>
            storage.refresh?.().then(
              () => storage.revision,
              () => 0,
            ),
          { timeout: 10_000 },
        )
        .toBeGreaterThanOrEqual(revision)
      expect([same, changed, removed].map((watcher) => watcher?.ended)).toEqual([undefined, 'overflow', 'overflow'])
      expect(storage.peek('/a/x')).toBe(kept.outcome === 'written' ? kept.entry : undefined)
      expect(new TextDecoder().decode(storage.peek('/b/x')?.value)).toBe('4')
      expect(storage.peek('/c/x')).toBeUndefined()
      await direct.put('/a/x', bytes('2'))
      await storage.refresh?.()
      expect(same?.take().map(({ entry }) => new TextDecoder().decode(entry.value))).toEqual(['2'])
    } finally {
      await storage.close()
      await direct.close()
    }
  })

  it('sees writes of others at once after a refresh', async () => {
    const prefix = `/faults-${++count}`
    const open = () => etcdStorage({ endpoints: [proxy.url, etcd.url], prefix, timeoutMs, compactionIntervalMs: 0 })
    const [one, two] = [await open(), await open()]
    try {
      for (let n = 0; n < 50; n++) {
        await one.put('/a/x', bytes(String(n)))
        await two.refresh?.()
        expect(new TextDecoder().decode(two.peek('/a/x')?.value)).toBe(String(n))
        const late = await two.put('/a/x', bytes('no'), { expect: 1 })
        expect(late.outcome).toBe('conflict')
      }
    } finally {
      await one.close()
      await two.close()
    }
  })

  it('reports an unreachable etcd as unavailable, and still serves past states', async () => {
    const storage = await etcdStorage({
      endpoints: [proxy.url],
      prefix: `/faults-${++count}`,
      timeoutMs,
      compactionIntervalMs: 0,
    })
    try {
      await storage.put('/a/x', bytes('1'))
      await etcd.kill()
      await expect(storage.refresh?.()).rejects.toMatchObject({ code: 'Unavailable', detail: { reason: 'remote' } })
      await expect(storage.put('/a/y', bytes('2'))).rejects.toMatchObject({ code: 'Unavailable' })
      expect(storage.count('/a/')).toBe(1)
      await etcd.start()
      await expect
        .poll(
          () =>
            storage.refresh?.().then(
              () => 'fresh',
              () => 'stale',
            ),
          { timeout: 10_000 },
        )
        .toBe('fresh')
      expect((await storage.put('/a/z', bytes('3'))).outcome).toBe('written')
    } finally {
      await storage.close()
    }
  })
}

if (program === undefined) it.skip(`an exhausted quota of etcd: ${withoutEtcd}`)
else describe('storage in an etcd whose quota is exhausted', () => exhausted(program))

function exhausted(program: string): void {
  const kilobyte = 1024
  const root = '/quota'

  /** Uses most of the quota by writing many versions of one key. @returns the last revision */
  const takeSpace = async (url: string): Promise<Revision> => {
    const storage = await etcdStorage({ endpoints: [url], prefix: '/filler', compactionIntervalMs: 0 })
    for (let n = 0; n < 30; n++) await storage.put('/a/x', () => new Uint8Array(100 * kilobyte).fill(n))
    await storage.close()
    return storage.revision
  }

  it('refuses writes, serves reads and deletions, loses nothing, and recovers when the alarm is disarmed', async () => {
    const etcd = await EtcdProcess.start(program, ['--quota-backend-bytes', String(5 * 1024 * kilobyte)])
    const taken = await takeSpace(etcd.url)
    const open = (form: StoredForm) =>
      etcdStorage({ endpoints: [etcd.url], prefix: root, form, timeoutMs, compactionIntervalMs: 0, spaceIntervalMs: 100 })
    // A deletion needs no space, not even for a lease.
    const [storage, direct] = [await open(opaqueForm), await open({ ...opaqueForm, ttlSeconds: () => 3600 })]
    await storage.put('/b/kept', bytes('1'))
    const load = new Load(storage, { padding: 16 * kilobyte })
    try {
      await load.until(20)
      await load.untilRefused(2 * writers)
      expect(await etcd.alarms()).toEqual(['NOSPACE'])
      const space = () => storage.stats?.().remote?.space
      await expect.poll(space).toMatchObject({
        problems: [expect.stringContaining('NOSPACE')],
        fileBytes: expect.any(Number),
        quotaBytes: 5 * 1024 * kilobyte,
      })
      const full = { code: 'Unavailable', detail: { reason: 'remote', problem: expect.stringContaining('space exceeded') } }
      await expect(storage.put('/b/x', bytes('1'))).rejects.toMatchObject(full)
      await storage.refresh?.()
      const listed = await storage.list({ prefix: '/' })
      await direct.refresh?.()
      const shown = ({ entries }: { readonly entries: readonly Entry[] }) => entries.map(({ key, revision }) => [key, revision])
      expect(shown(listed)).toEqual(shown(await direct.list({ prefix: '/', at: listed.revision })))
      expect(shown(listed)).toContainEqual(['/b/kept', expect.any(Number)])
      expect((await direct.delete('/b/kept', bytes('gone'))).outcome).toBe('written')
      await etcd.reclaimSpace(taken)
      expect(await etcd.alarms()).toEqual([])
      await expect.poll(() => space()?.problems).toEqual([])
      await load.until(load.written + 20)
      await load.stop()
      await load.check(direct)
    } finally {
      await load.stop()
      await storage.close()
      await direct.close()
      await etcd.dispose()
    }
  })
}

interface Attempt {
  readonly value: string
  readonly key: string
  outcome: 'pending' | 'conflict' | 'unknown' | 'refused' | Revision
}

const writers = 8
const keys = 5

/** Writers that create, change and delete a few keys, and a watcher of all of them. */
class Load {
  readonly #storage: Storage
  readonly #attempts: Attempt[] = []
  readonly #watcher: Watcher
  readonly #start: Revision
  readonly #running: Promise<unknown>
  readonly #padding: string
  #isStopped = false
  #count = 0
  written = 0

  /** @param options.padding characters added to each value */
  constructor(storage: Storage, { padding = 0 }: { readonly padding?: number } = {}) {
    this.#storage = storage
    this.#padding = ' '.repeat(padding)
    this.#start = storage.revision
    this.#watcher = storage.watch({ prefix: '/a/', from: storage.revision })
    this.#running = Promise.all(Array.from({ length: writers }, () => this.#write()))
  }

  /** Number of writes that were refused or whose outcome is unknown. */
  get unanswered(): number {
    return this.#attempts.filter(({ outcome }) => outcome === 'unknown' || outcome === 'refused').length
  }

  async until(written: number): Promise<void> {
    const deadline = Date.now() + 30_000
    while (this.written < written) {
      if (Date.now() > deadline) throw new Error(`only ${this.written} of ${written} writes succeeded in time`)
      await pause(20)
    }
  }

  /** Waits until at least `count` writes were refused. */
  async untilRefused(count: number): Promise<void> {
    const refused = () => this.#attempts.filter(({ outcome }) => outcome === 'refused').length
    await expect.poll(refused, { timeout: 30_000 }).toBeGreaterThanOrEqual(count)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  /** Compares the results of the writers and the events of the watcher with the history in etcd. */
  async check(direct: Storage): Promise<void> {
    await this.#storage.refresh?.()
    const history = direct.watch({ prefix: '/a/', from: this.#start })
    const events = history.take()
    history.close()
    const byValue = new Map<string, Revision>()
    for (const event of events) {
      if (event.type === 'delete') continue
      expect(byValue.has(textOf(event)), `${textOf(event)} was written once`).toBe(false)
      byValue.set(textOf(event), event.revision)
    }
    for (const { value, outcome } of this.#attempts) {
      if (typeof outcome === 'number') expect(byValue.get(value), `${value} was acknowledged`).toBe(outcome)
      else if (outcome !== 'unknown') expect(byValue.get(value), `${value}: ${outcome}`).toBeUndefined()
      byValue.delete(value)
    }
    expect([...byValue.keys()], 'values that no writer wrote').toEqual([])
    const seen = this.#watcher.take().map(({ type, key, revision }) => `${type} ${key}@${revision}`)
    expect(seen).toEqual(events.map(({ type, key, revision }) => `${type} ${key}@${revision}`))
    this.#watcher.close()
  }

  async #write(): Promise<void> {
    while (!this.#isStopped) {
      const n = ++this.#count
      const key = `/a/${n % keys}`
      const current = this.#storage.peek(key)
      const attempt: Attempt = { value: `v${n}${this.#padding}`, key, outcome: 'pending' }
      try {
        if (current !== undefined && n % 7 === 0) {
          await this.#storage.delete(key, bytes('gone'), { expect: current.revision })
          continue
        }
        this.#attempts.push(attempt)
        const result = await this.#storage.put(key, bytes(attempt.value), { expect: current?.revision ?? 0 })
        attempt.outcome = result.outcome === 'written' ? result.entry.revision : 'conflict'
        if (result.outcome === 'written') this.written++
      } catch (error) {
        if (!(error instanceof StorageError) || error.detail.code !== 'Unavailable') throw error
        attempt.outcome = error.detail.reason === 'outcome' ? 'unknown' : 'refused'
        await pause(50)
      }
    }
  }
}

function bytes(value: string): () => Uint8Array {
  return () => new TextEncoder().encode(value)
}

function textOf({ entry }: StorageEvent): string {
  return new TextDecoder().decode(entry.value)
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
  })
}
