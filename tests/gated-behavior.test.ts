import { createCatalog, runPreparation } from '@krmkit/kinds'
import { type ApiObject, createFeatures, type Features, fakeClock, type JsonObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { errorsOf, pod, settled, write } from './gated-writes.ts'

/** Members and behavior behind feature gates. */

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
    'PreferSameTrafficDistribution',
    'discovery.k8s.io',
    'EndpointSlice',
    { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'], hints: { forNodes: [{ name: 'n' }] } }] },
    'endpoints.0.hints.forNodes',
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

  it('may get their default without it: procMount [P332]', () => {
    const object = pod({}, { securityContext: { procMount: 'Unmasked' } })
    const stored = (set: string) => at(write('Pod', '', object, { set }), 'spec.containers.0.securityContext.procMount')
    expect([stored('ProcMountType=true'), stored('ProcMountType=false')]).toEqual(['Unmasked', 'Default'])
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

describe('behaviour behind a gate', () => {
  const on = (gate: string) => createFeatures('1.33', { [gate]: true })
  const off = (gate: string) => createFeatures('1.33', { [gate]: false })
  const names = (features: Features, runtimeConfig = '') =>
    createCatalog({ features, runtimeConfig }).definitions.flatMap(({ resource, subresources }) => [
      resource.name,
      ...subresources.map(({ name }) => name),
    ])

  it('pods/resize is served with InPlacePodVerticalScaling [P332]', () => {
    expect(names(createFeatures('1.33'))).toContain('pods/resize')
    expect(names(off('InPlacePodVerticalScaling'))).not.toContain('pods/resize')
    expect(names(createFeatures('1.32'))).not.toContain('pods/resize')
    expect(names(createFeatures('1.32', { InPlacePodVerticalScaling: true }))).toContain('pods/resize')
  })

  it.each([
    ['ClusterTrustBundle', 'clustertrustbundles'],
    ['StorageVersionMigrator', 'storageversionmigrations'],
  ])('%s decides whether %s are served, whatever the runtime configuration says [P332]', (gate, resource) => {
    expect(names(on(gate), 'api/all=true')).toContain(resource)
    expect(names(on(gate))).not.toContain(resource)
    expect(names(createFeatures('1.33'), 'api/all=true')).not.toContain(resource)
  })

  it('StrictIPCIDRValidation refuses notations that programs read differently, but keeps stored ones [P332]', () => {
    const service = (address: string) => ({
      spec: {
        type: 'ClusterIP',
        sessionAffinity: 'None',
        externalTrafficPolicy: 'Cluster',
        ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
        externalIPs: [address],
      },
    })
    const strict = on('StrictIPCIDRValidation')
    expect(errorsOf('Service', service('010.1.2.3'), { features: createFeatures('1.33') })).toEqual([])
    expect(errorsOf('Service', service('010.1.2.3'), { features: strict })).toEqual([
      'spec.externalIPs[0]: must not have leading 0s',
    ])
    expect(errorsOf('Service', service('::ffff:1.2.3.4'), { features: strict })).toEqual([
      'spec.externalIPs[0]: must not be an IPv4-mapped IPv6 address',
    ])
    expect(errorsOf('Service', service('010.1.2.3'), { features: strict, old: service('010.1.2.3') })).toEqual([])
    const policy = (cidr: string) => ({ spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr } }] }] } })
    expect(errorsOf('NetworkPolicy', policy('10.0.0.1/8'), { features: strict })).toEqual([
      'spec.ingress[0].from[0].ipBlock.cidr: must not have bits set beyond the prefix length',
    ])
    expect(errorsOf('NetworkPolicy', policy('10.0.0.1/8'), { features: createFeatures('1.33') })).toEqual([])
  })

  it('RecoverVolumeExpansionFailure lets a claim shrink to more than its capacity [P332]', () => {
    const claim = (storage: string) => ({
      spec: { accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem', volumeName: 'v', resources: { requests: { storage } } },
      status: { phase: 'Bound', capacity: { storage: '1Gi' } },
    })
    const change = { old: claim('3Gi') }
    const gate = 'RecoverVolumeExpansionFailure'
    expect(errorsOf('PersistentVolumeClaim', claim('2Gi'), { ...change, features: createFeatures('1.33') })).toEqual([])
    expect(errorsOf('PersistentVolumeClaim', claim('2Gi'), { ...change, features: off(gate) })).toEqual([
      'spec.resources.requests.storage: field can not be less than previous value',
    ])
  })

  it('RecoverVolumeExpansionFailure keeps what is allocated in the status of claims [P332]', () => {
    const status = { allocatedResources: { storage: '2Gi' }, allocatedResourceStatuses: { storage: 'NodeResizePending' } }
    const written = (set: string) => {
      const options = { set, subresource: 'status', old: { spec: {}, status: {} } }
      return write('PersistentVolumeClaim', '', { spec: {}, status }, options).status
    }
    expect([written(''), written('RecoverVolumeExpansionFailure=false')]).toEqual([status, {}])
  })

  it('LoadBalancerIPMode requires the mode of an address [P332]', () => {
    const service = { spec: { type: 'LoadBalancer' }, status: { loadBalancer: { ingress: [{ ip: '10.0.0.1' }] } } }
    const errors = (features: Features) => errorsOf('Service', service, { features, subresource: 'status' })
    expect(errors(createFeatures('1.33'))).toEqual(['status.loadBalancer.ingress[0].ipMode: must be specified when `ip` is set'])
    expect(errors(createFeatures('1.29'))).toEqual([])
  })

  it('AllowServiceLBStatusOnNonLB lets other services have ingress points in old releases [P332]', () => {
    const service = { spec: { type: 'ClusterIP' }, status: { loadBalancer: { ingress: [{ hostname: 'a.example.com' }] } } }
    const errors = (features: Features) => errorsOf('Service', service, { features, subresource: 'status' })
    expect(errors(createFeatures('1.28'))).toEqual([])
    expect(errors(createFeatures('1.29'))).toEqual([
      "status.loadBalancer.ingress: may only be used when `spec.type` is 'LoadBalancer'",
    ])
  })

  it('JobManagedBy refuses invalid transitions of the status of jobs [P332]', () => {
    const complete = { type: 'Complete', status: 'True' }
    const errors = (features: Features, status: JsonObject, old: JsonObject = {}) =>
      errorsOf('Job', { spec: {}, status }, { features, subresource: 'status', old: { spec: {}, status: old } })
    const ended = { conditions: [complete], ready: 1, failed: 1 }
    expect(errors(createFeatures('1.31'), ended, { startTime: '2024-01-01T00:00:00Z', failed: 2 })).toEqual([])
    expect(errors(createFeatures('1.32'), ended, { startTime: '2024-01-01T00:00:00Z', failed: 2 })).toHaveLength(6)
    expect(errors(createFeatures('1.31'), { ready: -1 })).toEqual([
      'status.ready: Invalid value: -1: must be greater than or equal to 0',
    ])
  })

  it('JobPodReplacementPolicy lets jobs without a success policy meet their criteria [P332]', () => {
    const status = { conditions: [{ type: 'SuccessCriteriaMet', status: 'True' }] }
    const errors = (release: string, old: JsonObject = {}) =>
      errorsOf(
        'Job',
        { spec: {}, status },
        { features: createFeatures(release), subresource: 'status', old: { spec: {}, status: old } },
      )
    expect(errors('1.29')).toEqual([])
    expect(errors('1.28')).toEqual([
      'status.conditions: Invalid value: cannot set SuccessCriteriaMet to NonIndexed Job',
      'status.conditions: Invalid value: cannot set SuccessCriteriaMet=True for Job without SuccessPolicy',
    ])
    expect(errors('1.28', status)).toEqual([])
  })

  it('AnyVolumeDataSource joins the two sources of a claim [P332]', () => {
    const spec = { dataSource: { kind: 'PersistentVolumeClaim', name: 'b' } }
    const written = (release: string) => {
      const features = createFeatures(release)
      const definition = createCatalog({ features }).definitions.find(({ kind }) => kind.kind === 'PersistentVolumeClaim')
      const claim = structuredClone({ metadata: {}, spec }) as unknown as ApiObject
      runPreparation(definition?.strategy.prepareForCreate?.(claim, { ...settled, clock: fakeClock(0), features }))
      return (claim as unknown as JsonObject).spec
    }
    expect(written('1.24')).toEqual({ ...spec, dataSourceRef: spec.dataSource })
    expect(written('1.23')).toEqual(spec)
  })

  it('ServiceTrafficDistribution keeps the distribution of services [P332]', () => {
    const written = (features: Features) => {
      const definition = createCatalog({ features }).definitions.find(({ kind }) => kind.kind === 'Service')
      const service = structuredClone({ metadata: {}, spec: { trafficDistribution: 'PreferClose' } }) as unknown as ApiObject
      runPreparation(definition?.strategy.prepareForCreate?.(service, { ...settled, clock: fakeClock(0), features }))
      return at(service, 'spec.trafficDistribution')
    }
    expect([written(createFeatures('1.33')), written(off('ServiceTrafficDistribution'))]).toEqual(['PreferClose', undefined])
  })

  it('TopologyAwareHints keeps the hints of endpoints [P332]', () => {
    const slice = { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'], hints: { forZones: [{ name: 'z' }] } }] }
    const written = (release: string) => {
      const features = createFeatures(release)
      const definition = createCatalog({ features }).definitions.find(({ kind }) => kind.kind === 'EndpointSlice')
      const object = structuredClone({ metadata: {}, ...slice }) as unknown as ApiObject
      runPreparation(definition?.strategy.prepareForCreate?.(object, { ...settled, clock: fakeClock(0), features }))
      return at(object, 'endpoints.0.hints')
    }
    expect([written('1.24'), written('1.23')]).toEqual([slice.endpoints[0]?.hints, undefined])
  })

  it('GitRepoVolumeDriver decides what the warning about git volumes says [P332]', () => {
    const object = {
      metadata: { name: 'a' },
      ...pod({ volumes: [{ name: 'v', gitRepo: { repository: 'r' } }] }),
    } as unknown as ApiObject
    const warnings = (features: Features) => {
      const { strategy } = createCatalog({ features }).definitions.find(({ kind }) => kind.kind === 'Pod') ?? {}
      return strategy?.warnings?.(object, undefined, { ...settled, clock: fakeClock(0), features })
    }
    expect(warnings(createFeatures('1.33'))).toEqual([
      'spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+',
    ])
    expect(warnings(on('GitRepoVolumeDriver'))).toEqual(['spec.volumes[0].gitRepo: deprecated in v1.11'])
  })
})
