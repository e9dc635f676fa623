import { builtInFeatureGates } from '@krmkit/meta/feature-gates'
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
  it('parses pairs; the last setting of a gate applies', () => {
    expect([...parseFeatureGates(' A=true, B=F ,,C=1,A=false')]).toEqual([
      ['A', false],
      ['B', false],
      ['C', true],
    ])
    expect(parseFeatureGates('').size).toBe(0)
    expect([...parseFeatureGates('__proto__=true').keys()]).toEqual(['__proto__'])
  })

  it.each([
    ['A', 'missing bool value for A'],
    ['A=', 'invalid value of A=, err: strconv.ParseBool: parsing "": invalid syntax'],
    ['A=yes', 'invalid value of A=yes, err: strconv.ParseBool: parsing "yes": invalid syntax'],
    ['A=true=false', 'invalid value of A=true=false, err: strconv.ParseBool: parsing "true=false": invalid syntax'],
    ['A=true,kube:B=true', 'set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use'],
  ])('rejects %j', (text, message) => {
    expect(() => parseFeatureGates(text)).toThrow(expect.objectContaining({ code: 'InvalidFeatureGates', message }))
  })

  it('accepts only the component kube', () => {
    expect([...parseFeatureGates('kube:A=true, kube: B=false')]).toEqual([
      ['A', true],
      ['B', false],
    ])
    expect(() => parseFeatureGates('wardle:A=true')).toThrow('component not registered: wardle')
    expect(() => parseFeatureGates('wardle:A=true')).toThrow(code('UnknownComponent'))
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
      { name: 'AllAlpha', stage: 'alpha', enabled: false, default: false, locked: false },
      { name: 'AllBeta', stage: 'beta', enabled: false, default: false, locked: false },
      { name: 'Careful', stage: 'beta', enabled: true, default: false, locked: false },
      { name: 'GivenUp', stage: 'beta', enabled: true, default: true, locked: false },
      { name: 'Widgets', stage: 'beta', enabled: false, default: true, locked: false },
    ])
  })

  it('rejects disabling a stable gate, and warns when it is set [P332]', () => {
    expect(() => at('1.32', 'Widgets=false')).toThrow('cannot set feature gate Widgets to false, feature is locked to true')
    expect(() => at('1.32', 'Widgets=false')).toThrow(code('LockedGate'))
    const set = at('1.32', 'Widgets=true')
    expect(set.enabled('Widgets')).toBe(true)
    expect(set.warnings).toEqual(['Setting GA feature gate Widgets=true. It will be removed in a future release.'])
  })

  it('disables deprecated gates, and warns when one is set [P332, P333]', () => {
    expect(at('1.31').enabled('GivenUp')).toBe(false)
    expect(at('1.31').warnings).toEqual([])
    const set = at('1.31', 'GivenUp=true')
    expect(set.enabled('GivenUp')).toBe(true)
    expect(set.warnings).toEqual(['Setting deprecated feature gate GivenUp=true. It will be removed in a future release.'])
  })

  it('rejects gates that do not exist in the release', () => {
    for (const name of ['Unknown', '__proto__', 'constructor'])
      expect(() => at('1.32', `${name}=true`)).toThrow(code('UnknownGate'))
    expect(() => at('1.27', 'Widgets=true')).toThrow(
      'cannot set feature gate Widgets to true, feature is PreAlpha at emulated version 1.27',
    )
    expect(() => at('1.27', 'Widgets=true')).toThrow(code('UnknownGate'))
    expect(() => at('1.32', '=true')).toThrow(expect.objectContaining({ message: 'unrecognized feature gate: ' }))
    expect(at('1.27').enabled('Widgets', true)).toBe(false)
  })

  it('reports all rejected gates in one error [P332]', () => {
    expect(() => at('1.32', 'Widgets=false,Unknown=true')).toThrow(
      '[cannot set feature gate Widgets to false, feature is locked to true, unrecognized feature gate: Unknown]',
    )
  })

  it('rejects a gate whose prerequisite is off [P332]', () => {
    const lifecycles: FeatureGateLifecycle[] = [
      ...gates,
      { name: 'Child', stages: [{ since: '1.30', stage: 'alpha' }], requires: ['Careful'] },
    ]
    const set = (text: string) => createFeatureGates({ release: '1.30', gates: lifecycles, set: text })
    expect(() => set('Child=true')).toThrow('Child feature requires Careful feature to be enabled')
    expect(() => set('Child=true')).toThrow(code('MissingPrerequisite'))
    expect(set('Child=true,Careful=true').enabled('Child')).toBe(true)
    expect(() => createFeatureGates({ set: 'AuthorizeWithSelectors=false' })).toThrow(
      'AuthorizeNodeWithSelectors feature requires AuthorizeWithSelectors feature to be enabled',
    )
    expect(createFeatureGates({ set: 'AllBeta=false' }).enabled('AuthorizeNodeWithSelectors')).toBe(false)
  })

  it('enforces the dependencies that gates of the release state [P332]', () => {
    const set = (release: string, text: string) => createFeatureGates({ release, set: text })
    expect(set('1.34', 'DRAConsumableCapacity=true,DRADeviceTaints=false').enabled('DRAConsumableCapacity')).toBe(true)
    expect(() => set('1.35', 'WorkloadWithJob=true')).toThrow('unrecognized feature gate: WorkloadWithJob')
    expect(() => set('1.36', 'WorkloadWithJob=true,GenericWorkload=false')).toThrow(
      expect.objectContaining({
        code: 'MissingPrerequisite',
        message: 'WorkloadWithJob is enabled, but depends on features that are disabled: [GenericWorkload]',
      }),
    )
    expect(() => set('1.37', 'CompositePodGroup=true,GenericWorkload=false,TopologyAwareWorkloadScheduling=false')).toThrow(
      'CompositePodGroup is enabled, but depends on features that are disabled: [GenericWorkload TopologyAwareWorkloadScheduling]',
    )
  })

  it.each(['1.21', '1.30', '1.33', '1.34', '1.35', '1.36', '1.37'])('the defaults of %s meet all dependencies', (release) => {
    expect(createFeatureGates({ release }).release.version).toBe(release)
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

  it('rejects enabling a locked deprecated gate [P332]', () => {
    expect(() => createFeatureGates({ set: 'AllowServiceLBStatusOnNonLB=true' })).toThrow(
      'cannot set feature gate AllowServiceLBStatusOnNonLB to true, feature is locked to false',
    )
    expect(createFeatureGates({ release: '1.31', set: { AllowServiceLBStatusOnNonLB: true } }).warnings).toHaveLength(1)
  })

  it('rejects stages out of order', () => {
    const stages = [
      { since: '1.30', stage: 'alpha' },
      { since: '1.30', stage: 'beta' },
    ] as const
    expect(() => createFeatureGates({ release: '1.33', gates: [{ name: 'A', stages }] })).toThrow(code('InvalidLifecycle'))
  })
})

