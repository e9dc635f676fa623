import { stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { clusterOf, refusalOf, runAdmission, specOf } from '../testing/run-admission.ts'
import { alwaysAdmit, alwaysDeny } from './always.ts'
import { alwaysPullImages } from './always-pull-images.ts'
import { denyServiceExternalIPs } from './deny-service-external-ips.ts'
import { extendedResourceToleration } from './extended-resource-toleration.ts'
import { limitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology.ts'
import { parseNodeSelectors, podNodeSelector } from './pod-node-selector.ts'
import { parseClusterTolerations, podTolerationRestriction } from './pod-toleration-restriction.ts'
import { runtimeClass } from './runtime-class.ts'

const containers = [{ name: 'c', image: 'i' }]

describe('LimitPodHardAntiAffinityTopology', () => {
  const plugin = limitPodHardAntiAffinityTopology(stockProfile)
  const required = (...keys: string[]) => ({
    podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: keys.map((topologyKey) => ({ topologyKey })) },
  })
  const refused = async (affinity: object) =>
    refusalOf(await runAdmission(plugin, 'pods', { object: { spec: { containers, affinity } } }))

  it('refuses required anti-affinity over other topologies than the host name [P270]', async () => {
    expect(await refused(required('kubernetes.io/hostname'))).toBe('')
    expect(await refused(required('kubernetes.io/hostname', 'zone'))).toBe(
      'pods "a" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key kubernetes.io/hostname is allowed',
    )
  })

  it('allows any topology for preferred anti-affinity and for affinity [P270]', async () => {
    const term = { topologyKey: 'zone' }
    expect(
      await refused({ podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ podAffinityTerm: term }] } }),
    ).toBe('')
    expect(await refused({ podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } })).toBe('')
  })
})

describe('PodNodeSelector', () => {
  const cluster = clusterOf({
    'namespaces//ns': { metadata: { annotations: { 'scheduler.alpha.kubernetes.io/node-selector': 'env=dev, disk=ssd' } } },
    'namespaces//plain': {},
    'namespaces//broken': { metadata: { annotations: { 'scheduler.alpha.kubernetes.io/node-selector': 'a' } } },
  })
  const plugin = podNodeSelector(stockProfile, { clusterDefaultNodeSelector: 'pool=all', ns: 'env=dev,disk=ssd,own=1' })
  const admitted = (nodeSelector: object | undefined, namespace = 'ns') =>
    runAdmission(
      plugin,
      'pods',
      { object: { spec: { containers, ...(nodeSelector === undefined ? {} : { nodeSelector }) } }, namespace },
      cluster,
    )

  it('adds the node selector of the namespace annotation [P285]', async () => {
    expect(specOf(await admitted({ own: '1' })).nodeSelector).toEqual({ env: 'dev', disk: 'ssd', own: '1' })
  })

  it('falls back to the cluster default [P285]', async () => {
    expect(specOf(await admitted(undefined, 'plain')).nodeSelector).toEqual({ pool: 'all' })
  })

  it('refuses conflicting node selectors [P285]', async () => {
    expect(refusalOf(await admitted({ env: 'prod' }))).toBe(
      'pods "a" is forbidden: pod node label selector conflicts with its namespace node label selector',
    )
  })

  it('refuses labels outside the allow list of the namespace [P285]', async () => {
    expect(refusalOf(await admitted({ other: 'x' }))).toBe(
      'pods "a" is forbidden: pod node label selector labels conflict with its namespace whitelist',
    )
  })

  it('fails for an invalid annotation and for a missing namespace [P285]', async () => {
    expect((await admitted({}, 'broken')).status).toMatchObject({ code: 500 })
    expect((await admitted({}, 'none')).status).toMatchObject({ code: 404 })
  })

  it('rejects invalid configurations [P285]', () => {
    const selectors = { clusterDefaultNodeSelector: 'a=b', ns: 'c=d' }
    expect(parseNodeSelectors({ podNodeSelectorPluginConfig: selectors })).toEqual(selectors)
    expect(parseNodeSelectors(undefined)).toEqual({})
    expect(() => parseNodeSelectors({ podNodeSelectorPluginConfig: { ns: 'c' } })).toThrow('podNodeSelectorPluginConfig.ns')
    expect(() => parseNodeSelectors({ podNodeSelectorPluginConfig: { ns: 1 } })).toThrow('must be a string')
  })
})

