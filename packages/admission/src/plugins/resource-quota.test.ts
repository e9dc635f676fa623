import { fakeClock, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createAdmissionChain } from '../chain.ts'
import type { AdmissionContext } from '../interfaces.ts'
import type { ObjectSet } from '../object-set.ts'
import { createUsageEvaluators } from '../quota/evaluators.ts'
import { parseLimitedResources } from '../quota/limited.ts'
import { printUsage } from '../quota/usage.ts'
import { attributesOf, cachedReader } from '../testing/request.ts'
import { clusterOf, refusalOf, runAdmission } from '../testing/run-admission.ts'
import { resourceQuota } from './resource-quota.ts'

const now = Date.UTC(2024, 0, 1)
const plugin = () => resourceQuota({ profile: stockProfile, clock: fakeClock(now) })
const quota = (hard: Record<string, string>, used: Record<string, string> = {}, spec: object = {}) => ({
  spec: { hard, ...spec },
  status: { hard, used: { ...Object.fromEntries(Object.keys(hard).map((name) => [name, '0'])), ...used } },
})
const container = (requests: object = {}, limits: object = {}) => ({ name: 'c', resources: { requests, limits } })
const pod = (name: string, ...containers: object[]) => ({ metadata: { name }, spec: { containers } })
const used = (cluster: ObjectSet, name = 'q') =>
  (cluster.get({ group: '', resource: 'resourcequotas' }, 'ns', name) as { status?: { used?: object } } | undefined)?.status?.used