describe('builtInFeatureGates', () => {
  const stage = (name: string, release: string) => {
    const state = createFeatureGates({ release }).gates.find((each) => each.name === name)
    return state && `${state.stage} ${state.enabled}${state.locked ? ' locked' : ''}`
  }

  it('has the stages of each release [P332]', () => {
    const releases = ['1.28', '1.29', '1.32', '1.33']
    expect(releases.map((release) => stage('SidecarContainers', release))).toEqual([
      'alpha false',
      'beta true',
      'beta true',
      'stable true locked',
    ])
    expect(releases.map((release) => stage('ContainerStopSignals', release))).toEqual([
      undefined,
      undefined,
      undefined,
      'alpha false',
    ])
    expect(stage('CBORServingAndStorage', '1.33')).toBe('alpha false')
    expect(stage('VolumeAttributesClass', '1.33')).toBe('beta false')
  })

  it('counts the gates of 1.33 as kube-apiserver reports them [P332]', () => {
    const counts = new Map<string, number>()
    for (const each of createFeatureGates({ release: '1.33' }).gates) counts.set(each.stage, (counts.get(each.stage) ?? 0) + 1)
    expect(Object.fromEntries(counts)).toEqual({ alpha: 58, beta: 78, stable: 40, deprecated: 15 })
    expect(new Set(builtInFeatureGates().map(({ name }) => name)).size).toBe(builtInFeatureGates().length)
  })
})
