import { describe, expect, it } from 'vitest'
import { matchesNode, tolerates, untoleratedTaint } from './node-selection.ts'
import type { Node, NodeSelectorRequirement } from './objects.ts'

const node: Node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node-1', labels: { zone: 'a', cores: '8' } },
}

describe('matchesNode', () => {
  const matches = (requirement: NodeSelectorRequirement, member: 'matchExpressions' | 'matchFields' = 'matchExpressions') => {
    const nodeSelectorTerms = [{ [member]: [requirement] }]
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } }
    return matchesNode({ affinity: { nodeAffinity } }, node)
  }

  it.each([
    ['zone', 'In', ['a', 'b'], true],
    ['zone', 'In', ['b'], false],
    ['zone', 'NotIn', ['b'], true],
    ['disk', 'NotIn', ['b'], true],
    ['zone', 'Exists', [], true],
    ['disk', 'Exists', [], false],
    ['disk', 'DoesNotExist', [], true],
    ['cores', 'Gt', ['7'], true],
    ['cores', 'Gt', ['8'], false],
    ['cores', 'Lt', ['9'], true],
    ['zone', 'Gt', ['1'], false],
  ])('%s %s %j', (key, operator, values, expected) => {
    expect(matches({ key, operator, values })).toBe(expected)
  })

  it('matches the name as a field', () => {
    expect(matches({ key: 'metadata.name', operator: 'In', values: ['node-1'] }, 'matchFields')).toBe(true)
    expect(matches({ key: 'metadata.name', operator: 'In', values: ['node-2'] }, 'matchFields')).toBe(false)
  })

  it('matches any term, and no node with an empty term', () => {
    const terms = (...nodeSelectorTerms: object[]) =>
      matchesNode({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } }, node)
    const term = { matchExpressions: [{ key: 'zone', operator: 'Exists' }] }
    expect([terms({}), terms({}, term), terms()]).toEqual([false, true, false])
  })

  it('requires the labels of the node selector', () => {
    expect(matchesNode({ nodeSelector: { zone: 'a' } }, node)).toBe(true)
    expect(matchesNode({ nodeSelector: { zone: 'a', disk: 'ssd' } }, node)).toBe(false)
  })
})

describe('tolerations', () => {
  const taint = { key: 'dedicated', value: 'db', effect: 'NoSchedule' }

  it.each([
    [{ key: 'dedicated', value: 'db' }, true],
    [{ key: 'dedicated', value: 'web' }, false],
    [{ key: 'dedicated', operator: 'Exists' }, true],
    [{ operator: 'Exists' }, true],
    [{ key: 'dedicated', operator: 'Exists', effect: 'NoExecute' }, false],
    [{ key: 'other', operator: 'Exists' }, false],
  ])('%j covers the taint: %s', (toleration, expected) => {
    expect(tolerates(toleration, taint)).toBe(expected)
  })

  it('finds the first taint that is not tolerated', () => {
    const other = { key: 'gpu', effect: 'NoExecute' }
    const tolerations = [{ key: 'dedicated', operator: 'Exists' }]
    expect(untoleratedTaint([taint, other], tolerations, ['NoSchedule', 'NoExecute'])).toEqual(other)
    expect(untoleratedTaint([taint, other], tolerations, ['NoSchedule'])).toBeUndefined()
  })
})
