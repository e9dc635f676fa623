import { RandomChoices } from '@krmkit/base/random-choices'
import { systemClock } from '@krmkit/meta'
import {
  CoreV1Api,
  KubeConfig,
  ListWatch,
  makeInformer,
  type V1ConfigMap,
  type V1ConfigMapList,
  Watch,
} from '@kubernetes/client-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BreakingProxy, breakingProxy } from './support/breaking-proxy.ts'
import { fastClock } from './support/fast-clock.ts'
import { type LocalServer, startLocalServer } from './support/local-server.ts'
import { ownPen, stockPen } from './support/pens.ts'
import { RandomWriter } from './support/random-writer.ts'
import { runSeed } from './support/run-seed.ts'
import { isExpired, keyOf, StrictMirror } from './support/strict-mirror.ts'

/**
 * `@kubernetes/client-node` against a server on a socket: three mirrors follow random writes through an unreliable network,
 * with compacted history, ended watches and bookmarks. `CLIENTS_SEED` repeats a run.
 */

const seed = runSeed()
const writes = 10_000
const rounds = 40
const pauseMs = 30
const namespaces = ['default', 'blue', 'green']
const leftSelector = 'side=left'
const path = '/api/v1/configmaps'
/** Bookmarks every 300 ms instead of a minute; watches end after 2 to 4 s. */
const speed = 200

let local: LocalServer
let proxy: BreakingProxy
/** Connects to the server directly; `broken` connects through the unreliable network. */
let direct: CoreV1Api
let throughProxy: KubeConfig
let broken: CoreV1Api

beforeAll(async () => {
  local = await startLocalServer({
    clock: fastClock(systemClock, speed),
    limits: { requestTimeoutMs: 60_000 * speed, watchMs: 2_000 * speed },
  })
  proxy = await breakingProxy({ host: '127.0.0.1', port: local.port })
  const config = new KubeConfig()
  config.loadFromFile(await local.kubeconfig())
  direct = config.makeApiClient(CoreV1Api)
  throughProxy = new KubeConfig()
  throughProxy.loadFromFile(await local.kubeconfig(`https://127.0.0.1:${proxy.port}`))
  broken = throughProxy.makeApiClient(CoreV1Api)
  for (const name of namespaces.slice(1)) await direct.createNamespace({ body: { metadata: { name } } })
})

afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await local[Symbol.asyncDispose]()
})

/** Requests bookmarks, which the informer of this client does not. */
class BookmarkedWatch extends Watch {
  bookmarks = 0

  override watch(...[url, query, callback, done]: Parameters<Watch['watch']>): ReturnType<Watch['watch']> {
    const counted: typeof callback = (phase, object, whole) => {
      if (phase === 'BOOKMARK') this.bookmarks++
      callback(phase, object, whole)
    }
    return super.watch(url, { ...query, allowWatchBookmarks: true }, counted, done)
  }
}

/** Starts an informer and restarts it after errors, as its contract requires. */
function keepGoing(informer: ListWatch<V1ConfigMap>): { readonly failures: { count: number }; stop(): Promise<void> } {
  const failures = { count: 0 }
  let stopped = false
  informer.on('error', () => {
    failures.count++
    setTimeout(() => {
      if (!stopped) void informer.start()
    }, pauseMs)
  })
  void informer.start()
  return {
    failures,
    async stop() {
      stopped = true
      await informer.stop()
    },
  }
}

/** An object in the common form of lists and watches of this client: one has dates, the other strings. */
function plain({ metadata, data }: V1ConfigMap): object {
  const { name, namespace, uid, resourceVersion, labels, creationTimestamp } = metadata ?? {}
  return { name, namespace, uid, resourceVersion, labels, data, created: new Date(creationTimestamp ?? 0).getTime() }
}

function plainAll(objects: Iterable<V1ConfigMap>): Map<string, object> {
  return new Map([...objects].map((object) => [keyOf(object), plain(object)] as const).sort(([a], [b]) => (a < b ? -1 : 1)))
}

async function listInChunks(
  api: CoreV1Api,
  limit: number,
): Promise<{ items: V1ConfigMap[]; resourceVersion: string; chunks: number }> {
  const items: V1ConfigMap[] = []
  let page: V1ConfigMapList | undefined
  let chunks = 0
  do {
    const _continue = page?.metadata?._continue
    page = await api.listConfigMapForAllNamespaces({ limit, ...(_continue === undefined ? {} : { _continue }) })
    items.push(...page.items)
    chunks++
  } while ((page.metadata?._continue ?? '') !== '')
  return { items, chunks, resourceVersion: page.metadata?.resourceVersion ?? '' }
}