describe('ResourceQuota: charges', () => {
  it('charges creations until the quota is exhausted [P289]', async () => {
    const cluster = clusterOf({ 'resourcequotas/ns/q': quota({ pods: '2', 'count/configmaps': '1' }) })
    const on = plugin()
    const create = async (name: string, resource = 'pods') =>
      refusalOf(await runAdmission(on, resource, { object: pod(name, container()) }, cluster, { writer: cluster }))
    expect([await create('a'), await create('b'), await create('c')]).toEqual([
      '',
      '',
      'pods "c" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2',
    ])
    expect([await create('x', 'configmaps'), await create('y', 'configmaps')]).toEqual([
      '',
      'configmaps "y" is forbidden: exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1',
    ])
    expect(used(cluster)).toEqual({ 'count/configmaps': '1', pods: '2' })
  })

  it('charges all quotas of the namespace or none [P289]', async () => {
    const cluster = clusterOf({ 'resourcequotas/ns/q': quota({ pods: '9' }), 'resourcequotas/ns/z': quota({ pods: '0' }) })
    const result = await runAdmission(plugin(), 'pods', { object: pod('a', container()) }, cluster, { writer: cluster })
    expect(refusalOf(result)).toContain('exceeded quota: z')
    expect(used(cluster)).toEqual({ pods: '0' })
  })

  it('charges nothing in a dry run and for free objects [P289]', async () => {
    const cluster = clusterOf({ 'resourcequotas/ns/q': quota({ pods: '1', 'services.nodeports': '0' }) })
    await runAdmission(plugin(), 'pods', { object: pod('a', container()), dryRun: true }, cluster, { writer: cluster })
    await runAdmission(plugin(), 'configmaps', { object: {} }, cluster, { writer: cluster })
    expect(
      (
        await runAdmission(plugin(), 'services', { object: { spec: { type: 'ClusterIP', ports: [{}] } } }, cluster, {
          writer: cluster,
        })
      ).allowed,
    ).toBe(true)
    expect(used(cluster)).toEqual({ pods: '0', 'services.nodeports': '0' })
  })

  it('waits for nothing in a namespace without quotas, once all quotas are cached', async () => {
    const object = { apiVersion: 'v1', kind: 'Pod', ...pod('a', container()) }
    const validate = async (name: string) => {
      const cluster = clusterOf({ [`resourcequotas/${name}/q`]: quota({ pods: '0' }) })
      const reader = await cachedReader(cluster, [{ group: '', resource: 'resourcequotas' }])
      const context = { reader, writer: cluster, warn: () => undefined }
      return { result: plugin().validate?.(object, attributesOf('pods', { namespace: 'ns' }), context) }
    }
    expect((await validate('other')).result).toBeUndefined()
    await expect((await validate('ns')).result).rejects.toMatchObject({ code: 403 })
  })

  it('refunds the charge of an object that was not stored [P289]', async () => {
    const cluster = clusterOf({ 'resourcequotas/ns/q': quota({ pods: '1' }) })
    const chain = createAdmissionChain([plugin()])
    const context: AdmissionContext = { reader: cluster, writer: cluster, warn: () => undefined }
    const object = { apiVersion: 'v1', kind: 'Pod', ...pod('a', container()) }
    const reservation = await chain.validate(object, attributesOf('pods', { namespace: 'ns' }), context)
    expect(used(cluster)).toEqual({ pods: '1' })
    await reservation?.rollback()
    expect(used(cluster)).toEqual({ pods: '0' })
  })

  it('admits as many of 64 concurrent requests as fit, in few writes [P289]', async () => {
    const cluster = clusterOf({
      'resourcequotas/ns/q': quota({ pods: '40' }),
      'resourcequotas/ns/r': quota({ 'requests.cpu': '2' }),
    })
    let writes = 0
    const writer = {
      create: cluster.create.bind(cluster),
      update: async (...args: Parameters<ObjectSet['update']>) => {
        writes++
        await new Promise((resolve) => setImmediate(resolve))
        return cluster.update(...args)
      },
    }
    const on = plugin()
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, i) =>
        runAdmission(on, 'pods', { object: pod(`p${i}`, container({ cpu: '100m' })) }, cluster, { writer }),
      ),
    )
    expect(answers.filter(({ allowed }) => allowed)).toHaveLength(20)
    expect([used(cluster), used(cluster, 'r')]).toEqual([{ pods: '20' }, { 'requests.cpu': '2' }])
    expect(writes).toBeLessThan(64)
  })

  it('recomputes charges when another writer changed a quota [P289]', async () => {
    const cluster = clusterOf({ 'resourcequotas/ns/q': quota({ pods: '2' }) })
    const resource = { group: '', resource: 'resourcequotas' }
    let isDisturbed = false
    const writer = {
      create: cluster.create.bind(cluster),
      update: async (...args: Parameters<ObjectSet['update']>) => {
        if (!isDisturbed) {
          isDisturbed = true
          const current = cluster.get(resource, 'ns', 'q') as object
          cluster.put(resource, { ...current, ...quota({ pods: '2' }, { pods: '2' }) } as never)
        }
        return cluster.update(...args)
      },
    }
    expect(refusalOf(await runAdmission(plugin(), 'pods', { object: pod('a', container()) }, cluster, { writer }))).toContain(
      'used: pods=2',
    )
  })

  it('fails requests when the store fails, and recovers [P289]', async () => {
    const cluster = clusterOf({ 'resourcequotas/ns/q': quota({ pods: '2' }), 'resourcequotas/ns/r': quota({ pods: '2' }) })
    let failing = true
    let updates = 0
    const writer = {
      create: cluster.create.bind(cluster),
      update: async (...args: Parameters<ObjectSet['update']>) => {
        if (failing && ++updates > 1) throw new TypeError('the disk is full')
        return cluster.update(...args)
      },
    }
    const on = plugin()
    const create = (name: string) => runAdmission(on, 'pods', { object: pod(name, container()) }, cluster, { writer })
    const results = await Promise.allSettled([create('a'), create('b')])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    failing = false
    expect((await create('c')).allowed).toBe(true)
  })

  it('refuses resources of a quota without status [P289]', async () => {
    const cluster = clusterOf({
      'resourcequotas/ns/new': { spec: { hard: { pods: '1' } } },
      'resourcequotas/ns/half': { spec: {}, status: { hard: { secrets: '1' } } },
    })
    expect((await runAdmission(plugin(), 'pods', { object: pod('a', container()) }, cluster)).allowed).toBe(true)
    expect(refusalOf(await runAdmission(plugin(), 'secrets', { object: {} }, cluster))).toBe(
      'secrets "a" is forbidden: status unknown for quota: half, resources: secrets',
    )
  })

  it('refuses a recount that may have missed charged objects, once per commit [P289]', async () => {
    const cluster = clusterOf({ 'resourcequotas/ns/q': quota({ pods: '5' }, { pods: '1' }) })
    const on = plugin()
    const chain = createAdmissionChain([on])
    const context: AdmissionContext = { reader: cluster, writer: cluster, warn: () => undefined }
    const object = { apiVersion: 'v1', kind: 'Pod', ...pod('a', container()) }
    const reservation = await chain.validate(object, attributesOf('pods', { namespace: 'ns' }), context)
    const count = async (pods: string, username = 'system:kube-controller-manager') => {
      const before = cluster.get({ group: '', resource: 'resourcequotas' }, 'ns', 'q') as object
      const after = { ...before, status: { hard: { pods: '5' }, used: { pods } } }
      const result = await runAdmission(
        on,
        'resourcequotas',
        { object: after, oldObject: before, subresource: 'status', user: { username, groups: [] } },
        cluster,
      )
      return result.status?.reason
    }
    expect([await count('0'), await count('3'), await count('0', 'admin')]).toEqual(['Conflict', undefined, undefined])
    await reservation?.commit()
    expect([await count('0'), await count('0')]).toEqual(['Conflict', undefined])
  })
})

