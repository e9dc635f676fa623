import { readLifecycle } from '@krmkit/kinds'
import { describe, expect, it } from 'vitest'
import { validateApiPlan, validateElementLifecycle } from './deprecation-rules.ts'
import type { ApiPlan, ApiVersionLifecycle, ElementLifecycle } from './interfaces.ts'
import { kindApiPlan } from './kind-lifecycle.ts'

const violatedRules = (plan: ApiPlan) => validateApiPlan(plan).map(({ rule }) => rule)
const lifecycle = (version: string, rest: Partial<ApiVersionLifecycle> = {}): ApiVersionLifecycle => ({
  version,
  introduced: '1.20',
  ...rest,
})

describe('validateApiPlan', () => {
  it('rule 1: rejects the removal of parts of beta and stable versions [P332]', () => {
    expect(violatedRules({ versions: [lifecycle('v1', { drops: ['spec.size', 'spec.name'] })] })).toEqual(['1', '1'])
    expect(violatedRules({ versions: [lifecycle('v1beta1', { drops: ['spec.size'] })] })).toEqual(['1'])
    expect(violatedRules({ versions: [lifecycle('v1alpha1', { drops: ['spec.size'] })] })).toEqual([])
  })

  it('rule 3: rejects a less stable replacement [P332]', () => {
    const deprecated = (version: string, replacement: string) =>
      violatedRules({ versions: [lifecycle(version, { deprecated: '1.22', replacement })] })
    expect(deprecated('v1', 'v2beta1')).toEqual(['3'])
    expect(deprecated('v1beta1', 'v1alpha2')).toEqual(['3'])
    expect(deprecated('v1beta1', 'v1beta2')).toEqual([])
    expect(deprecated('v1', 'v2')).toEqual([])
  })

  it.each([
    ['v1', '1.22', '1.40', ['4a']],
    ['v1', '1.22', '2.0', []],
    ['v1beta1', undefined, '1.40', ['4a']],
    ['v1beta1', '1.22', '1.24', ['4a']],
    ['v1beta1', '1.22', '1.25', []],
    ['v1alpha1', undefined, '1.21', []],
  ] as const)('rule 4a: %s, deprecated in %s, removed in %s: %j [P332]', (version, deprecated, removed, rules) => {
    expect(
      violatedRules({ versions: [lifecycle(version, { ...(deprecated === undefined ? {} : { deprecated }), removed })] }),
    ).toEqual(rules)
  })

  it('rule 4a: requires nine months even for three quick releases [P332]', () => {
    const plan = { versions: [lifecycle('v1beta1', { deprecated: '1.22', removed: '1.25' })] }
    const quick = { '1.22': '2030-01-01', '1.25': '2030-09-01' }
    expect(validateApiPlan(plan, { calendar: quick })).toMatchObject([{ rule: '4a', subject: 'v1beta1' }])
    expect(validateApiPlan(plan, { calendar: { ...quick, '1.25': '2030-10-15' } })).toEqual([])
  })

  it('rule 4b: requires a release with both versions before the preferred version changes [P332]', () => {
    const versions = [lifecycle('v1beta1', { deprecated: '1.23', removed: '1.26' }), lifecycle('v1', { introduced: '1.23' })]
    const advance = (release: string) =>
      violatedRules({
        versions,
        advances: [
          { release: '1.20', version: 'v1beta1' },
          { release, version: 'v1' },
        ],
      })
    expect(advance('1.23')).toEqual(['4b'])
    expect(advance('1.24')).toEqual([])
    const apart = [lifecycle('v1alpha1', { removed: '1.22' }), lifecycle('v1', { introduced: '1.22' })]
    const advances = [
      { release: '1.20', version: 'v1alpha1' },
      { release: '1.24', version: 'v1' },
    ]
    expect(violatedRules({ versions: apart, advances })).toEqual(['4b'])
  })

  it('rule 6: requires warnings for deprecated versions [P333]', () => {
    expect(violatedRules({ versions: [lifecycle('v1', { deprecated: '1.22', warns: false })] })).toEqual(['6'])
    expect(violatedRules({ versions: [lifecycle('v1', { warns: false })] })).toEqual([])
  })

  it('accepts the recorded lifecycles of all built-in kinds [P332]', () => {
    const lifecycles = readLifecycle()
    const kinds = new Map(lifecycles.map(({ group, kind }) => [`${group}/${kind}`, { group, kind }]))
    expect(kinds.size).toBeGreaterThan(60)
    for (const [name, { group, kind }] of kinds) expect(validateApiPlan(kindApiPlan(lifecycles, group, kind)), name).toEqual([])
  })

  it.each([
    [{ versions: [lifecycle('v1', { deprecated: '1.19' })] }, 'InvalidLifecycle'],
    [{ versions: [lifecycle('latest')] }, 'InvalidLifecycle'],
    [{ versions: [lifecycle('v1', { removed: 'soon' })] }, 'InvalidRelease'],
    [{ versions: [], advances: [{ release: '1.20', version: 'v1' }] }, 'InvalidLifecycle'],
  ])('rejects %j', (plan, code) => {
    expect(() => validateApiPlan(plan)).toThrow(expect.objectContaining({ code }))
  })
})