/** Writes in rounds, and breaks connections, compacts history or deletes a collection after each. */
async function writeAndDisrupt(writer: RandomWriter, random: RandomChoices): Promise<{ compactions: number; swept: number }> {
  let compactions = 0
  let swept = 0
  for (let round = 0; round < rounds; round++) {
    await writer.write((writes - 300) / rounds, 8)
    // Each kind of disruption occurs in every ten rounds.
    const chance = (round * 7 + seed) % 10
    if (chance < 4) proxy.breakAll()
    else if (chance < 7) {
      // These writes happen while no mirror is connected, and are then compacted.
      proxy.breakAll()
      await writer.write(10, 4)
      await local.storage.compact(local.storage.revision)
      compactions++
    } else if (chance < 8) {
      const namespace = random.pick(namespaces)
      await direct.deleteCollectionNamespacedConfigMap({ namespace, labelSelector: leftSelector })
      swept += writer.forget((object) => object.namespace === namespace && object.labels['side'] === 'left')
    } else await new Promise((resolve) => setTimeout(resolve, random.below(500)))
  }
  return { compactions, swept }
}

/** Requires the events of a mirror to be those of the writes, but for writes that a new list skipped. */
function expectExactEvents(strict: StrictMirror, writer: RandomWriter): void {
  expect(strict.complaints).toEqual([])
  const leapt = (version: string) => strict.leaps.some(({ from, to }) => BigInt(version) > from && BigInt(version) <= to)
  const missed = [...writer.log].filter(([version]) => !strict.events.has(version) && !leapt(version))
  expect(missed).toEqual([])
  const wrong = [...strict.events].filter(([version, { type, object }]) => {
    const write = writer.log.get(version)
    if (type === 'DELETED') return write !== undefined
    return (
      write?.type !== type ||
      keyOf(object) !== `${write.object.namespace}/${write.object.name}` ||
      JSON.stringify(object.data) !== JSON.stringify(sorted(write.object.data))
    )
  })
  expect(wrong).toEqual([])
}