describe('ResourceQuota: updates', () => {
  const change = (
    hard: Record<string, string>,
    usedBefore: Record<string, string>,
    resource: string,
    oldObject: object,
    object: object,
  ) => {
    const cluster = clusterOf({ 'resourcequotas/ns/q': quota(hard, usedBefore) })
    return runAdmission(plugin(), resource, { oldObject, object }, cluster, { writer: cluster }).then((result) => [
      refusalOf(result),
      used(cluster),
    ])
  }
  const service = (type: string, ...ports: object[]) => ({ spec: { type, ports } })

  it('charges the difference [P289]', async () => {
    const hard = { services: '1', 'services.nodeports': '2', 'services.loadbalancers': '0' }
    const [message, after] = await change(
      hard,
      { services: '1' },
      'services',
      service('ClusterIP', {}),
      service('NodePort', {}, {}),
    )
    expect([message, after]).toEqual(['', { services: '1', 'services.loadbalancers': '0', 'services.nodeports': '2' }])
    const [refused] = await change(hard, { services: '1' }, 'services', service('ClusterIP', {}), service('LoadBalancer', {}))
    expect(refused).toContain(
      'requested: services.loadbalancers=1, used: services.loadbalancers=0, limited: services.loadbalancers=0',
    )
  })

  it('leaves released usage to the recount of the controller [P289]', async () => {
    const hard = { 'services.nodeports': '3', 'services.loadbalancers': '1' }
    const usedBefore = { 'services.nodeports': '2', 'services.loadbalancers': '0' }
    const to = (after: object) => change(hard, usedBefore, 'services', service('NodePort', {}, {}), after)
    expect(await to(service('ClusterIP', {}))).toEqual(['', usedBefore])
    expect(await to(service('LoadBalancer', {}))).toEqual(['', { ...usedBefore, 'services.loadbalancers': '1' }])
    const [message] = await change(
      { 'services.nodeports': '1' },
      { 'services.nodeports': '3' },
      'services',
      service('NodePort', {}, {}, {}),
      service('NodePort', {}, {}),
    )
    expect(message).toBe('')
  })

  it('charges the whole object when it enters a scope [P289]', async () => {
    const scoped = clusterOf({ 'resourcequotas/ns/q': quota({ pods: '0' }, {}, { scopes: ['Terminating'] }) })
    const before = pod('a', container())
    const after = { ...before, spec: { ...before.spec, activeDeadlineSeconds: 5 } }
    expect(refusalOf(await runAdmission(plugin(), 'pods', { oldObject: before, object: after }, scoped))).toContain(
      'requested: pods=1',
    )
    expect((await runAdmission(plugin(), 'pods', { oldObject: after, object: after }, scoped)).allowed).toBe(true)
  })
})