describe('validateElementLifecycle', () => {
  const rules = (given: ElementLifecycle, calendar = {}) => validateElementLifecycle(given, { calendar }).map(({ rule }) => rule)
  const going = (element: ElementLifecycle['element'], stability: ElementLifecycle['stability'], releases: number) =>
    rules({ element, stability, deprecated: '1.20', removed: `1.${20 + releases}` })

  it.each([
    ['userCommand', 'stable', '5a', 3],
    ['userCommand', 'beta', '5a', 1],
    ['adminCommand', 'stable', '5b', 2],
    ['adminCommand', 'beta', '5b', 1],
    ['behavior', 'stable', '7', 3],
    ['graduatedGate', 'beta', '8', 2],
    ['abandonedGate', 'beta', '8', 1],
    ['metric', 'stable', '9b', 3],
  ] as const)('%s, %s: rule %s requires %d releases of four months [P332]', (element, stability, rule, releases) => {
    expect(going(element, stability, releases)).toEqual([])
    expect(going(element, stability, releases - 1)).toEqual([rule])
    expect(rules({ element, stability, removed: '1.40' })).toEqual([rule])
  })

  it('allows removal of alpha elements in any release, except behavior [P332]', () => {
    for (const element of ['userCommand', 'adminCommand', 'graduatedGate', 'abandonedGate', 'metric'] as const)
      expect(rules({ element, stability: 'alpha', removed: '1.21' })).toEqual([])
    expect(rules({ element: 'behavior', stability: 'alpha', deprecated: '1.20', removed: '1.21' })).toEqual(['7'])
  })

  // The first day on which the support period has elapsed, with as many releases as the months require.
  it.each([
    ['userCommand', 'stable', '5a', 2, '2031-01-01'],
    ['userCommand', 'beta', '5a', 1, '2030-04-01'],
    ['adminCommand', 'stable', '5b', 1, '2030-07-01'],
    ['adminCommand', 'beta', '5b', 1, '2030-04-01'],
    ['behavior', 'stable', '7', 1, '2031-01-01'],
    ['behavior', 'beta', '7', 1, '2031-01-01'],
    ['behavior', 'alpha', '7', 1, '2031-01-01'],
    ['graduatedGate', 'beta', '8', 2, '2030-07-01'],
    ['abandonedGate', 'beta', '8', 1, '2030-04-01'],
    ['metric', 'stable', '9b', 3, '2030-10-01'],
  ] as const)('%s, %s: rule %s requires %d releases, and support until %s [P332]', (element, stability, rule, releases, last) => {
    const given = { element, stability, deprecated: '1.20', removed: `1.${20 + releases}` } as const
    const calendar = (end: string) => ({ '1.20': '2030-01-01', [given.removed]: end })
    expect(rules(given, calendar(last))).toEqual([])
    expect(rules(given, calendar(new Date(Date.parse(last) - 86_400_000).toISOString().slice(0, 10)))).toEqual([rule])
    if (releases === 1) return
    const early = { ...given, removed: `1.${19 + releases}` }
    expect(rules(early, { '1.20': '2030-01-01', [early.removed]: '2040-01-01' })).toEqual([rule])
  })

  it('requires both months and releases to elapse [P332]', () => {
    const given = { element: 'userCommand', stability: 'stable', deprecated: '1.20', removed: '1.22' } as const
    expect(rules(given, { '1.20': '2030-01-01', '1.22': '2031-01-02' })).toEqual([])
    expect(rules(given, { '1.20': '2030-01-01', '1.22': '2030-11-01' })).toEqual(['5a'])
    expect(rules({ ...given, removed: '1.21' }, { '1.20': '2030-01-01', '1.21': '2032-01-01' })).toEqual(['5a'])
  })

  it('rule 9a: requires a year and four releases for stable metrics [P332]', () => {
    const metric = { element: 'metric', stability: 'stable', introduced: '1.20', deprecated: '1.20' } as const
    expect(rules({ ...metric, removed: '1.23' })).toEqual(['9a'])
    expect(rules({ ...metric, removed: '1.24' })).toEqual([])
  })

  it('requires warnings for deprecated commands and gates [P333]', () => {
    const withoutWarning = (element: ElementLifecycle['element']) =>
      rules({ element, stability: 'stable', deprecated: '1.20', warns: false })
    expect([
      withoutWarning('userCommand'),
      withoutWarning('adminCommand'),
      withoutWarning('abandonedGate'),
      withoutWarning('behavior'),
    ]).toEqual([['6'], ['6'], ['9'], []])
  })
})
