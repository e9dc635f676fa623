import { resourceType } from '@krmkit/client'
import { type ApiObject, createNamingProfile } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { configMaps, namesOf, namespaces, serviceAccounts } from '../resources.fixture.ts'
import { createTestServer } from '../test-server.ts'

const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
const definition: ApiObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.shop.example.com' },
  spec: {
    group: 'shop.example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema }],
  },
}
const widgets = resourceType({ group: 'shop.example.com', version: 'v1', resource: 'widgets', kind: 'Widget' })
const definitions = resourceType({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
})

function widget(name: string, metadata: Partial<ApiObject['metadata']> = {}): ApiObject {
  return { apiVersion: 'shop.example.com/v1', kind: 'Widget', metadata: { name, ...metadata } }
}

it('a seed may define custom resources', async () => {
  await using cluster = await createTestServer({ seed: [widget('a', { namespace: 'n' }), definition] })
  expect(namesOf(await cluster.client.list(widgets))).toEqual(['a'])
})

it('custom objects are deleted with their namespace [P9]', async () => {
  const held = widget('held', { namespace: 'n', finalizers: ['example.com/f'] })
  await using cluster = await createTestServer({ seed: [definition, held, widget('free', { namespace: 'n' }), widget('other')] })
  const { client } = cluster
  await client.delete(namespaces, 'n')
  await cluster.settle()
  expect(namesOf(await client.list(widgets))).toEqual(['other', 'held'])
  await client.patch(widgets, 'held', { namespace: 'n', type: 'merge', patch: { metadata: { finalizers: null } } })
  await cluster.settle()
  expect(namesOf(await client.list(widgets))).toEqual(['other'])
  await expect(client.get(namespaces, 'n')).rejects.toMatchObject({ reason: 'NotFound' })
})

it('custom objects take part in garbage collection as soon as they are served [P166]', async () => {
  await using cluster = await createTestServer()
  const { client } = cluster
  await client.create(definitions, definition)
  await cluster.settle()
  const owner = await client.create(widgets, widget('owner'))
  const reference = { apiVersion: 'shop.example.com/v1', kind: 'Widget', name: 'owner', uid: owner.metadata.uid! }
  const map = await client.create(configMaps, { metadata: { name: 'middle', ownerReferences: [reference] } })
  const second = { apiVersion: 'v1', kind: 'ConfigMap', name: 'middle', uid: map.metadata.uid!, blockOwnerDeletion: true }
  await client.create(widgets, widget('leaf', { ownerReferences: [second] }))
  await cluster.settle()
  await client.delete(widgets, 'owner', { propagationPolicy: 'Foreground' })
  await cluster.settle()
  expect(namesOf(await client.list(widgets))).toEqual([])
  expect(namesOf(await client.list(configMaps))).toEqual([])
})

it('treats objects of a deleted definition as deleted', async () => {
  await using cluster = await createTestServer({ seed: [definition] })
  const { client } = cluster
  const owner = await client.create(widgets, widget('owner'))
  const ownerReferences = [{ apiVersion: 'shop.example.com/v1', kind: 'Widget', name: 'owner', uid: owner.metadata.uid! }]
  await client.create(configMaps, { metadata: { name: 'owned', ownerReferences } })
  await cluster.settle()
  await client.delete(definitions, 'widgets.shop.example.com')
  await cluster.settle()
  await expect(client.list(widgets)).rejects.toMatchObject({ code: 404 })
  expect(namesOf(await client.list(configMaps))).toEqual([])
})

it('works with another naming profile', async () => {
  const profile = createNamingProfile({
    vendor: 'acme',
    domain: 'acme.example',
    apiDomain: 'api.acme.example',
    systemNamespace: 'acme-system',
  })
  await using cluster = await createTestServer({ server: { profile }, rootCA: 'PEM' })
  const { client } = cluster
  await client.create(namespaces, { metadata: { name: 'n' } })
  await cluster.settle()
  expect(namesOf(await client.list(serviceAccounts, { namespace: 'acme-system' }))).toEqual(['default'])
  const [map] = (await client.list(configMaps, { namespace: 'n' })).items
  expect(Object.keys(map?.metadata.annotations ?? {})).toEqual(['acme.example/description'])
  await client.delete(namespaces, 'n')
  await cluster.settle()
  await expect(client.get(namespaces, 'n')).rejects.toMatchObject({ reason: 'NotFound' })
})
