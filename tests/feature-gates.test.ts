import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCatalog } from '@krmkit/kinds'
import { type ApiObject, createFeatures, fakeClock, type JsonObject, seededRandom, stockProfile } from '@krmkit/meta'
import { builtInFeatureGates, gateEnabled } from '@krmkit/meta/feature-gates'
import { createFeatureGates } from '@krmkit/versioning'
import { describe, expect, it } from 'vitest'

/** Feature gates of the whole library: every gate that a package reads is in the registry, and its defaults agree with it. */

const root = new URL('..', import.meta.url).pathname
const sources = readdirSync(join(root, 'packages'))
  .flatMap((name) =>
    readdirSync(join(root, 'packages', name, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !/\.(?:test|generated)\.ts$/.test(file))
      .map((file) => join(root, 'packages', name, 'src', file)),
  )
  .map((file) => readFileSync(file, 'utf8'))

const known = new Set(builtInFeatureGates().map(({ name }) => name))

describe('gates that packages read', () => {
  const namesIn = (pattern: RegExp) => [
    ...new Set(sources.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name))),
  ]
  const alwaysOff = namesIn(/\bfeatures\.enabled\(\s*'(\w+)'/g)
  const byDefault = namesIn(/(?:\bgate: |\bgateEnabled\(\s*)'(\w+)'/g)

  it('are in the registry [P332]', () => {
    expect([alwaysOff.length > 10, byDefault.length > 25]).toEqual([true, true])
    expect([...alwaysOff, ...byDefault].filter((name) => !known.has(name))).toEqual([])
  })

  it('are off in every release where their default is not asked for [P332]', () => {
    for (const minor of [26, 27, 28, 29, 30, 31, 32, 33]) {
      const { enabled } = createFeatureGates({ release: `1.${minor}` })
      expect(alwaysOff.filter((name) => enabled(name))).toEqual([])
    }
  })

  it('have the same defaults without a registry of gates [P332]', () => {
    for (const minor of [26, 27, 28, 29, 30, 31, 32, 33]) {
      const [plain, full] = [createFeatures(`1.${minor}`), createFeatureGates({ release: `1.${minor}` })]
      expect([...known].filter((name) => gateEnabled(name, plain) !== full.enabled(name))).toEqual([])
    }
  })
})

const settled = { profile: stockProfile, random: seededRandom(1) }

function write(kind: string, group: string, spec: JsonObject, options: { set: string; subresource?: string; old?: JsonObject }) {
  const features = createFeatureGates({ set: options.set })
  const catalog = createCatalog({ features, runtimeConfig: 'api/all=true' })
  const definition = catalog.definitions.find((each) => each.kind.kind === kind && each.group === group)
  if (definition === undefined) throw new Error(`no ${kind}`)
  const { strategy } = definition
  const context = { ...settled, clock: fakeClock(0), features }
  const metadata = { name: 'a', namespace: 'default' }
  const object = structuredClone({ metadata, ...spec }) as unknown as ApiObject
  const old = options.old && (structuredClone({ metadata, ...options.old }) as unknown as ApiObject)
  if (options.subresource !== undefined)
    strategy.subresources?.[options.subresource]?.prepareForUpdate(object, (old ?? object) as never, context)
  else if (old === undefined) strategy.prepareForCreate?.(object, context)
  else strategy.prepareForUpdate?.(object, old as never, context)
  return object as unknown as JsonObject
}

const container = { name: 'c', image: 'i' }
const pod = (more: JsonObject, inContainer: JsonObject = {}): JsonObject => ({
  spec: { containers: [{ ...container, ...inContainer }], ...more },
})

/** Gate, kind, and an object whose `expected` member the gate controls. */
const controlled: readonly (readonly [gate: string, group: string, kind: string, object: JsonObject, path: string])[] = [
  ['UserNamespacesSupport', '', 'Pod', pod({ hostUsers: false }), 'spec.hostUsers'],
  [
    'SupplementalGroupsPolicy',
    '',
    'Pod',
    pod({ securityContext: { supplementalGroupsPolicy: 'Strict' } }),
    'spec.securityContext.supplementalGroupsPolicy',
  ],
  [
    'SELinuxChangePolicy',
    '',
    'Pod',
    pod({ securityContext: { seLinuxChangePolicy: 'Recursive' } }),
    'spec.securityContext.seLinuxChangePolicy',
  ],
  [
    'ProcMountType',
    '',
    'Pod',
    pod({}, { securityContext: { procMount: 'Unmasked' } }),
    'spec.containers.0.securityContext.procMount',
  ],
  [
    'MatchLabelKeysInPodTopologySpread',
    '',
    'Pod',
    pod({ topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', matchLabelKeys: ['app'] }] }),
    'spec.topologySpreadConstraints.0.matchLabelKeys',
  ],
  [
    'InPlacePodVerticalScaling',
    '',
    'Pod',
    pod({}, { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }] }),
    'spec.containers.0.resizePolicy',
  ],
  [
    'PodLifecycleSleepAction',
    '',
    'Pod',
    pod({}, { lifecycle: { preStop: { sleep: { seconds: 1 } } } }),
    'spec.containers.0.lifecycle',
  ],
  ['PodLevelResources', '', 'Pod', pod({ resources: { limits: { cpu: '1' } } }), 'spec.resources'],
  ['DynamicResourceAllocation', '', 'Pod', pod({ resourceClaims: [{ name: 'gpu' }] }), 'spec.resourceClaims'],
  [
    'UserNamespacesSupport',
    'apps',
    'Deployment',
    { spec: { template: pod({ hostUsers: false }) } },
    'spec.template.spec.hostUsers',
  ],
  ['JobManagedBy', 'batch', 'Job', { spec: { managedBy: 'x/y', template: pod({}) } }, 'spec.managedBy'],
  [
    'JobPodReplacementPolicy',
    'batch',
    'Job',
    { spec: { podReplacementPolicy: 'Failed', template: pod({}) } },
    'spec.podReplacementPolicy',
  ],
  [
    'MaxUnavailableStatefulSet',
    'apps',
    'StatefulSet',
    { spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 2 } }, template: pod({}) } },
    'spec.updateStrategy.rollingUpdate.maxUnavailable',
  ],
  ['SELinuxMountReadWriteOncePod', 'storage.k8s.io', 'CSIDriver', { spec: { seLinuxMount: true } }, 'spec.seLinuxMount'],
  [
    'MutableCSINodeAllocatableCount',
    'storage.k8s.io',
    'CSIDriver',
    { spec: { nodeAllocatableUpdatePeriodSeconds: 60 } },
    'spec.nodeAllocatableUpdatePeriodSeconds',
  ],
  [
    'VolumeAttributesClass',
    '',
    'PersistentVolumeClaim',
    { spec: { volumeAttributesClassName: 'fast' } },
    'spec.volumeAttributesClassName',
  ],
  [
    'CoordinatedLeaderElection',
    'coordination.k8s.io',
    'Lease',
    { spec: { strategy: 'OldestEmulationVersion' } },
    'spec.strategy',
  ],
  ['SupplementalGroupsPolicy', '', 'Node', { status: { features: { supplementalGroupsPolicy: true } } }, 'status.features'],
  [
    'DRAAdminAccess',
    'resource.k8s.io',
    'ResourceClaim',
    { spec: { devices: { requests: [{ name: 'r', adminAccess: true }] } } },
    'spec.devices.requests.0.adminAccess',
  ],
  [
    'DRAPrioritizedList',
    'resource.k8s.io',
    'ResourceClaimTemplate',
    { spec: { spec: { devices: { requests: [{ name: 'r', firstAvailable: [{ name: 's' }] }] } } } },
    'spec.spec.devices.requests.0.firstAvailable',
  ],
  [
    'DRADeviceTaints',
    'resource.k8s.io',
    'ResourceSlice',
    { spec: { devices: [{ name: 'd', basic: { taints: [{ key: 'k', effect: 'NoSchedule' }] } }] } },
    'spec.devices.0.basic.taints',
  ],
  [
    'DRAPartitionableDevices',
    'resource.k8s.io',
    'ResourceSlice',
    { spec: { perDeviceNodeSelection: true } },
    'spec.perDeviceNodeSelection',
  ],
]

