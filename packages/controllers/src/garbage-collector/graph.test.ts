import type { ApiObject, OwnerReference } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { DiscoveredResource } from '../framework/discovery.ts'
import { Graph } from './graph.ts'
import type { Identity, Node } from './node.ts'

const configMaps: DiscoveredResource = {
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
  verbs: new Set(),
  subresources: new Set(),
}

function setup(known: Readonly<Record<string, Identity>> = {}) {
  const considered: string[] = []
  const orphaned: string[] = []
  const misplaced: string[] = []
  const graph = new Graph({
    attemptToDelete: ({ uid }) => considered.push(uid),
    attemptToOrphan: ({ uid }) => orphaned.push(uid),
    lookUp: ({ uid }) => (Object.hasOwn(known, uid) ? known[uid] : undefined),
    wrongNamespace: ({ uid }) => misplaced.push(uid),
  })
  const take = () => considered.splice(0).sort()
  return { graph, take, orphaned, misplaced }
}

function object(uid: string, metadata: Partial<ApiObject['metadata']> = {}): ApiObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: uid, namespace: 'n', uid, ...metadata } }
}

function owner(uid: string, more: Partial<OwnerReference> = {}): OwnerReference {
  return { apiVersion: 'v1', kind: 'ConfigMap', name: uid, uid, ...more }
}

const identity = (name: string, namespace = 'n'): Identity => ({ apiVersion: 'v1', kind: 'ConfigMap', name, namespace })
const going = { deletionTimestamp: '2024-05-01T10:00:00Z' }