describe('ResourceQuota: required members', () => {
  it('requires every container to set the limited resources [P289]', async () => {
    const cluster = clusterOf({ 'resourcequotas/ns/q': quota({ 'requests.cpu': '1', 'limits.memory': '1Gi', pods: '9' }) })
    const object = { spec: { containers: [container({ cpu: '1m' })], initContainers: [{ name: 'i' }] } }
    expect(refusalOf(await runAdmission(plugin(), 'pods', { object }, cluster))).toBe(
      'pods "a" is forbidden: failed quota: q: must specify limits.memory for: c,i; requests.cpu for: i',
    )
  })

  it('refuses negative usage [P289]', async () => {
    const cluster = clusterOf({ 'resourcequotas/ns/q': quota({ 'requests.storage': '1Gi' }) })
    const object = { spec: { resources: { requests: { storage: '-1Gi' } } } }
    expect(refusalOf(await runAdmission(plugin(), 'persistentvolumeclaims', { object }, cluster))).toBe(
      'persistentvolumeclaims "a" is forbidden: quota usage is negative for resource(s): requests.storage',
    )
  })

  it('refuses limited resources without a covering quota [P289]', async () => {
    const limited = parseLimitedResources(
      {
        apiVersion: 'apiserver.config.k8s.io/v1',
        kind: 'ResourceQuotaConfiguration',
        limitedResources: [
          {
            resource: 'pods',
            matchContains: ['cpu'],
            matchScopes: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }],
          },
        ],
      },
      'k8s.io',
    )
    const on = resourceQuota({ profile: stockProfile, clock: fakeClock(now), limited })
    const admitted = (spec: object, cluster = clusterOf()) =>
      runAdmission(on, 'pods', { object: { spec } }, cluster).then(refusalOf)
    const busy = { containers: [container({ cpu: '1' })] }
    expect(await admitted(busy)).toBe('pods "a" is forbidden: insufficient quota to consume: cpu,requests.cpu')
    expect(await admitted({ containers: [], priorityClassName: 'high' })).toBe(
      'pods "a" is forbidden: insufficient quota to match these scopes: [{PriorityClass In [high]}]',
    )
    expect(await admitted(busy, clusterOf({ 'resourcequotas/ns/q': quota({ cpu: '9', 'requests.cpu': '9' }) }))).toBe('')
    expect(await admitted({ containers: [] })).toBe('')
    const resized = (before: string, after: string) => {
      const withMemory = (memory: string) => ({ spec: { containers: [container({ cpu: '1', memory })] } })
      const objects = { object: withMemory(after), oldObject: withMemory(before) }
      const update = { operation: 'UPDATE' as const, subresource: 'resize', ...objects }
      return runAdmission(on, 'pods', update, clusterOf()).then(refusalOf)
    }
    expect(await resized('1Mi', '2Mi')).toBe('pods "a" is forbidden: insufficient quota to consume: cpu,requests.cpu')
    expect(await resized('2Mi', '1Mi')).toBe('')
    expect(() => parseLimitedResources({ apiVersion: 'x', kind: 'ResourceQuotaConfiguration' }, 'k8s.io')).toThrow(
      'apiVersion must be',
    )
  })

  it('requires nothing of the containers of a pod that has resources itself [P289]', async () => {
    const cluster = clusterOf({ 'resourcequotas/ns/q': quota({ 'requests.cpu': '1' }) })
    const object = (cpu: string) => ({ spec: { containers: [container()], resources: { requests: { cpu } } } })
    expect(refusalOf(await runAdmission(plugin(), 'pods', { object: object('1') }, cluster))).toBe('')
    expect(refusalOf(await runAdmission(plugin(), 'pods', { object: object('2') }, cluster))).toContain('exceeded quota: q')
  })
})

