import { describe, expect, it } from 'vitest'
import { createFeatureGates, parseFeatureGates } from './feature-gates.ts'
import type { GateLife } from './interfaces.ts'

const gates: readonly GateLife[] = [
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
  it('reads pairs; the last word on a gate counts', () => {
    expect([...parseFeatureGates(' A=true, B=F ,,C=1,A=false')]).toEqual([
      ['A', false],
      ['B', false],
      ['C', true],
    ])
    expect(parseFeatureGates('').size).toBe(0)
    expect([...parseFeatureGates('__proto__=true').keys()]).toEqual(['__proto__'])
  })

  it.each(['A', '=true', 'A=', 'A=yes', 'A=true=false'])('refuses %j', (text) => {
    expect(() => parseFeatureGates(text)).toThrow(code('InvalidFeatureGates'))
  })
})

describe('feature gates', () => {
  it('P332 alpha is off, beta is on, stable is on', () => {
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

  it('P332 alpha and beta gates may be set either way', () => {
    expect(at('1.28', 'Widgets=true').enabled('Widgets')).toBe(true)
    expect(at('1.30', 'Widgets=false').enabled('Widgets')).toBe(false)
    expect(at('1.30', 'Widgets=false,Careful=true').gates).toEqual([
      { name: 'Careful', stage: 'beta', enabled: true, locked: false },
      { name: 'GivenUp', stage: 'beta', enabled: true, locked: false },
      { name: 'Widgets', stage: 'beta', enabled: false, locked: false },
    ])
  })

  it('P332 disabling a stable gate fails; setting it warns', () => {
    expect(() => at('1.32', 'Widgets=false')).toThrow('cannot set feature gate Widgets to false, feature is locked to true')
    expect(() => at('1.32', 'Widgets=false')).toThrow(code('LockedGate'))
    const set = at('1.32', 'Widgets=true')
    expect(set.enabled('Widgets')).toBe(true)
    expect(set.warnings).toEqual(['feature gate Widgets is stable: setting it does nothing, and it goes in a later release'])
  })

  it('P332 P333 a deprecated gate is off and warns when it is set', () => {
    expect(at('1.31').enabled('GivenUp')).toBe(false)
    expect(at('1.31').warnings).toEqual([])
    const set = at('1.31', 'GivenUp=true')
    expect(set.enabled('GivenUp')).toBe(true)
    expect(set.warnings).toEqual(['feature gate GivenUp is deprecated and goes in a later release'])
  })

  it('a gate that the release does not have is refused', () => {
    for (const name of ['Unknown', '__proto__', 'constructor'])
      expect(() => at('1.32', `${name}=true`)).toThrow(code('UnknownGate'))
    expect(() => at('1.27', 'Widgets=true')).toThrow('unrecognized feature gate: Widgets')
  })

  it('all gates of a stage are switched at once; their own word counts more', () => {
    expect(at('1.28', 'AllAlpha=true').enabled('Widgets')).toBe(true)
    expect(at('1.28', 'Widgets=false,AllAlpha=true').enabled('Widgets')).toBe(false)
    const set = at('1.30', 'AllBeta=false,Careful=true')
    expect([set.enabled('Widgets'), set.enabled('GivenUp'), set.enabled('Careful')]).toEqual([false, false, true])
    expect(at('1.32', 'AllBeta=false').enabled('Widgets')).toBe(true)
  })

  it('tells its release', () => {
    const { release } = at('1.30')
    expect([release.version, release.atLeast('1.29'), release.atLeast('1.31')]).toEqual(['1.30', true, false])
  })

  it('refuses lives that do not rise', () => {
    const stages = [
      { since: '1.30', stage: 'alpha' },
      { since: '1.30', stage: 'beta' },
    ] as const
    expect(() => createFeatureGates({ release: '1.33', gates: [{ name: 'A', stages }] })).toThrow(code('InvalidLife'))
  })
})
