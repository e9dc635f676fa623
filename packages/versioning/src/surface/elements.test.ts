import { describe, expect, it } from 'vitest'
import { compareSurfaces } from './compare-surfaces.ts'
import { parseCalendar, surfaceOfElements, surfaceOfMetrics } from './elements.ts'

const list = (...elements: object[]) => ({ kind: 'ElementList', elements })

describe('surfaceOfElements', () => {
  it('parses names, kinds and lifecycles', () => {
    const flag = { name: '--insecure-port', element: 'adminCommand', stability: 'stable', deprecated: 'v1.20.3', warns: true }
    expect(surfaceOfElements({ ...list(flag), release: '1.20' }, 'flags.yaml')).toEqual({
      name: 'flags.yaml',
      release: '1.20',
      kinds: [],
      elements: [{ ...flag, deprecated: '1.20' }],
    })
  })

  it.each([
    [{ kind: 'ElementList' }, 'a: a list of elements has the member elements'],
    [list({}), 'a: elements[0].name must be a text'],
    [list({ name: 'x', element: 'flag' }), 'a: elements[0].element must be one of userCommand, adminCommand'],
    [list({ name: 'x', element: 'metric', stability: 'ga' }), 'a: elements[0].stability must be one of alpha, beta, stable'],
    [list({ name: 'x', element: 'metric', stability: 'beta', deprecated: 1.3 }), 'deprecated must be a quoted release'],
    [list({ name: 'x', removed: '1.2' }), 'a: elements[0]: unknown member "removed"'],
  ])('rejects %j', (document, message) => {
    expect(() => surfaceOfElements(document, 'a')).toThrow(message)
  })
})

describe('surfaceOfMetrics', () => {
  it('parses the stability of metrics and the stages of feature gates', () => {
    const text = `# HELP a_total [STABLE] Requests.
# TYPE a_total counter
a_total{code="200"} 1
# HELP b_total [ALPHA] (Deprecated since 1.30.0) Others.
# HELP go_info Without stability.
kubernetes_feature_enabled{name="A",stage="BETA"} 1
kubernetes_feature_enabled{name="B",stage=""} 1
kubernetes_feature_enabled{name="C",stage="DEPRECATED"} 0
`
    expect(surfaceOfMetrics(text, 'm').elements).toEqual([
      { name: 'a_total', element: 'metric', stability: 'stable' },
      { name: 'b_total', element: 'metric', stability: 'alpha', deprecated: '1.30' },
      { name: 'A', element: 'graduatedGate', stability: 'beta' },
      { name: 'B', element: 'graduatedGate', stability: 'stable' },
      { name: 'C', element: 'abandonedGate', stability: 'beta' },
    ])
  })
})

describe('parseCalendar', () => {
  const flag = { name: '--a', element: 'adminCommand', stability: 'stable', deprecated: '1.30' }
  const before = { ...surfaceOfElements(list(flag), 'old'), release: '1.30' }
  const after = { ...surfaceOfElements(list(), 'new'), release: '1.31' }
  const rules = (calendar: object) =>
    compareSurfaces(before, after, { calendar: parseCalendar(calendar) }).flatMap(({ rule = [] }) => rule)

  it('provides release dates to the rules with periods in months [P332]', () => {
    expect(rules({})).toEqual(['5b'])
    expect(rules({ '1.30': '2024-01-01', '1.31': '2024-08-01' })).toEqual([])
    expect(rules({ '1.30': '2024-01-01', '1.31': '2024-03-01' })).toEqual(['5b'])
  })

  it.each([[[]], [{ '1.30': 'soon' }], [{ '1.30': 20 }], [{ next: '2024-01-01' }]])('rejects %j', (calendar) => {
    expect(() => parseCalendar(calendar)).toThrow('calendar')
  })
})