describe('Graph', () => {
  it('holds only owners and dependents', () => {
    const { graph, take } = setup({ a: identity('a') })
    graph.update(configMaps, object('lonely'))
    expect(graph.size).toBe(0)
    graph.update(configMaps, object('b', { ownerReferences: [owner('a')] }))
    expect(graph.size).toBe(2)
    expect(take()).toEqual([])
    graph.update(configMaps, object('b'))
    expect(graph.size).toBe(0)
  })

  it('processes the dependents of a deleted object', () => {
    const { graph, take } = setup({ a: identity('a') })
    graph.update(configMaps, object('b', { ownerReferences: [owner('a')] }))
    graph.update(configMaps, object('c', { ownerReferences: [owner('a')] }))
    graph.remove('a')
    expect(take()).toEqual(['b', 'c'])
    graph.remove('b')
    graph.remove('c')
    expect(graph.size).toBe(0)
  })

  it('verifies unknown owners and drops them with their last dependent', () => {
    const { graph, take } = setup()
    graph.update(configMaps, object('b', { ownerReferences: [owner('a')] }))
    expect(take()).toEqual(['a'])
    expect(graph.get('a')?.isVirtual).toBe(true)
    graph.remove('b')
    expect(graph.size).toBe(0)
  })

  it('verifies an absent owner again for later dependents', () => {
    const { graph, take } = setup()
    graph.update(configMaps, object('b', { ownerReferences: [owner('a')] }))
    take()
    graph.removeAbsent(graph.get('a') as Node, identity('a'))
    expect(take()).toEqual(['b'])
    graph.update(configMaps, object('c', { ownerReferences: [owner('a')] }))
    expect(take()).toEqual(['a'])
    graph.remove('b')
    expect(graph.get('a')?.dependents.size).toBe(1)
  })

  it('verifies an owner under all the coordinates of its references', () => {
    const { graph, take } = setup()
    graph.update(configMaps, object('b', { ownerReferences: [owner('a', { name: 'other' })] }))
    graph.update(configMaps, object('c', { namespace: 'elsewhere', ownerReferences: [owner('a')] }))
    graph.update(configMaps, object('d', { ownerReferences: [owner('a')] }))
    take()
    const node = graph.get('a') as Node
    graph.removeAbsent(node, identity('other'))
    expect(take()).toEqual(['a', 'b'])
    expect(node.identity).toEqual(identity('a', 'elsewhere'))
    graph.removeAbsent(node, node.identity)
    expect(take()).toEqual(['a', 'c'])
    graph.update(configMaps, object('a'))
    graph.removeAbsent(node, identity('a'))
    expect(take()).toEqual([])
    graph.remove('a')
    expect(take()).toEqual(['d'])
  })

  it('accepts an owner that is added after its dependents', () => {
    const { graph, take } = setup()
    graph.update(configMaps, object('b', { ownerReferences: [owner('a')] }))
    take()
    graph.update(configMaps, object('a'))
    expect(graph.get('a')?.isVirtual).toBe(false)
    expect(take()).toEqual([])
    graph.remove('a')
    expect(take()).toEqual(['b'])
  })

  it('processes a dependent with wrong owner coordinates', () => {
    const { graph, take } = setup()
    graph.update(configMaps, object('b', { ownerReferences: [owner('a', { name: 'other' })] }))
    graph.update(configMaps, object('c', { namespace: 'elsewhere', ownerReferences: [owner('a')] }))
    take()
    graph.update(configMaps, object('d', { ownerReferences: [owner('a')] }))
    graph.update(configMaps, object('a'))
    expect(take()).toContain('b')
    graph.update(configMaps, object('e', { ownerReferences: [owner('a', { kind: 'Secret' })] }))
    graph.update(configMaps, object('f', { ownerReferences: [owner('a', { apiVersion: 'apps/v1' })] }))
    graph.update(configMaps, object('g', { ownerReferences: [owner('a', { apiVersion: 'v2' })] }))
    expect(take()).toEqual(['e', 'f'])
  })

  it('reports owners in another namespace once they are known', () => {
    const { graph, misplaced } = setup()
    graph.update(configMaps, object('b', { ownerReferences: [owner('a')] }))
    graph.update(configMaps, object('c', { namespace: 'elsewhere', ownerReferences: [owner('a')] }))
    expect(misplaced).toEqual([])
    graph.update(configMaps, object('a'))
    expect(misplaced).toEqual(['c'])
    graph.update(configMaps, object('d', { namespace: 'elsewhere', ownerReferences: [owner('a')] }))
    graph.update(configMaps, object('e', { ownerReferences: [owner('a', { name: 'other' })] }))
    expect(misplaced).toEqual(['c', 'd'])
  })

  it('tracks blocking dependents, and processes the owner when none blocks [P19]', () => {
    const { graph, take } = setup({ a: identity('a') })
    graph.update(configMaps, object('b', { ownerReferences: [owner('a', { blockOwnerDeletion: true })] }))
    graph.update(configMaps, object('c', { ownerReferences: [owner('a')] }))
    graph.update(configMaps, object('a', { ...going, finalizers: ['foregroundDeletion'] }))
    expect(take()).toEqual(['a', 'b', 'c'])
    expect(
      graph
        .get('a')
        ?.blockingDependents()
        .map(({ uid }) => uid),
    ).toEqual(['b'])
    graph.update(configMaps, object('b', { ownerReferences: [owner('a', { blockOwnerDeletion: false })] }))
    expect(take()).toEqual(['a'])
    expect(graph.get('a')?.blockingDependents()).toEqual([])
    graph.remove('c')
    expect(take()).toEqual(['a'])
  })

  it('requests the release of dependents once', () => {
    const { graph, orphaned } = setup({ a: identity('a') })
    graph.update(configMaps, object('b', { ownerReferences: [owner('a')] }))
    const orphaning = object('a', { ...going, finalizers: ['orphan'] })
    graph.update(configMaps, orphaning)
    graph.update(configMaps, orphaning)
    expect(orphaned).toEqual(['a'])
  })

  it('keeps an object in foreground deletion without dependents', () => {
    const { graph, take } = setup()
    graph.update(configMaps, object('a', { ...going, finalizers: ['foregroundDeletion'] }))
    expect(take()).toEqual(['a'])
    expect(graph.size).toBe(1)
    graph.remove('a')
    expect(graph.size).toBe(0)
  })

  it('keeps cycles until they are broken', () => {
    const { graph, take } = setup()
    graph.update(configMaps, object('a', { ownerReferences: [owner('b')] }))
    graph.update(configMaps, object('b', { ownerReferences: [owner('a')] }))
    take()
    graph.remove('a')
    expect(take()).toEqual(['b'])
    graph.remove('b')
    expect(graph.size).toBe(0)
  })

  it('handles names of inherited object members', () => {
    const { graph, take } = setup()
    graph.update(configMaps, object('__proto__', { ownerReferences: [owner('constructor')] }))
    expect(take()).toEqual(['constructor'])
    graph.remove('__proto__')
    expect(graph.size).toBe(0)
  })
})
