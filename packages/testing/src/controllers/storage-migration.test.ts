import { resourceType } from '@krmkit/client'
import { builtInKinds } from '@krmkit/kinds'
import { expect, it } from 'vitest'
import { createTestServer } from '../test-server.ts'

/** Tests of the controller of StorageVersionMigration objects. */

const definitions = resourceType({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
})
const migrations = resourceType({
  group: 'storagemigration.k8s.io',
  version: 'v1alpha1',
  resource: 'storageversionmigrations',
  kind: 'StorageVersionMigration',
  namespaced: false,
})
const widgets = resourceType({ group: 'shop.example.com', version: 'v1', resource: 'widgets', kind: 'Widget' })

function definition(stored: string) {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.shop.example.com' },
    spec: {
      group: 'shop.example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === stored, schema })),
    },
  }
}

async function startedServer() {
  return createTestServer({
    controllers: ['storage-version-migrator-controller'],
    seed: [definition('v1')],
    server: { kinds: builtInKinds({ runtimeConfig: 'storagemigration.k8s.io/v1alpha1=true' }) },
  })
}

const resource = { group: 'shop.example.com', version: 'v2', resource: 'widgets' }

it('rewrites every object in the current storage version, and reports success', async () => {
  await using cluster = await startedServer()
  const { client } = cluster
  for (const name of ['a', 'b', 'c']) await client.create(widgets, { metadata: { name }, spec: { size: 1 } })
  await client.apply(definitions, definition('v2'), { fieldManager: 'test', force: true })
  await cluster.settle()
  const { registry } = await cluster.server()
  const storage = { group: 'shop.example.com', resource: 'widgets' }
  const storedVersions = async () => {
    const found: string[] = []
    const put = ({ apiVersion }: { apiVersion: string }) => void found.push(apiVersion)
    const { signal } = new AbortController()
    await registry.collection(storage).follow({ put, remove: () => undefined, clear: () => undefined } as never, { signal })
    return found
  }
  expect(await storedVersions()).toEqual(Array(3).fill('shop.example.com/v1'))
  await client.create(migrations, { metadata: { name: 'm' }, spec: { resource } })
  await cluster.settle()
  const { status } = (await client.get(migrations, 'm')) as {
    status?: { conditions: { type: string; status: string; message: string }[] }
  }
  expect(status?.conditions.map(({ type, status: value, message }) => `${type}=${value}: ${message}`)).toEqual([
    'Running=False: 3 objects migrated',
    'Succeeded=True: 3 objects migrated',
  ])
  expect(await storedVersions()).toEqual(Array(3).fill('shop.example.com/v2'))
})

it('reports a resource that is not served', async () => {
  await using cluster = await startedServer()
  await cluster.client.create(migrations, { metadata: { name: 'm' }, spec: { resource: { ...resource, version: 'v7' } } })
  await cluster.settle()
  const { status } = (await cluster.client.get(migrations, 'm')) as {
    status?: { conditions: { type: string; status: string }[] }
  }
  expect(status?.conditions.map(({ type, status: value }) => `${type}=${value}`)).toEqual(['Running=False', 'Failed=True'])
})
