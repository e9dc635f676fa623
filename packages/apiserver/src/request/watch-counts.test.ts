import { describe, expect, it } from 'vitest'
import { WatchCounts } from './watch-counts.ts'

const pods = (namespace = '', name = '') => ({ group: '', resource: 'pods', namespace, name })

describe('watches affected by a write', () => {
  it('include watches of all objects, of the namespace and of the object', () => {
    const counts = new WatchCounts()
    const ends = [pods(), pods('a'), pods('b'), pods('a', 'x'), pods('a', 'y')].map((scope) => counts.register(scope))
    expect([counts.of(pods('a', 'x')), counts.of(pods('a')), counts.of(pods('b', 'x')), counts.of(pods('c', 'x'))]).toEqual([
      3, 2, 2, 1,
    ])
    expect(counts.of({ group: 'apps', resource: 'pods', namespace: 'a', name: 'x' })).toBe(0)
    for (const end of ends) {
      end()
      end()
    }
    expect(counts.of(pods('a', 'x'))).toBe(0)
  })

  it('include watches of all objects and of the object for cluster-scoped resources', () => {
    const counts = new WatchCounts()
    counts.register({ group: '', resource: 'nodes', namespace: '', name: '' })
    counts.register({ group: '', resource: 'nodes', namespace: '', name: 'n' })
    expect(counts.of({ group: '', resource: 'nodes', namespace: '', name: 'n' })).toBe(2)
    expect(counts.of({ group: '', resource: 'nodes', namespace: '', name: 'm' })).toBe(1)
  })
})
