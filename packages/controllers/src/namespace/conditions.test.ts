import { describe, expect, it } from 'vitest'
import { type DeletionObstacles, type NamespaceCondition, namespaceConditions } from './conditions.ts'

const none: DeletionObstacles = { discovery: [], parsing: [], deletion: [], remaining: [], finalizers: new Map() }
const now = Date.UTC(2024, 4, 1, 10)
const short = (conditions: readonly NamespaceCondition[]) => conditions.map(({ type, status, reason }) => [type, status, reason])

describe('namespaceConditions', () => {
  it('reports all conditions without obstacles', () => {
    expect(short(namespaceConditions([], none, now))).toEqual([
      ['NamespaceDeletionDiscoveryFailure', 'False', 'ResourcesDiscovered'],
      ['NamespaceDeletionGroupVersionParsingFailure', 'False', 'ParsedGroupVersions'],
      ['NamespaceDeletionContentFailure', 'False', 'ContentDeleted'],
      ['NamespaceContentRemaining', 'False', 'ContentRemoved'],
      ['NamespaceFinalizersRemaining', 'False', 'ContentHasNoFinalizers'],
    ])
  })

  it('reports all obstacles', () => {
    const obstacles: DeletionObstacles = {
      discovery: ['b.example.com/v1: down'],
      parsing: ['x/y/z'],
      deletion: ['pods: refused'],
      remaining: [
        { resource: { group: '', resource: 'pods' }, count: 2 },
        { resource: { group: 'apps', resource: 'deployments' }, count: 1 },
      ],
      finalizers: new Map([['example.com/f', 2]]),
    }
    const conditions = namespaceConditions([], obstacles, now)
    expect(short(conditions)).toEqual([
      ['NamespaceDeletionDiscoveryFailure', 'True', 'DiscoveryFailed'],
      ['NamespaceDeletionGroupVersionParsingFailure', 'True', 'GroupVersionParsingFailed'],
      ['NamespaceDeletionContentFailure', 'True', 'ContentDeletionFailed'],
      ['NamespaceContentRemaining', 'True', 'SomeResourcesRemain'],
      ['NamespaceFinalizersRemaining', 'True', 'SomeFinalizersRemain'],
    ])
    expect(conditions[3]!.message).toContain(
      'Some resources are remaining: deployments.apps has 1 resource instances, pods. has 2 resource instances',
    )
    expect(conditions[3]!.lastTransitionTime).toBe('2024-05-01T10:00:00Z')
  })

  it('keeps unchanged conditions, including their time', () => {
    const before = namespaceConditions([], none, now)
    expect(namespaceConditions(before, none, now + 5000)).toBe(before)
  })

  it('keeps the time when only the message changes, and other conditions', () => {
    const other: NamespaceCondition = { type: 'Other', status: 'True' }
    const remaining = (count: number): DeletionObstacles => ({
      ...none,
      remaining: [{ resource: { group: '', resource: 'pods' }, count }],
    })
    const before = namespaceConditions([other], remaining(2), now)
    const after = namespaceConditions(before, remaining(1), now + 5000)
    expect(after[0]).toBe(other)
    const content = after.find(({ type }) => type === 'NamespaceContentRemaining')!
    expect(content.message).toContain('pods. has 1 resource instances')
    expect(content.lastTransitionTime).toBe('2024-05-01T10:00:00Z')
    const done = namespaceConditions(after, none, now + 9000).find(({ type }) => type === 'NamespaceContentRemaining')!
    expect(done.lastTransitionTime).toBe('2024-05-01T10:00:09Z')
  })
})
