import { stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { desiredTaints, type Node, type Taint } from './desired-taints.ts'

const now = '2024-01-01T00:00:00Z'
const taint = (name: string, effect = 'NoSchedule'): Taint => ({ key: `node.kubernetes.io/${name}`, effect })
const node = (conditions: Record<string, string>, taints: Taint[] = [], unschedulable = false): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n' },
  spec: { taints, unschedulable },
  status: { conditions: Object.entries(conditions).map(([type, status]) => ({ type, status })) },
})
const wanted = (...given: Parameters<typeof node>) => desiredTaints(node(...given), stockProfile, now)

describe('desiredTaints', () => {
  it('keeps a new node not ready until it reports readiness [P293]', () => {
    expect(wanted({}, [taint('not-ready')])).toBeUndefined()
    expect(wanted({ Ready: 'True' }, [taint('not-ready')])).toEqual([])
    expect(wanted({})).toBeUndefined()
  })

  it('follows readiness, including eviction of running pods', () => {
    const unready = [taint('not-ready'), { ...taint('not-ready', 'NoExecute'), timeAdded: now }]
    expect(wanted({ Ready: 'False' })).toEqual(unready)
    expect(wanted({ Ready: 'False' }, unready)).toBeUndefined()
    expect(wanted({ Ready: 'Unknown' }, unready)).toEqual([
      taint('unreachable'),
      { ...taint('unreachable', 'NoExecute'), timeAdded: now },
    ])
    expect(wanted({ Ready: 'True' }, unready)).toEqual([])
  })

  it('follows pressure and unschedulable, and keeps other taints', () => {
    const own: Taint = { key: 'own', effect: 'NoExecute' }
    const all = wanted(
      { Ready: 'True', MemoryPressure: 'True', DiskPressure: 'True', PIDPressure: 'True', NetworkUnavailable: 'True' },
      [own],
      true,
    )
    expect(all?.map(({ key }) => key)).toEqual([
      'own',
      ...['memory-pressure', 'disk-pressure', 'pid-pressure', 'network-unavailable', 'unschedulable'].map(
        (name) => `node.kubernetes.io/${name}`,
      ),
    ])
    expect(wanted({ Ready: 'True' }, all)).toEqual([own])
    const odd = taint('memory-pressure', 'PreferNoSchedule')
    expect(wanted({ Ready: 'True', constructor: 'x' }, [odd])).toBeUndefined()
  })
})