describe('PodTolerationRestriction', () => {
  const annotated = (annotations: Record<string, string>) => ({
    metadata: {
      annotations: Object.fromEntries(
        Object.entries(annotations).map(([key, value]) => [`scheduler.alpha.kubernetes.io/${key}`, value]),
      ),
    },
  })
  const own = { key: 'k', operator: 'Exists', effect: 'NoSchedule' }
  const cluster = clusterOf({
    'namespaces//ns': annotated({ defaultTolerations: JSON.stringify([own]) }),
    'namespaces//listed': annotated({ tolerationsWhitelist: JSON.stringify([own]) }),
    'namespaces//plain': {},
    'namespaces//empty': annotated({ defaultTolerations: '' }),
    'namespaces//broken': annotated({ defaultTolerations: 'k' }),
    'namespaces//odd': annotated({ defaultTolerations: '{}' }),
  })
  const plugin = podTolerationRestriction(stockProfile)
  const tolerations = async (given: object[], namespace = 'ns', on = plugin, spec: object = { containers }) =>
    specOf(await runAdmission(on, 'pods', { object: { spec: { ...spec, tolerations: given } }, namespace }, cluster)).tolerations
  const refused = async (given: object[], namespace: string, on = plugin) =>
    (await runAdmission(on, 'pods', { object: { spec: { containers, tolerations: given } }, namespace }, cluster)).status

  it('appends the default tolerations of the namespace [P287]', async () => {
    const mine = { key: 'mine', operator: 'Exists' }
    expect(await tolerations([])).toEqual([own])
    expect(await tolerations([mine])).toEqual([mine, own])
    expect(await tolerations([{ operator: 'Exists' }])).toEqual([{ operator: 'Exists' }])
    expect(await tolerations([own])).toEqual([own])
  })

  it('adds the memory-pressure toleration to pods with resource requests [P287]', async () => {
    const busy = { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] }
    const pressure = { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' }
    expect(await tolerations([], 'plain', plugin, busy)).toEqual([pressure])
  })

  it('refuses tolerations outside the allow list [P287]', async () => {
    expect(await refused([own], 'listed')).toBeUndefined()
    expect(await refused([{ ...own, effect: 'NoExecute' }], 'listed')).toMatchObject({
      code: 500,
      message: 'pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist',
    })
  })

  it('uses the cluster lists without an annotation; an empty annotation overrides them [P287]', async () => {
    const strict = podTolerationRestriction(stockProfile, { default: [own], whitelist: [own] })
    expect(await tolerations([], 'plain', strict)).toEqual([own])
    expect(await tolerations([], 'empty', strict)).toEqual([])
    expect(await refused([{ key: 'x', operator: 'Exists' }], 'plain', strict)).toMatchObject({
      message: expect.stringContaining('conflict with its cluster whitelist'),
    })
  })

  it('fails for invalid annotations [P287]', async () => {
    expect(await refused([], 'broken')).toMatchObject({
      code: 500,
      message: "invalid character 'k' looking for beginning of value",
    })
    expect(await refused([], 'odd')).toMatchObject({ code: 500, message: expect.stringContaining('cannot unmarshal object') })
  })

  it('parses its configuration [P287]', () => {
    const value = { apiVersion: 'podtolerationrestriction.admission.k8s.io/v1alpha1', kind: 'Configuration', default: [own] }
    expect(parseClusterTolerations(value, 'k8s.io')).toEqual({ default: [own], whitelist: [] })
    expect(parseClusterTolerations(undefined, 'k8s.io')).toEqual({})
    expect(() => parseClusterTolerations({ ...value, default: [1] }, 'k8s.io')).toThrow('must be an object')
    expect(() => parseClusterTolerations({ ...value, kind: 'X' }, 'k8s.io')).toThrow('must be Configuration')
  })
})