describe(`@kubernetes/client-node, seed ${seed}`, () => {
  it('lists, watches and informers mirror 10 000 random writes exactly [P141, P184, P29, P155, P302, P314, S103]', {
    timeout: 180_000,
  }, async () => {
    const random = new RandomChoices(seed)
    // Each request of this client opens a connection, so most writes are in-process.
    const pens = [stockPen(direct), ownPen(local.client), ownPen(local.client), ownPen(local.client), ownPen(local.client)]
    const writer = new RandomWriter({ random, pens, namespaces, names: 120 })
    await writer.write(300, 8)

    const informer = makeInformer<V1ConfigMap>(throughProxy, path, () =>
      broken.listConfigMapForAllNamespaces(),
    ) as ListWatch<V1ConfigMap>
    const leftWatch = new BookmarkedWatch(throughProxy)
    const left = new ListWatch<V1ConfigMap>(
      path,
      leftWatch,
      () => broken.listConfigMapForAllNamespaces({ labelSelector: leftSelector }),
      false,
      leftSelector,
    )
    const strict = new StrictMirror({ config: throughProxy, path, pauseMs, list: () => listInChunks(broken, 50) })
    const calls = { add: 0, update: 0, delete: 0 }
    for (const verb of ['add', 'update', 'delete'] as const) informer.on(verb, () => void calls[verb]++)
    const running = [keepGoing(informer), keepGoing(left)]
    strict.start()

    const { compactions, swept } = await writeAndDisrupt(writer, random)

    const listed = await listInChunks(direct, 70)
    expect(listed.chunks).toBe(Math.ceil(listed.items.length / 70))
    const truth = plainAll(listed.items)
    const expected = [...writer.expected()].map(([key, { object, resourceVersion }]) => [
      key,
      resourceVersion,
      object.labels,
      object.data,
    ])
    expect(listed.items.map((item) => [keyOf(item), item.metadata?.resourceVersion, item.metadata?.labels, item.data])).toEqual(
      expected.sort(([a = ''], [b = '']) => (a < b ? -1 : 1)),
    )

    const leftTruth = plainAll(listed.items.filter(({ metadata }) => metadata?.labels?.['side'] === 'left'))
    await expect.poll(() => plainAll(informer.list()), { timeout: 15_000, interval: 50 }).toEqual(truth)
    await expect.poll(() => plainAll(left.list()), { timeout: 15_000, interval: 50 }).toEqual(leftTruth)
    await expect.poll(() => plainAll(strict.objects.values()), { timeout: 15_000, interval: 50 }).toEqual(truth)
    // Long enough for a bookmark to idle mirrors.
    await expect.poll(() => leftWatch.bookmarks, { timeout: 15_000 }).toBeGreaterThan(2)
    await Promise.all([...running.map((each) => each.stop()), strict.stop()])

    expectExactEvents(strict, writer)
    const { create, replace, patch, delete: deleted } = writer.counts
    expect(create + replace + patch + deleted).toBeGreaterThanOrEqual(writes)
    expect(compactions).toBeGreaterThan(2)
    expect(swept).toBeGreaterThan(10)
    expect(strict.counts.expired).toBeGreaterThan(0)
    expect(strict.counts.failures).toBeGreaterThan(0)
    expect(strict.counts.bookmarks).toBeGreaterThan(2)
    expect(running[0]?.failures.count).toBeGreaterThan(0)
    expect(calls.add).toBeGreaterThan(1000)
    expect(calls.delete).toBeGreaterThan(1000)
  })

  it('a watch resumes from a bookmark after compaction [P302, P323]', async () => {
    const watch = new Watch(throughProxy)
    const begin = (await direct.listNamespacedSecret({ namespace: 'blue' })).metadata?.resourceVersion ?? ''
    const events: [type: string, name: string | undefined, version: string][] = []
    const follow = (resourceVersion: string) =>
      new Promise<void>((resolve, reject) => {
        watch
          .watch(
            '/api/v1/namespaces/blue/secrets',
            { resourceVersion, allowWatchBookmarks: true, timeoutSeconds: 3 * speed },
            (type: string, object: { metadata: { name?: string; resourceVersion: string } }) => {
              events.push([type, object.metadata?.name, object.metadata?.resourceVersion])
            },
            (error: unknown) => (error ? reject(error) : resolve()),
          )
          .catch(reject)
      })
    const first = follow(begin)
    const writer = new RandomWriter({
      random: new RandomChoices(seed),
      pens: [ownPen(local.client)],
      namespaces: ['green'],
      names: 40,
    })
    await direct.deleteCollectionNamespacedConfigMap({ namespace: 'green' })
    await writer.write(50, 4)
    await expect
      .poll(() => events.some(([type, , version]) => type === 'BOOKMARK' && version === String(local.storage.revision)), {
        timeout: 10_000,
      })
      .toBe(true)
    proxy.breakAll()
    await first.catch(() => undefined)
    expect(events.map(([type]) => type).filter((type) => type !== 'BOOKMARK')).toEqual([])
    const bookmark = events.at(-1)?.[2] ?? ''
    await local.storage.compact(Number(bookmark))
    await direct.createNamespacedSecret({ namespace: 'blue', body: { metadata: { name: 'after' } } })

    events.length = 0
    const second = follow(bookmark)
    await expect.poll(() => events.map(([type, name]) => `${type} ${name}`), { timeout: 10_000 }).toContain('ADDED after')
    expect(events.filter(([type]) => type === 'ERROR')).toEqual([])
    await second

    // The version before it is compacted: the watch reports that and ends.
    const errors: { code?: number; reason?: string }[] = []
    await new Promise<void>((resolve) => {
      const take = (type: string, status: { code?: number; reason?: string }) => void (type === 'ERROR' && errors.push(status))
      void watch.watch('/api/v1/namespaces/blue/secrets', { resourceVersion: begin }, take, () => resolve())
    })
    expect(errors).toMatchObject([{ code: 410, reason: 'Expired' }])
  })

  it('a chunk of a compacted list is 410 with a fresh continue token [P315, P174, P186]', async () => {
    await local.client.deleteCollection(
      { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true },
      { namespace: 'blue' },
    )
    for (const name of ['a', 'b', 'c', 'd'])
      await direct.createNamespacedConfigMap({ namespace: 'blue', body: { metadata: { name } } })
    const first = await direct.listNamespacedConfigMap({ namespace: 'blue', limit: 2 })
    const token = first.metadata?._continue ?? ''
    expect([first.items.map(({ metadata }) => metadata?.name), first.metadata?.remainingItemCount]).toEqual([['a', 'b'], 2])
    await direct.deleteNamespacedConfigMap({ namespace: 'blue', name: 'c' })
    const second = await direct.listNamespacedConfigMap({ namespace: 'blue', limit: 2, _continue: token })
    expect(second.items.map(({ metadata }) => metadata?.name)).toEqual(['c', 'd'])
    expect(second.metadata?.resourceVersion).toBe(first.metadata?.resourceVersion)

    await local.storage.compact(local.storage.revision)
    const refusal: unknown = await direct
      .listNamespacedConfigMap({ namespace: 'blue', limit: 2, _continue: token })
      .catch((error: unknown) => error)
    expect(isExpired(refusal)).toBe(true)
    const status = JSON.parse(String((refusal as { body: unknown }).body)) as { reason: string; metadata: { continue?: string } }
    expect(status.reason).toBe('Expired')
    const rest = await direct.listNamespacedConfigMap({ namespace: 'blue', _continue: status.metadata.continue ?? '' })
    expect(rest.items.map(({ metadata }) => metadata?.name)).toEqual(['d'])
  })
})

function sorted(record: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))
}
