import type { Client } from '@krmkit/client'
import { runControllers } from '@krmkit/controllers'
import { ApiError, type OwnerReference } from '@krmkit/meta'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestServer } from '../interfaces.ts'
import { configMaps, namesOf, namespaces, secrets } from '../resources.fixture.ts'
import { createTestServer } from '../test-server.ts'

const absentUid = '11111111-2222-3333-4444-555555555555'

interface Making {
  readonly owners?: readonly OwnerReference[]
  readonly namespace?: string
  readonly finalizers?: string[]
}

/** Creates an object. @returns an owner reference to it */
async function make(client: Client, name: string, { owners = [], ...metadata }: Making = {}): Promise<OwnerReference> {
  const made = await client.create(configMaps, { metadata: { name, ...metadata, ownerReferences: [...owners] } })
  return { apiVersion: 'v1', kind: 'ConfigMap', name, uid: made.metadata.uid! }
}

async function exists(client: Client, name: string, namespace = 'default'): Promise<boolean> {
  try {
    await client.get(configMaps, name, { namespace })
    return true
  } catch (error) {
    if (ApiError.is(error) && error.reason === 'NotFound') return false
    throw error
  }
}

let base: TestServer

beforeAll(async () => {
  base = await createTestServer()
})
afterAll(() => base.close())

