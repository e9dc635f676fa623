import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestServer } from '../interfaces.ts'
import { configMaps, namesOf, namespaces, serviceAccounts } from '../resources.fixture.ts'
import { createTestServer } from '../test-server.ts'

const named = (name: string) => ({ metadata: { name } })
const systemNamespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system']

let base: TestServer

beforeAll(async () => {
  base = await createTestServer()
})
afterAll(() => base.close())

describe('service account controller', () => {
  it('maintains the default account in every namespace', async () => {
    await using cluster = base.fork()
    const { client } = cluster
    const { items } = await client.list(serviceAccounts)
    expect(items.map(({ metadata }) => metadata.namespace)).toEqual(systemNamespaces)
    expect(new Set(namesOf({ items }))).toEqual(new Set(['default']))
    // The account has no fields, so it has no managed fields.
    expect(items[0]!.metadata.managedFields).toBeUndefined()
    await client.create(namespaces, named('n'))
    await cluster.settle()
    await client.delete(serviceAccounts, 'default', { namespace: 'n' })
    await cluster.settle()
    expect(namesOf(await client.list(serviceAccounts, { namespace: 'n' }))).toEqual(['default'])
  })

  it('does not restore other accounts', async () => {
    await using cluster = base.fork()
    const { client } = cluster
    await client.create(serviceAccounts, named('mine'))
    await client.delete(serviceAccounts, 'mine')
    await cluster.settle()
    expect(namesOf(await client.list(serviceAccounts, { namespace: 'default' }))).toEqual(['default'])
  })

  it('creates no account in a terminating namespace', async () => {
    const errors: unknown[] = []
    await using cluster = await createTestServer({ onError: (error) => errors.push(error) })
    const { client } = cluster
    await client.create(namespaces, named('n'))
    await client.create(configMaps, { metadata: { name: 'held', namespace: 'n', finalizers: ['example.com/f'] } })
    await client.delete(namespaces, 'n')
    await cluster.settle()
    expect(namesOf(await client.list(serviceAccounts, { namespace: 'n' }))).toEqual([])
    expect(errors).toEqual([])
  })
})

describe('root CA publisher', () => {
  const name = 'kube-root-ca.crt'

  it('restores the certificate in every namespace after any change', async () => {
    await using cluster = await createTestServer({ rootCA: 'PEM' })
    const { client } = cluster
    const { items } = await client.list(configMaps)
    expect(items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual(
      systemNamespaces.map((each) => `${each}/${name}`),
    )
    expect(items[0]).toMatchObject({ data: { 'ca.crt': 'PEM' } })
    expect(Object.keys(items[0]!.metadata.annotations ?? {})).toEqual(['kubernetes.io/description'])
    expect(items[0]!.metadata.managedFields).toMatchObject([{ manager: 'kube-controller-manager', operation: 'Update' }])
    await client.delete(configMaps, name)
    await client.patch(configMaps, name, { namespace: 'kube-public', type: 'merge', patch: { data: { 'ca.crt': 'other' } } })
    await client.patch(configMaps, name, { namespace: 'kube-system', type: 'merge', patch: { metadata: { annotations: null } } })
    await client.create(namespaces, named('n'))
    await cluster.settle()
    const after = await client.list(configMaps)
    expect(after.items).toHaveLength(5)
    for (const { data, metadata } of after.items) {
      expect(data).toEqual({ 'ca.crt': 'PEM' })
      expect(Object.keys(metadata.annotations ?? {})).toEqual(['kubernetes.io/description'])
    }
  })

  it('publishes nothing without a certificate', async () => {
    await using cluster = base.fork()
    expect(namesOf(await cluster.client.list(configMaps))).toEqual([])
  })
})
