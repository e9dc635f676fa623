import { runControllers } from '@krmkit/controllers'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { configMaps, type Namespace, namesOf, namespaces, pods, secrets, serviceAccounts } from '../resources.fixture.ts'
import { createTestServer } from '../test-server.ts'

const inside = { namespace: 'n' }
const seed: ApiObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'plain', namespace: 'n' } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'held', namespace: 'n', finalizers: ['example.com/f'] } },
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'plain', namespace: 'n' } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'elsewhere' } },
]

function reasons({ status = {} }: Namespace): Record<string, string | undefined> {
  return Object.fromEntries((status.conditions ?? []).map(({ type, reason }) => [type, reason]))
}

describe('namespace controller', () => {
  it('deletes the content of a namespace, and nothing else [P9] [P128]', async () => {
    await using cluster = await createTestServer({ seed: seed.filter(({ metadata }) => metadata.name !== 'held') })
    const { client } = cluster
    await client.delete(namespaces, 'n')
    await cluster.settle()
    await expect(client.get(namespaces, 'n')).rejects.toMatchObject({ reason: 'NotFound' })
    expect(namesOf(await client.list(configMaps))).toEqual(['elsewhere'])
    expect(namesOf(await client.list(secrets))).toEqual([])
    expect(namesOf(await client.list(serviceAccounts, inside))).toEqual([])
    // The name can be used again.
    await client.create(namespaces, { metadata: { name: 'n' } })
    await cluster.settle()
    expect(namesOf(await client.list(serviceAccounts, inside))).toEqual(['default'])
  })

  it('waits for objects with finalizers, and reports them [P128]', async () => {
    await using cluster = await createTestServer({ seed })
    const { client } = cluster
    await client.delete(namespaces, 'n')
    await cluster.settle()
    const held = await client.get(configMaps, 'held', inside)
    expect(held.metadata.deletionTimestamp).toBeDefined()
    expect(namesOf(await client.list(configMaps, inside))).toEqual(['held'])
    const waiting = await client.get(namespaces, 'n')
    expect(waiting.status?.phase).toBe('Terminating')
    expect(reasons(waiting)).toEqual({
      NamespaceDeletionDiscoveryFailure: 'ResourcesDiscovered',
      NamespaceDeletionGroupVersionParsingFailure: 'ParsedGroupVersions',
      NamespaceDeletionContentFailure: 'ContentDeleted',
      NamespaceContentRemaining: 'SomeResourcesRemain',
      NamespaceFinalizersRemaining: 'SomeFinalizersRemain',
    })
    // The deletion of the last object ends the wait, without polling.
    cluster.ledger.clear()
    await cluster.clock.advance({ hours: 25 })
    expect(cluster.ledger.count({ controllers: true, verb: ['update', 'deletecollection', 'delete'] })).toBe(0)
    await client.patch(configMaps, 'held', { ...inside, type: 'merge', patch: { metadata: { finalizers: null } } })
    await cluster.settle()
    await expect(client.get(namespaces, 'n')).rejects.toMatchObject({ reason: 'NotFound' })
  })

  it('keeps other finalizers of a namespace', async () => {
    await using cluster = await createTestServer()
    const { client } = cluster
    await client.create(namespaces, { metadata: { name: 'n' }, spec: { finalizers: ['example.com/f'] } })
    await client.delete(namespaces, 'n')
    await cluster.settle()
    expect(await client.get(namespaces, 'n')).toMatchObject({ spec: { finalizers: ['example.com/f'] } })
  })

  it('deletes pods before other objects', async () => {
    const pod = (name: string, finalizers: string[]): ApiObject => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'n', finalizers },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    })
    await using cluster = await createTestServer({ seed: [...seed, pod('last', ['example.com/f']), pod('first', [])] })
    const { client } = cluster
    await client.delete(namespaces, 'n')
    await cluster.settle()
    expect(namesOf(await client.list(pods, inside))).toEqual(['last'])
    expect(namesOf(await client.list(secrets, inside))).toEqual(['plain'])
    await client.patch(pods, 'last', { ...inside, type: 'merge', patch: { metadata: { finalizers: null } } })
    await cluster.settle()
    expect(namesOf(await client.list(secrets, inside))).toEqual([])
  })

  it('retries failed deletions and reports them', async () => {
    const errors: unknown[] = []
    await using cluster = await createTestServer({ seed: seed.slice(0, 2), onError: (error) => errors.push(error) })
    const { client, faults, clock } = cluster
    const user = 'system:kube-controller-manager'
    faults.next({ user, verb: 'deletecollection', resource: 'configmaps' }, { fail: 500, message: 'not now' }, { times: 4 })
    await client.delete(namespaces, 'n')
    await cluster.settle()
    const stuck = await client.get(namespaces, 'n')
    expect(reasons(stuck).NamespaceDeletionContentFailure).toBe('ContentDeletionFailed')
    expect(errors[0]).toMatchObject({ code: 'NotEmptied', message: expect.stringContaining('configmaps: not now') })
    await clock.advance({ minutes: 1 })
    await expect(client.get(namespaces, 'n')).rejects.toMatchObject({ reason: 'NotFound' })
  })

  it('processes namespaces that were terminating before its start', async () => {
    await using cluster = await createTestServer({ seed, controllers: [] })
    await cluster.client.delete(namespaces, 'n')
    await cluster.settle()
    expect(namesOf(await cluster.client.list(configMaps, inside))).toEqual(['held', 'plain'])
    await using running = runControllers({ client: cluster.client, clock: cluster.clock, controllers: ['namespace-controller'] })
    await running.settled()
    expect(namesOf(await cluster.client.list(configMaps, inside))).toEqual(['held'])
  })
})