describe('garbage collector', () => {
  it('deletes dependents after their owner in the background, transitively [P166]', async () => {
    await using cluster = base.fork()
    const { client } = cluster
    const top = await make(client, 'top')
    const middle = await make(client, 'middle', { owners: [top] })
    await make(client, 'leaf', { owners: [middle] })
    await make(client, 'other')
    await cluster.settle()
    expect(namesOf(await client.list(configMaps))).toHaveLength(4)
    await client.delete(configMaps, 'top', { propagationPolicy: 'Background' })
    expect(await exists(client, 'top')).toBe(false)
    await cluster.settle()
    expect(namesOf(await client.list(configMaps))).toEqual(['other'])
  })

  it('deletes blocking dependents before their owner in the foreground [P166]', async () => {
    await using cluster = base.fork()
    const { client } = cluster
    const owner = await make(client, 'owner')
    await make(client, 'blocks', { owners: [{ ...owner, blockOwnerDeletion: true }], finalizers: ['example.com/hold'] })
    await make(client, 'free', { owners: [{ ...owner, blockOwnerDeletion: true }] })
    await client.delete(configMaps, 'owner', { propagationPolicy: 'Foreground' })
    await cluster.settle()
    const waiting = await client.get(configMaps, 'owner')
    expect(waiting.metadata).toMatchObject({ finalizers: ['foregroundDeletion'], deletionGracePeriodSeconds: 0 })
    expect((await client.get(configMaps, 'blocks')).metadata.deletionTimestamp).toBeDefined()
    expect(await exists(client, 'free')).toBe(false)
    await client.patch(configMaps, 'blocks', { type: 'merge', patch: { metadata: { finalizers: null } } })
    await cluster.settle()
    expect(namesOf(await client.list(configMaps))).toEqual([])
  })

  it('does not wait for a non-blocking dependent in the foreground [P19]', async () => {
    await using cluster = base.fork()
    const { client } = cluster
    const owner = await make(client, 'owner')
    await make(client, 'slow', { owners: [owner], finalizers: ['example.com/hold'] })
    await client.delete(configMaps, 'owner', { propagationPolicy: 'Foreground' })
    await cluster.settle()
    expect(namesOf(await client.list(configMaps))).toEqual(['slow'])
    expect((await client.get(configMaps, 'slow')).metadata.deletionTimestamp).toBeDefined()
  })

  it('deletes an owner in the foreground when its dependent no longer blocks [P19]', async () => {
    await using cluster = base.fork()
    const { client } = cluster
    const owner = await make(client, 'owner')
    const blocking = { ...owner, blockOwnerDeletion: true }
    await make(client, 'blocks', { owners: [blocking], finalizers: ['example.com/hold'] })
    await client.delete(configMaps, 'owner', { propagationPolicy: 'Foreground' })
    await cluster.settle()
    const ownerReferences = [{ ...blocking, blockOwnerDeletion: false }]
    await client.patch(configMaps, 'blocks', { type: 'merge', patch: { metadata: { ownerReferences } } })
    await cluster.settle()
    expect(namesOf(await client.list(configMaps))).toEqual(['blocks'])
  })

  it('deletes a chain in the foreground from its end [P166]', async () => {
    await using cluster = base.fork()
    const { client } = cluster
    const blocked = (owner: OwnerReference) => ({ ...owner, blockOwnerDeletion: true })
    const top = await make(client, 'top')
    const middle = await make(client, 'middle', { owners: [blocked(top)] })
    await make(client, 'leaf', { owners: [blocked(middle)], finalizers: ['example.com/hold'] })
    await client.delete(configMaps, 'top', { propagationPolicy: 'Foreground' })
    await cluster.settle()
    const finalizers = (await client.list(configMaps)).items.map(({ metadata }) => metadata.finalizers)
    expect(finalizers).toEqual([['example.com/hold'], ['foregroundDeletion'], ['foregroundDeletion']])
    await client.patch(configMaps, 'leaf', { type: 'merge', patch: { metadata: { finalizers: null } } })
    await cluster.settle()
    expect(namesOf(await client.list(configMaps))).toEqual([])
  })

  it('keeps orphaned dependents without the reference [P166]', async () => {
    await using cluster = base.fork()
    const { client } = cluster
    const owner = await make(client, 'owner')
    const other = await make(client, 'other')
    await make(client, 'one', { owners: [owner] })
    await make(client, 'two', { owners: [other, owner] })
    await client.delete(configMaps, 'owner', { propagationPolicy: 'Orphan' })
    await cluster.settle()
    expect(namesOf(await client.list(configMaps))).toEqual(['one', 'other', 'two'])
    expect((await client.get(configMaps, 'one')).metadata.ownerReferences).toBeUndefined()
    expect((await client.get(configMaps, 'two')).metadata.ownerReferences).toMatchObject([{ name: 'other' }])
  })

  it('completes deletions that began before its start [P166]', async () => {
    await using cluster = await createTestServer({ controllers: ['-garbage-collector-controller', '*'] })
    const { client } = cluster
    const owner = await make(client, 'owner')
    await make(client, 'kept', { owners: [owner] })
    await client.delete(configMaps, 'owner', { propagationPolicy: 'Orphan' })
    await cluster.settle()
    expect(namesOf(await client.list(configMaps))).toEqual(['kept', 'owner'])
    await using running = runControllers({ client, clock: cluster.clock, controllers: ['garbage-collector-controller'] })
    await running.settled()
    expect(namesOf(await client.list(configMaps))).toEqual(['kept'])
    expect((await client.get(configMaps, 'kept')).metadata.ownerReferences).toBeUndefined()
  })

  it.each([
    ['does not exist', { name: 'nobody', uid: absentUid }],
    ['is another one of that name', { name: 'owner', uid: absentUid }],
  ])('deletes an object whose owner %s', async (_, reference) => {
    await using cluster = base.fork()
    const { client } = cluster
    await make(client, 'owner')
    await make(client, 'owned', { owners: [{ apiVersion: 'v1', kind: 'ConfigMap', ...reference }] })
    await cluster.settle()
    expect(namesOf(await client.list(configMaps))).toEqual(['owner'])
  })

  it('deletes an object whose owner reference has a wrong kind, name or namespace', async () => {
    await using cluster = base.fork()
    const { client } = cluster
    await client.create(namespaces, { metadata: { name: 'n' } })
    const owner = await make(client, 'owner')
    await make(client, 'right', { owners: [owner] })
    await make(client, 'kind', { owners: [{ ...owner, kind: 'Secret' }] })
    await make(client, 'name', { owners: [{ ...owner, name: 'other' }] })
    await make(client, 'place', { owners: [owner], namespace: 'n' })
    await cluster.settle()
    expect(namesOf(await client.list(configMaps))).toEqual(['owner', 'right'])
  })

  it('deletes dependents that are created while others of the same absent owner are deleted', async () => {
    await using cluster = base.fork()
    const { client } = cluster
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'absent', uid: absentUid }
    for (let i = 0; i < 40; i++) {
      await make(client, `dependent-${i}`, { owners: [owner] })
      await new Promise((resolve) => setImmediate(resolve))
    }
    await cluster.settle()
    expect(namesOf(await client.list(configMaps))).toEqual([])
  })

  it('keeps an object with a remaining owner, and removes other references', async () => {
    await using cluster = base.fork()
    const { client } = cluster
    const a = await make(client, 'a')
    const b = await make(client, 'b')
    await make(client, 'owned', { owners: [a, b] })
    await client.delete(configMaps, 'a')
    await cluster.settle()
    expect((await client.get(configMaps, 'owned')).metadata.ownerReferences).toMatchObject([{ name: 'b' }])
    await client.delete(configMaps, 'b')
    await cluster.settle()
    expect(namesOf(await client.list(configMaps))).toEqual([])
  })

  it('works across kinds, and allows cluster-scoped owners of namespaced objects', async () => {
    await using cluster = base.fork()
    const { client } = cluster
    const owner = await client.create(namespaces, { metadata: { name: 'owner' } })
    const reference = { apiVersion: 'v1', kind: 'Namespace', name: 'owner', uid: owner.metadata.uid! }
    await client.create(secrets, { metadata: { name: 's', ownerReferences: [reference] } })
    await cluster.settle()
    expect(namesOf(await client.list(secrets))).toEqual(['s'])
    await client.delete(namespaces, 'owner')
    await cluster.settle()
    expect(namesOf(await client.list(secrets))).toEqual([])
  })

  it('ignores a cluster-scoped object with a namespaced owner', async () => {
    await using cluster = base.fork()
    const { client } = cluster
    const owner = await make(client, 'owner')
    await client.create(namespaces, { metadata: { name: 'owned', ownerReferences: [owner] } })
    await client.delete(configMaps, 'owner')
    await cluster.settle()
    expect((await client.get(namespaces, 'owned')).metadata.deletionTimestamp).toBeUndefined()
  })

  it('ignores an object whose owner is of an unserved kind', async () => {
    const errors: unknown[] = []
    await using cluster = await createTestServer({ onError: (error) => errors.push(error) })
    const { client } = cluster
    await make(client, 'owned', { owners: [{ apiVersion: 'gone.example.com/v1', kind: 'Gone', name: 'g', uid: absentUid }] })
    await cluster.settle()
    await cluster.clock.advance({ minutes: 1 })
    expect(namesOf(await client.list(configMaps))).toEqual(['owned'])
    expect(errors[0]).toMatchObject({ code: 'UnknownKind' })
  })

  it('deletes a cycle in the foreground', async () => {
    await using cluster = base.fork()
    const { client } = cluster
    const a = await make(client, 'a')
    const b = await make(client, 'b', { owners: [{ ...a, blockOwnerDeletion: true }] })
    const ownerReferences = [{ ...b, blockOwnerDeletion: true }]
    await client.patch(configMaps, 'a', { type: 'merge', patch: { metadata: { ownerReferences } } })
    await cluster.settle()
    expect(namesOf(await client.list(configMaps))).toEqual(['a', 'b'])
    await client.delete(configMaps, 'a', { propagationPolicy: 'Foreground' })
    await cluster.settle()
    expect(namesOf(await client.list(configMaps))).toEqual([])
  })

  it('tolerates concurrent writers', async () => {
    await using cluster = base.fork()
    const { client, faults } = cluster
    const a = await make(client, 'a')
    const b = await make(client, 'b')
    await make(client, 'owned', { owners: [a, b] })
    const patching = { user: 'system:kube-controller-manager', verb: 'patch', resource: 'configmaps' }
    faults.next(patching, { fail: 409, reason: 'Conflict' }, { times: 2 })
    await client.delete(configMaps, 'a')
    await cluster.settle()
    expect((await client.get(configMaps, 'owned')).metadata.ownerReferences).toMatchObject([{ name: 'b' }])
    expect(faults.pending).toBe(0)
  })

  it('deletes many objects at once', async () => {
    await using cluster = base.fork()
    const { client } = cluster
    const owner = await make(client, 'owner')
    for (let i = 0; i < 200; i++) await make(client, `owned-${i}`, { owners: [owner] })
    await client.delete(configMaps, 'owner')
    await cluster.settle()
    expect(namesOf(await client.list(configMaps))).toEqual([])
  })
})
