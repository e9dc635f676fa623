import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fakeClock } from '@krmkit/meta'
import { lmdbStorage } from '@krmkit/storage'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { created, pathOf, readAs } from '../testing/emulated.ts'
import { type MovedObject, movedObjects } from '../testing/moved-objects.ts'
import { type SampleServer, sampleServer } from '../testing/sample-server.ts'

/** One durable store, opened as successive releases. */

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'krmkit-upgrade-'))
})
afterEach(() => rm(dir, { recursive: true }))

async function opened<T>(emulate: string | undefined, use: (server: SampleServer) => Promise<T>): Promise<T> {
  const clock = fakeClock(Date.UTC(2024, 0, 1))
  const storage = await lmdbStorage({ dir, clock })
  const server = await sampleServer({ clock, storage, ...(emulate === undefined ? {} : { emulate }) })
  try {
    return await use(server)
  } finally {
    await server.server.close()
  }
}

/** The first version that the server serves. */
async function servedVersion({ ask }: SampleServer, { next, resource }: MovedObject): Promise<string | undefined> {
  for (const version of next) {
    const { status, json } = await ask(pathOf(version))
    if (status === 200 && json.resources.some(({ name }: { name: string }) => name === resource)) return version
  }
  return undefined
}

const steps = ['1.22', '1.23', '1.24', '1.25', '1.26', '1.27', '1.28', '1.29', '1.30', '1.31', '1.32', '1.33', undefined]

it('keeps objects of every moved kind from 1.21 to 1.33, release by release [P331, P334, P335]', async () => {
  const uids = new Map<MovedObject, string>()
  await opened('1.21', async (server) => {
    for (const each of movedObjects) {
      await created(server, each.apiVersion, each.resource, each.body, each.namespace)
      const { metadata } = await readAs(server, each.apiVersion, each.resource, each.body.metadata.name, each.namespace)
      uids.set(each, metadata.uid)
    }
  })
  for (const release of steps) {
    await opened(release, async (server) => {
      for (const each of movedObjects) {
        const version = await servedVersion(server, each)
        if (each.next.length === 0) continue
        if (version === undefined) throw new Error(`${release}: ${each.resource} is not served`)
        const object = await readAs(server, version, each.resource, each.body.metadata.name, each.namespace)
        expect([release, each.resource, object.metadata.uid]).toEqual([release, each.resource, uids.get(each)])
      }
    })
  }
  await opened(undefined, async (server) => {
    const read = async (apiVersion: string, resource: string, name: string, namespace = 'default') =>
      readAs(server, apiVersion, resource, name, namespace)
    expect((await read('networking.k8s.io/v1', 'ingresses', 'a')).spec.defaultBackend.service).toEqual({
      name: 'web',
      port: { number: 80 },
    })
    expect((await read('networking.k8s.io/v1', 'ingresses', 'b')).spec.defaultBackend.service).toEqual({
      name: 'web',
      port: { name: 'http' },
    })
    expect((await read('autoscaling/v2', 'horizontalpodautoscalers', 'a')).spec.metrics[0].pods.target.averageValue).toBe('10')
    expect((await read('discovery.k8s.io/v1', 'endpointslices', 'a')).endpoints[0].zone).toBe('west')
    const level = await read('flowcontrol.apiserver.k8s.io/v1', 'prioritylevelconfigurations', 'a', '')
    expect(level.spec.limited).toMatchObject({ nominalConcurrencyShares: 7, lendablePercent: 0 })
    const budget = await read('policy/v1', 'poddisruptionbudgets', 'a')
    expect(budget.spec.selector.matchExpressions[0].operator).toBe('Exists')
    const { webhooks } = await read('admissionregistration.k8s.io/v1', 'mutatingwebhookconfigurations', 'a', '')
    expect(webhooks[0]).toMatchObject({ failurePolicy: 'Ignore', matchPolicy: 'Exact', timeoutSeconds: 30 })
    await created(
      server,
      'shop.example.com/v1',
      'widgets',
      { apiVersion: 'shop.example.com/v1', kind: 'Widget', metadata: { name: 'w' } },
      'default',
    )
  })
})

const job = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'a' },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'b' }] } } },
}

it('gives stored objects the defaults of the new release, once', async () => {
  await opened('1.21', (server) => created(server, 'batch/v1', 'jobs', job, 'default'))
  const before = await opened('1.21', (server) => readAs(server, 'batch/v1', 'jobs', 'a', 'default'))
  expect(before.spec).not.toHaveProperty('completionMode')
  const after = await opened('1.24', (server) => readAs(server, 'batch/v1', 'jobs', 'a', 'default'))
  expect(after.spec).toMatchObject({ completionMode: 'NonIndexed', suspend: false })
  expect(after.metadata.generation).toBe(before.metadata.generation)
  const again = await opened('1.24', (server) => readAs(server, 'batch/v1', 'jobs', 'a', 'default'))
  expect(again.metadata.resourceVersion).toBe(after.metadata.resourceVersion)
  await opened(undefined, async ({ ask }) => {
    const { status } = await ask(`${pathOf('batch/v1', 'jobs', 'default')}/a`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { metadata: { labels: { a: 'b' } } },
    })
    expect(status).toBe(200)
  })
})

it('keeps objects of removed kinds in the store, unreachable by requests', async () => {
  const policy = movedObjects.find(({ resource }) => resource === 'podsecuritypolicies') as MovedObject
  const path = `${pathOf(policy.apiVersion, policy.resource)}/a`
  await opened('1.24', (server) => created(server, policy.apiVersion, policy.resource, policy.body))
  expect(await opened('1.25', async ({ ask }) => (await ask(path)).status)).toBe(404)
  expect(await opened('1.24', async ({ ask }) => (await ask(path)).status)).toBe(200)
})

it('writes nothing to a store of the newest release', async () => {
  const first = await opened(undefined, async ({ storage }) => storage.revision)
  expect(await opened(undefined, async ({ storage }) => storage.revision)).toBe(first)
})
