import { describe, expect, it } from 'vitest'
import { createFeatureGates, parseFeatureGates } from './feature-gates.ts'
import type { FeatureGateLifecycle } from './interfaces.ts'

const gates: readonly FeatureGateLifecycle[] = [
  {
    name: 'Widgets',
    stages: [
      { since: '1.28', stage: 'alpha' },
      { since: '1.30', stage: 'beta' },
      { since: '1.32', stage: 'stable' },
    ],
  },
  { name: 'Careful', stages: [{ since: '1.30', stage: 'beta', enabled: false }] },
  {
    name: 'GivenUp',
    stages: [
      { since: '1.28', stage: 'beta' },
      { since: '1.31', stage: 'deprecated' },
    ],
  },
]
const at = (release: string, set?: string) => createFeatureGates({ release, gates, ...(set === undefined ? {} : { set }) })
const code = (expected: string) => expect.objectContaining({ code: expected })

describe('parseFeatureGates', () => {
  it('parses pairs; the last setting of a gate wins', () => {
    expect([...parseFeatureGates(' A=true, B=F ,,C=1,A=false')]).toEqual([
      ['A', false],
      ['B', false],
      ['C', true],
    ])
    expect(parseFeatureGates('').size).toBe(0)
    expect([...parseFeatureGates('__proto__=true').keys()]).toEqual(['__proto__'])
  })

  it.each(['A', '=true', 'A=', 'A=yes', 'A=true=false'])('rejects %j', (text) => {
    expect(() => parseFeatureGates(text)).toThrow(code('InvalidFeatureGates'))
  })
})

describe('createFeatureGates', () => {
  it('disables alpha gates and enables beta and stable ones [P332]', () => {
    expect(['1.28', '1.29', '1.30', '1.31', '1.32', '1.40'].map((release) => at(release).enabled('Widgets'))).toEqual([
      false,
      false,
      true,
      true,
      true,
      true,
    ])
    expect(at('1.30').enabled('Careful')).toBe(false)
    expect(at('1.30').enabled('Unknown')).toBe(false)
  })

  it('allows both values of alpha and beta gates [P332]', () => {
    expect(at('1.28', 'Widgets=true').enabled('Widgets')).toBe(true)
    expect(at('1.30', 'Widgets=false').enabled('Widgets')).toBe(false)
    expect(at('1.30', 'Widgets=false,Careful=true').gates).toEqual([
      { name: 'Careful', stage: 'beta', enabled: true, locked: false },
      { name: 'GivenUp', stage: 'beta', enabled: true, locked: false },
      { name: 'Widgets', stage: 'beta', enabled: false, locked: false },
    ])
  })

  it('refuses to disable a stable gate, and warns when it is set [P332]', () => {
    expect(() => at('1.32', 'Widgets=false')).toThrow('cannot set feature gate Widgets to false, feature is locked to true')
    expect(() => at('1.32', 'Widgets=false')).toThrow(code('LockedGate'))
    const set = at('1.32', 'Widgets=true')
    expect(set.enabled('Widgets')).toBe(true)
    expect(set.warnings).toEqual([
      'feature gate Widgets is stable: setting it has no effect, and it will be removed in a later release',
    ])
  })

  it('disables deprecated gates, and warns when one is set [P332, P333]', () => {
    expect(at('1.31').enabled('GivenUp')).toBe(false)
    expect(at('1.31').warnings).toEqual([])
    const set = at('1.31', 'GivenUp=true')
    expect(set.enabled('GivenUp')).toBe(true)
    expect(set.warnings).toEqual(['feature gate GivenUp is deprecated and will be removed in a later release'])
  })

  it('rejects gates that do not exist in the release', () => {
    for (const name of ['Unknown', '__proto__', 'constructor'])
      expect(() => at('1.32', `${name}=true`)).toThrow(code('UnknownGate'))
    expect(() => at('1.27', 'Widgets=true')).toThrow('unrecognized feature gate: Widgets')
  })

  it('AllAlpha and AllBeta set whole stages; single gates take precedence', () => {
    expect(at('1.28', 'AllAlpha=true').enabled('Widgets')).toBe(true)
    expect(at('1.28', 'Widgets=false,AllAlpha=true').enabled('Widgets')).toBe(false)
    const set = at('1.30', 'AllBeta=false,Careful=true')
    expect([set.enabled('Widgets'), set.enabled('GivenUp'), set.enabled('Careful')]).toEqual([false, false, true])
    expect(at('1.32', 'AllBeta=false').enabled('Widgets')).toBe(true)
  })

  it('reports its release', () => {
    const { release } = at('1.30')
    expect([release.version, release.atLeast('1.29'), release.atLeast('1.31')]).toEqual(['1.30', true, false])
  })

  it('rejects stages out of order', () => {
    const stages = [
      { since: '1.30', stage: 'alpha' },
      { since: '1.30', stage: 'beta' },
    ] as const
    expect(() => createFeatureGates({ release: '1.33', gates: [{ name: 'A', stages }] })).toThrow(code('InvalidLifecycle'))
  })
})