describe('usage evaluators', () => {
  const evaluatorOf = createUsageEvaluators({ profile: stockProfile, clock: fakeClock(now) })
  const cost = (resource: string, object: object, group = '') =>
    printUsage(evaluatorOf({ group, resource }).usage({ apiVersion: 'v1', kind: '', metadata: {}, ...object }))

  it('pods: containers, init containers, overhead and extended resources [P289]', () => {
    const spec = {
      containers: [
        {
          name: 'a',
          resources: { requests: { cpu: '1', 'example.com/gpu': '2', 'hugepages-2Mi': '4Mi' }, limits: { memory: '1Gi' } },
        },
        { name: 'b', resources: { requests: { cpu: '500m', 'ephemeral-storage': '1Gi' } } },
      ],
      initContainers: [{ name: 'i', resources: { requests: { cpu: '2' } } }],
      overhead: { cpu: '100m', memory: '1Mi' },
    }
    expect(cost('pods', { spec })).toBe(
      'count/pods=1,cpu=2100m,ephemeral-storage=1Gi,hugepages-2Mi=4Mi,limits.memory=1025Mi,memory=1Mi,pods=1,requests.cpu=2100m,requests.ephemeral-storage=1Gi,requests.example.com/gpu=2,requests.hugepages-2Mi=4Mi,requests.memory=1Mi',
    )
  })

  it('pods: terminated pods count only as objects [P289]', () => {
    const spec = { containers: [container({ cpu: '1' })] }
    expect(cost('pods', { spec, status: { phase: 'Succeeded' } })).toBe('count/pods=1')
    const leaving = (time: string) => ({ spec, metadata: { deletionTimestamp: time, deletionGracePeriodSeconds: 30 } })
    expect(cost('pods', leaving('2023-12-31T23:59:00Z'))).toBe('count/pods=1')
    expect(cost('pods', leaving('2024-01-01T00:00:00Z'))).toContain('pods=1,requests.cpu=1')
  })

  it('claims by class, services by type, other objects by count [P289]', () => {
    const claim = {
      spec: { storageClassName: 'fast', resources: { requests: { storage: '1Gi' } } },
      status: { allocatedResources: { storage: '2Gi' } },
    }
    expect(cost('persistentvolumeclaims', claim)).toBe(
      'count/persistentvolumeclaims=1,fast.storageclass.storage.k8s.io/persistentvolumeclaims=1,fast.storageclass.storage.k8s.io/requests.storage=2Gi,persistentvolumeclaims=1,requests.storage=2Gi',
    )
    const balanced = (allocateLoadBalancerNodePorts: boolean) => ({
      spec: { type: 'LoadBalancer', allocateLoadBalancerNodePorts, ports: [{ nodePort: 30000 }, {}] },
    })
    expect(cost('services', balanced(true))).toBe('count/services=1,services=1,services.loadbalancers=1,services.nodeports=2')
    expect(cost('services', balanced(false))).toContain('services.nodeports=1')
    expect(cost('deployments', {}, 'apps')).toBe('count/deployments.apps=1')
    expect(cost('configmaps', {})).toBe('configmaps=1,count/configmaps=1')
  })

  it('scopes select pods [P289]', () => {
    const matches = (scopeName: string, spec: object, operator = 'Exists', values: string[] = []) =>
      evaluatorOf({ group: '', resource: 'pods' }).matchesScope(
        { scopeName, operator, values },
        { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec },
      )
    const idle = { containers: [{ name: 'c' }] }
    const busy = { containers: [container({ cpu: '1' })] }
    expect([matches('BestEffort', idle), matches('BestEffort', busy), matches('NotBestEffort', busy)]).toEqual([
      true,
      false,
      true,
    ])
    const timed = { ...idle, activeDeadlineSeconds: 0 }
    expect([matches('Terminating', timed), matches('NotTerminating', timed), matches('NotTerminating', idle)]).toEqual([
      true,
      false,
      true,
    ])
    const high = { ...idle, priorityClassName: 'high' }
    expect([
      matches('PriorityClass', high),
      matches('PriorityClass', idle),
      matches('PriorityClass', high, 'In', ['high']),
      matches('PriorityClass', high, 'NotIn', ['high']),
      matches('PriorityClass', idle, 'NotIn', ['high']),
      matches('PriorityClass', idle, 'DoesNotExist'),
    ]).toEqual([true, false, true, false, true, true])
    const term = { topologyKey: 'k', namespaces: ['other'] }
    const required = (affinity: string) => ({
      ...idle,
      affinity: { [affinity]: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
    })
    const preferred = {
      ...idle,
      affinity: {
        podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ podAffinityTerm: { namespaceSelector: {} } }] },
      },
    }
    expect(
      [required('podAffinity'), required('podAntiAffinity'), preferred, idle].map((spec) =>
        matches('CrossNamespacePodAffinity', spec),
      ),
    ).toEqual([true, true, true, false])
    expect(matches('Unknown', idle)).toBe(false)
  })
})
