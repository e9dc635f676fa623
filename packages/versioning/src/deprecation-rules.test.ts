import { readLifecycle } from '@krmkit/kinds'
import { describe, expect, it } from 'vitest'
import { apiPlanBreaches, elementBreaches } from './deprecation-rules.ts'
import type { ApiPlan, ApiVersionLife, ElementLife } from './interfaces.ts'
import { planOfKind } from './kind-life.ts'

const broken = (plan: ApiPlan) => apiPlanBreaches(plan).map(({ rule }) => rule)
const life = (version: string, rest: Partial<ApiVersionLife> = {}): ApiVersionLife => ({ version, introduced: '1.20', ...rest })

describe('API versions', () => {
  it('P332 rule 1: beta and stable versions lose nothing while they stay; alpha ones may', () => {
    expect(broken({ versions: [life('v1', { drops: ['spec.size', 'spec.name'] })] })).toEqual(['1', '1'])
    expect(broken({ versions: [life('v1beta1', { drops: ['spec.size'] })] })).toEqual(['1'])
    expect(broken({ versions: [life('v1alpha1', { drops: ['spec.size'] })] })).toEqual([])
  })

  it('P332 rule 3: nothing is deprecated in favor of something less stable', () => {
    const deprecated = (version: string, replacement: string) =>
      broken({ versions: [life(version, { deprecated: '1.22', replacement })] })
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
  ] as const)('P332 rule 4a: %s, deprecated in %s, goes in %s: %j', (version, deprecated, removed, rules) => {
    expect(broken({ versions: [life(version, { ...(deprecated === undefined ? {} : { deprecated }), removed })] })).toEqual(rules)
  })

  it('P332 rule 4a: three quick releases are not yet nine months', () => {
    const plan = { versions: [life('v1beta1', { deprecated: '1.22', removed: '1.25' })] }
    const quick = { '1.22': '2030-01-01', '1.25': '2030-09-01' }
    expect(apiPlanBreaches(plan, { calendar: quick })).toMatchObject([{ rule: '4a', subject: 'v1beta1' }])
    expect(apiPlanBreaches(plan, { calendar: { ...quick, '1.25': '2030-10-15' } })).toEqual([])
  })

  it('P332 rule 4b: preferred and stored versions advance after a release that has both', () => {
    const versions = [life('v1beta1', { deprecated: '1.23', removed: '1.26' }), life('v1', { introduced: '1.23' })]
    const advance = (release: string) =>
      broken({
        versions,
        advances: [
          { release: '1.20', version: 'v1beta1' },
          { release, version: 'v1' },
        ],
      })
    expect(advance('1.23')).toEqual(['4b'])
    expect(advance('1.24')).toEqual([])
    const apart = [life('v1alpha1', { removed: '1.22' }), life('v1', { introduced: '1.22' })]
    const advances = [
      { release: '1.20', version: 'v1alpha1' },
      { release: '1.24', version: 'v1' },
    ]
    expect(broken({ versions: apart, advances })).toEqual(['4b'])
  })

  it('P333 rule 6: the use of what is deprecated warns', () => {
    expect(broken({ versions: [life('v1', { deprecated: '1.22', warns: false })] })).toEqual(['6'])
    expect(broken({ versions: [life('v1', { warns: false })] })).toEqual([])
  })

  it('P332 the recorded lives of all built-in kinds keep the rules', () => {
    const lives = readLifecycle()
    const kinds = new Map(lives.map(({ group, kind }) => [`${group}/${kind}`, { group, kind }]))
    expect(kinds.size).toBeGreaterThan(60)
    for (const [name, { group, kind }] of kinds) expect(apiPlanBreaches(planOfKind(lives, group, kind)), name).toEqual([])
  })

  it.each([
    [{ versions: [life('v1', { deprecated: '1.19' })] }, 'InvalidLife'],
    [{ versions: [life('latest')] }, 'InvalidLife'],
    [{ versions: [life('v1', { removed: 'soon' })] }, 'InvalidRelease'],
    [{ versions: [], advances: [{ release: '1.20', version: 'v1' }] }, 'InvalidLife'],
  ])('refuses %j', (plan, code) => {
    expect(() => apiPlanBreaches(plan)).toThrow(expect.objectContaining({ code }))
  })
})

describe('everything else', () => {
  const rules = (given: ElementLife, calendar = {}) => elementBreaches(given, { calendar }).map(({ rule }) => rule)
  const going = (element: ElementLife['element'], stability: ElementLife['stability'], releases: number) =>
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
  ] as const)('P332 %s, %s: rule %s, %d releases of four months', (element, stability, rule, releases) => {
    expect(going(element, stability, releases)).toEqual([])
    expect(going(element, stability, releases - 1)).toEqual([rule])
    expect(rules({ element, stability, removed: '1.40' })).toEqual([rule])
  })

  it('P332 what is alpha may go at any release; behavior may not', () => {
    for (const element of ['userCommand', 'adminCommand', 'graduatedGate', 'abandonedGate', 'metric'] as const)
      expect(rules({ element, stability: 'alpha', removed: '1.21' })).toEqual([])
    expect(rules({ element: 'behavior', stability: 'alpha', deprecated: '1.20', removed: '1.21' })).toEqual(['7'])
  })

  it('P332 terms of months and releases must both be over', () => {
    const given = { element: 'userCommand', stability: 'stable', deprecated: '1.20', removed: '1.22' } as const
    expect(rules(given, { '1.20': '2030-01-01', '1.22': '2031-01-02' })).toEqual([])
    expect(rules(given, { '1.20': '2030-01-01', '1.22': '2030-11-01' })).toEqual(['5a'])
    expect(rules({ ...given, removed: '1.21' }, { '1.20': '2030-01-01', '1.21': '2032-01-01' })).toEqual(['5a'])
  })

  it('P332 rule 9a: a stable metric is there for a year and four releases', () => {
    const metric = { element: 'metric', stability: 'stable', introduced: '1.20', deprecated: '1.20' } as const
    expect(rules({ ...metric, removed: '1.23' })).toEqual(['9a'])
    expect(rules({ ...metric, removed: '1.24' })).toEqual([])
  })

  it('P333 deprecated commands and gates warn', () => {
    const silent = (element: ElementLife['element']) => rules({ element, stability: 'stable', deprecated: '1.20', warns: false })
    expect([silent('userCommand'), silent('adminCommand'), silent('abandonedGate'), silent('behavior')]).toEqual([
      ['6'],
      ['6'],
      ['9'],
      [],
    ])
  })
})