const at = (object: unknown, path: string): unknown =>
  path.split('.').reduce((value, step) => (value as Record<string, unknown> | undefined)?.[step], object)

describe('members behind a gate', () => {
  it.each(controlled)('are kept with the gate and dropped without it: %s, %s/%s [P332]', (gate, group, kind, object, path) => {
    const given = at(object, path)
    expect(given).toBeDefined()
    expect(at(write(kind, group, object, { set: `${gate}=true` }), path)).toEqual(given)
    expect(at(write(kind, group, object, { set: `${gate}=false` }), path)).toBeUndefined()
  })

  it('stay in objects that already have them [P332]', () => {
    const object = pod({ hostUsers: false })
    const options = { set: 'UserNamespacesSupport=false' }
    expect(at(write('Pod', '', object, { ...options, old: object }), 'spec.hostUsers')).toBe(false)
    expect(at(write('Pod', '', object, { ...options, old: pod({}) }), 'spec.hostUsers')).toBeUndefined()
  })

  it('leave the status of pods by their gates [P332]', () => {
    const status = {
      containerStatuses: [{ name: 'c', resources: { limits: { cpu: '1' } }, user: { linux: { uid: 1, gid: 1 } } }],
    }
    const object = { ...pod({}), status }
    const written = (set: string) =>
      at(write('Pod', '', object, { set, subresource: 'status', old: pod({}) }), 'status.containerStatuses.0')
    expect(written('')).toEqual(status.containerStatuses[0])
    expect(written('InPlacePodVerticalScaling=false,SupplementalGroupsPolicy=false')).toEqual({ name: 'c' })
  })
})
