import { join } from 'node:path'
import { RandomChoices } from '@krmkit/base/random-choices'
import { type Client, ClientError, createRemoteClient, loadKubeconfig, resourceType, type WatchEvent } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'
import { type ConfigMapObject, configMaps, ownPen } from './support/pens.ts'
import { RandomWriter, type Written } from './support/random-writer.ts'
import { runSeed } from './support/run-seed.ts'
import { freePort, killEarly, type ServerProcess, startServerProcess } from './support/server-process.ts'

/**
 * The durable server of `npm start`, killed during writes and restarted. `CLIENTS_SEED` repeats the choice of writes and times,
 * as far as processes are reproducible.
 */

const seed = runSeed()
const rounds = 6
const namespaces = ['default', 'work']
const random = new RandomChoices(seed)

const folder = temporaryFolder()
let flags: readonly string[]
let server: ServerProcess
let client: Client

const types = {
  namespaces: resourceType({ group: '', version: 'v1', resource: 'namespaces', kind: 'Namespace', namespaced: false }),
  secrets: resourceType({ group: '', version: 'v1', resource: 'secrets', kind: 'Secret' }),
  pods: resourceType({ group: '', version: 'v1', resource: 'pods', kind: 'Pod' }),
  deployments: resourceType({ group: 'apps', version: 'v1', resource: 'deployments', kind: 'Deployment' }),
  clusterRoles: resourceType({
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    resource: 'clusterroles',
    kind: 'ClusterRole',
    namespaced: false,
  }),
}

beforeAll(async () => {
  flags = ['--controllers=*,-deployment-controller', '--data-dir', folder, '--secure-port', String(await freePort())]
  server = await startServerProcess(flags)
  client = await connect()
})

afterAll(async () => {
  await client?.close()
  await server?.kill()
})

async function connect(): Promise<Client> {
  return createRemoteClient(await loadKubeconfig({ path: join(folder, 'admin.kubeconfig') }))
}

/** All ConfigMaps in the writer's form, without those of controllers. */
async function present(): Promise<{
  objects: Map<string, { object: Written; resourceVersion: string }>
  resourceVersion: string
}> {
  const { items, metadata } = await client.list(configMaps)
  const own = items.filter((item) => item.metadata.name?.startsWith('object-') === true)
  return {
    objects: new Map(own.map((item) => [keyOf(item), { object: written(item), resourceVersion: versionOf(item) }])),
    resourceVersion: metadata.resourceVersion ?? '',
  }
}

function written({ metadata, data = {} }: ConfigMapObject): Written {
  const { namespace = '', name = '', labels = {} } = metadata
  return { namespace, name, labels, data }
}

function keyOf({ metadata }: ApiObject): string {
  return `${metadata.namespace}/${metadata.name}`
}

function versionOf({ metadata }: ApiObject): string {
  return metadata.resourceVersion ?? ''
}

/** The events after a version, up to another one. */
async function eventsBetween(from: string, to: string): Promise<WatchEvent<ConfigMapObject>[]> {
  const events: WatchEvent<ConfigMapObject>[] = []
  // The last written object marks that all earlier events have arrived.
  for await (const event of client.watch(configMaps, { resourceVersion: from, resume: false })) {
    events.push(event)
    if (BigInt(versionOf(event.object)) >= BigInt(to)) break
  }
  return events
}

/** Objects that the test does not change, and their state, which must survive every restart. */
async function createKeptObjects(): Promise<{ state: ApiObject[]; read: () => Promise<ApiObject[]> }> {
  await client.create(types.namespaces, { metadata: { name: 'work' } })
  const container = { name: 'c', image: 'registry.example.com/c:1' }
  const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [container] } }
  const kept = await Promise.all([
    client.get(types.namespaces, 'work'),
    client.create(types.secrets, { metadata: { name: 'kept', namespace: 'work' }, stringData: { key: 'välue' } } as never),
    client.create(types.deployments, {
      metadata: { name: 'kept', namespace: 'work' },
      spec: { selector: { matchLabels: { app: 'a' } }, template },
    } as never),
    client.create(types.pods, {
      metadata: { generateName: 'kept-', namespace: 'work', finalizers: ['example.com/hold'] },
      spec: { containers: [container] },
    } as never),
    client.apply(
      types.clusterRoles,
      { metadata: { name: 'kept' }, rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] } as never,
      { fieldManager: 'tests' },
    ),
  ])
  const [, , , pod] = kept
  // Terminating, with a finalizer.
  await client.delete(types.pods, pod.metadata.name ?? '', { namespace: 'work' })
  const kinds = [types.namespaces, types.secrets, types.deployments, types.pods, types.clusterRoles]
  const read = () =>
    Promise.all(
      kept.map(({ metadata: { name = '', namespace } }, i) =>
        client.get(kinds[i]!, name, namespace === undefined ? {} : { namespace }),
      ),
    )
  return { state: await read(), read }
}

function randomWriter(): RandomWriter {
  return new RandomWriter({
    random,
    // Each round uses the current client.
    pens: [
      {
        create: (...args) => ownPen(client).create(...args),
        replace: (...args) => ownPen(client).replace(...args),
        patch: (...args) => ownPen(client).patch(...args),
        delete: (...args) => ownPen(client).delete(...args),
      },
    ],
    namespaces,
    names: 150,
    unanswered: (error) => error instanceof ClientError && error.code === 'Unreachable',
  })
}