describe('RuntimeClass', () => {
  const plugin = runtimeClass(stockProfile)
  const toleration = { key: 'kata', operator: 'Exists' }
  const cluster = clusterOf({
    'node.k8s.io/runtimeclasses//kata': {
      overhead: { podFixed: { cpu: '250m' } },
      scheduling: { nodeSelector: { runtime: 'kata' }, tolerations: [toleration] },
    },
    'node.k8s.io/runtimeclasses//plain': {},
  })
  const admitted = (spec: object) => runAdmission(plugin, 'pods', { object: { spec: { containers, ...spec } } }, cluster)

  it('takes overhead, node selector and tolerations from the class [P290]', async () => {
    expect(specOf(await admitted({ runtimeClassName: 'kata', nodeSelector: { disk: 'ssd' } }))).toMatchObject({
      overhead: { cpu: '250m' },
      nodeSelector: { disk: 'ssd', runtime: 'kata' },
      tolerations: [toleration],
    })
    expect(specOf(await admitted({ runtimeClassName: 'plain' }))).toEqual({ containers, runtimeClassName: 'plain' })
    expect(specOf(await admitted({}))).toEqual({ containers })
  })

  it('refuses an unknown class [P290]', async () => {
    expect(refusalOf(await admitted({ runtimeClassName: 'none' }))).toBe(
      'pods "a" is forbidden: pod rejected: RuntimeClass "none" not found',
    )
  })

  it('refuses an overhead that differs from the class [P291]', async () => {
    expect((await admitted({ runtimeClassName: 'kata', overhead: { cpu: '0.25' } })).allowed).toBe(true)
    const differs = "pods \"a\" is forbidden: pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
    expect(refusalOf(await admitted({ runtimeClassName: 'kata', overhead: { cpu: '1' } }))).toBe(differs)
    const without = 'pods "a" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'
    expect(refusalOf(await admitted({ overhead: { cpu: '1' } }))).toBe(without)
    expect(refusalOf(await admitted({ runtimeClassName: 'plain', overhead: { cpu: '1' } }))).toBe(without)
  })

  it('refuses a conflicting node selector [P290]', async () => {
    expect(refusalOf(await admitted({ runtimeClassName: 'kata', nodeSelector: { runtime: 'runc' } }))).toBe(
      'pods "a" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[runtime] = kata; pod.spec.nodeSelector[runtime] = runc',
    )
  })
})

describe('AlwaysPullImages', () => {
  const plugin = alwaysPullImages()
  const kept = { name: 'c', image: 'i', imagePullPolicy: 'IfNotPresent' }

  it('sets the pull policy of every container', async () => {
    const spec = specOf(await runAdmission(plugin, 'pods', { object: { spec: { containers: [kept], initContainers: [kept] } } }))
    expect(spec).toMatchObject({ containers: [{ imagePullPolicy: 'Always' }], initContainers: [{ imagePullPolicy: 'Always' }] })
  })

  it('skips updates without a new image', async () => {
    const spec = { containers: [kept] }
    expect(specOf(await runAdmission(plugin, 'pods', { object: { spec }, oldObject: { spec } }))).toEqual(spec)
    const next = { spec: { containers: [{ ...kept, image: 'j' }] } }
    expect(specOf(await runAdmission(plugin, 'pods', { object: next, oldObject: { spec } }))).toMatchObject({
      containers: [{ imagePullPolicy: 'Always' }],
    })
  })

  it('refuses pull policies that a later plugin changed', async () => {
    const other = {
      name: 'other',
      handles: () => true,
      admit: (pod: object) => void Object.assign(pod, { spec: { containers: [kept] } }),
    }
    expect(refusalOf(await runAdmission([plugin, other], 'pods', { object: { spec: { containers: [kept] } } }))).toBe(
      'pods "a" is forbidden: spec.containers[0].imagePullPolicy: Unsupported value: "IfNotPresent": supported values: "Always"',
    )
  })
})

describe('ExtendedResourceToleration', () => {
  it('adds tolerations for the requested extended resources', async () => {
    const requests = { 'example.com/gpu': '1', cpu: '1', 'kubernetes.io/odd': '1' }
    const object = { spec: { containers: [{ name: 'c', resources: { requests } }], tolerations: [{ key: 'x' }] } }
    expect(specOf(await runAdmission(extendedResourceToleration(stockProfile), 'pods', { object })).tolerations).toEqual([
      { key: 'x' },
      { key: 'example.com/gpu', operator: 'Exists' },
    ])
  })
})

describe('DenyServiceExternalIPs', () => {
  const service = (...externalIPs: string[]) => ({ spec: { externalIPs } })
  const refused = async (object: object, oldObject?: object) =>
    refusalOf(
      await runAdmission(denyServiceExternalIPs(), 'services', { object, ...(oldObject === undefined ? {} : { oldObject }) }),
    )

  it('refuses new external IPs; existing ones may be kept or removed', async () => {
    const denied = 'services "a" is forbidden: Use of external IPs is denied by admission control.'
    expect(await refused(service('1.2.3.4'))).toBe(denied)
    expect(await refused(service('1.2.3.4', '5.6.7.8'), service('1.2.3.4'))).toBe(denied)
    expect(await refused(service('1.2.3.4'), service('1.2.3.4', '5.6.7.8'))).toBe('')
  })
})

describe('AlwaysAdmit and AlwaysDeny', () => {
  it('allow and deny everything', async () => {
    expect((await runAdmission(alwaysAdmit(), 'pods', { object: {} })).allowed).toBe(true)
    expect(refusalOf(await runAdmission(alwaysDeny(), 'pods', { object: {} }))).toBe(
      'pods "a" is forbidden: admission control is denying all modifications',
    )
  })
})