/** One watch across all restarts of the server, which reconnects by itself. */
async function watchAcrossRestarts() {
  const steady = await connect()
  const mirror = new Map<string, string>()
  const seen: string[] = []
  const stopped = new AbortController()
  const following = (async () => {
    for await (const { type, object } of steady.watch(configMaps, { signal: stopped.signal })) {
      seen.push(versionOf(object))
      if (type === 'DELETED') mirror.delete(keyOf(object))
      else mirror.set(keyOf(object), versionOf(object))
    }
  })()
  const stop = async () => {
    stopped.abort()
    await following
    await steady.close()
  }
  return { mirror, seen, stop }
}

type LoggedWrites = [version: string, write: { readonly type: string; readonly object: Written }][]

/** Writes until the server is killed. Returns the acknowledged writes. */
async function writeUntilKilled(writer: RandomWriter): Promise<LoggedWrites> {
  const acknowledgedBefore = new Set(writer.log.keys())
  const over = new AbortController()
  const work = writer.writeUntil(over.signal, 6)
  await new Promise((resolve) => setTimeout(resolve, 100 + random.below(500)))
  await expect.poll(() => writer.log.size, { timeout: 20_000, interval: 5 }).toBeGreaterThan(acknowledgedBefore.size + 10)
  await server.kill()
  await work
  return [...writer.log].filter(([version]) => !acknowledgedBefore.has(version))
}

async function restart(): Promise<void> {
  // Sometimes the server is killed before it is ready.
  if (random.chance(40)) await killEarly(flags, random.below(250))
  await client.close()
  server = await startServerProcess(flags)
  client = await connect()
}

/** Requires the events between two versions to be ordered, unique, and to contain these writes. */
async function expectEventsOf(
  writes: LoggedWrites,
  { after, to }: { readonly after: string; readonly to: string },
): Promise<void> {
  const events = await eventsBetween(after, to)
  const versions = events.map(({ object }) => BigInt(versionOf(object)))
  expect(versions).toEqual(ascending([...new Set(versions)]))
  const byVersion = new Map(events.map((event) => [versionOf(event.object), event]))
  for (const [version, { type, object }] of writes) {
    const event = byVersion.get(version)
    expect([event?.type, event && written(event.object)]).toEqual([type, object])
  }
}

function ascending(versions: bigint[]): bigint[] {
  return versions.sort((a, b) => (a < b ? -1 : 1))
}

describe(`a durable server, seed ${seed}`, () => {
  it('serves all acknowledged writes after being killed [P13, P143, P184, S104]', async () => {
    const kept = await createKeptObjects()
    const writer = randomWriter()
    const watch = await watchAcrossRestarts()

    let newest = (await present()).resourceVersion
    let doubts = 0
    for (let round = 0; round < rounds; round++) {
      const before = newest
      const writes = await writeUntilKilled(writer)
      doubts += writer.doubts
      expect(writes.length).toBeGreaterThan(10)
      await restart()

      const now = await present()
      expect(writer.reconcile(now.objects)).toEqual([])
      expect(await kept.read()).toEqual(kept.state)
      const highest = ascending(writes.map(([version]) => BigInt(version))).at(-1)!
      expect(BigInt(now.resourceVersion)).toBeGreaterThanOrEqual(highest)

      const mark = await client.create(configMaps, { metadata: { name: `mark-${round}`, namespace: 'work' } })
      newest = versionOf(mark)
      expect(BigInt(newest)).toBeGreaterThan(BigInt(now.resourceVersion))
      await expectEventsOf(writes, { after: before, to: newest })
    }

    const final = await client.list(configMaps)
    const truth = new Map(final.items.map((item) => [keyOf(item), versionOf(item)] as const))
    await expect
      .poll(() => new Map([...watch.mirror].sort()), { timeout: 20_000, interval: 50 })
      .toEqual(new Map([...truth].sort()))
    // The watch resumed without missing or repeated events.
    expect([...writer.log.keys()].filter((version) => !watch.seen.includes(version))).toEqual([])
    expect(new Set(watch.seen).size).toBe(watch.seen.length)
    await watch.stop()
    expect(doubts).toBeGreaterThan(0)
  })

  it('shuts down gracefully and resumes [P13, P184]', async () => {
    const before = await client.list(configMaps)
    const ended: string[] = []
    const watching = (async () => {
      for await (const event of client.watch(configMaps, {
        resourceVersion: before.metadata.resourceVersion ?? '',
        resume: false,
      }))
        ended.push(event.type)
    })()
    await client.create(configMaps, { metadata: { name: 'last', namespace: 'default' } })
    expect(await server.stop()).toBe(0)
    await watching
    expect(ended).toEqual(['ADDED'])
    expect(server.errors()).toBe('')

    await client.close()
    server = await startServerProcess(flags)
    client = await connect()
    const after = await client.list(configMaps)
    expect(after.items.filter(({ metadata }) => metadata.name !== 'last')).toEqual(before.items)
    const [last] = await eventsBetween(
      before.metadata.resourceVersion ?? '',
      String(BigInt(before.metadata.resourceVersion ?? '') + 1n),
    )
    expect([last?.type, last?.object.metadata.name]).toEqual(['ADDED', 'last'])
  })

  it('reports that another server uses the data folder', async () => {
    const elsewhere = ['--data-dir', folder, '--secure-port', '0']
    await expect(startServerProcess(elsewhere)).rejects.toThrow(/ended with 1 before it was ready: .*krmkit:.* [^\n]+\n$/s)
    await expect(client.list(types.namespaces)).resolves.toMatchObject({ kind: 'NamespaceList' })
  })
})
