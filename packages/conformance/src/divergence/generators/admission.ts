import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonValue } from '@krmkit/meta'
import type { Scenario, Step } from '../scenario.ts'
import { randomPod } from './pods.ts'
import { generatePolicies } from './policies.ts'
import { generateWebhooks } from './webhooks.ts'

type Draft = Record<string, JsonValue>

/** Time in which an object reaches the plugins of both servers, in milliseconds. */
const settleMs = 400
const inNamespace = '/api/v1/namespaces/{ns}'

/** One of the built-in plugins, a policy in CEL, or webhooks. */
export function generateAdmission(random: RandomChoices): Scenario {
  const generate = random.pick([
    generateQuotas,
    generateLimits,
    generateClasses,
    generatePodSecurity,
    generatePolicies,
    generatePolicies,
    generateWebhooks,
    generateWebhooks,
  ])
  return generate(random)
}

const quantities = ['0', '1', '2', '500m', '1500m', '100Mi', '1Gi', '3']
const quotaKeys = [
  'pods',
  'requests.cpu',
  'limits.cpu',
  'cpu',
  'memory',
  'requests.memory',
  'limits.memory',
  'services',
  'secrets',
  'configmaps',
  'count/configmaps',
  'count/deployments.apps',
  'persistentvolumeclaims',
  'requests.storage',
  'services.nodeports',
  'services.loadbalancers',
  'requests.ephemeral-storage',
  'fast.storageclass.storage.k8s.io/requests.storage',
  'count/pods',
  'requests.example.com/gpu',
] // prettier-ignore

function generateQuotas(random: RandomChoices): Scenario {
  const steps: Step[] = []
  for (let i = 0; i < random.pick([1, 1, 2]); i++) {
    const hard: Draft = {}
    for (let n = 1 + random.below(4); n > 0; n--) hard[random.pick(quotaKeys)] = random.pick(quantities)
    const spec: Draft = { hard, ...quotaScope(random) }
    const path = `${inNamespace}/resourcequotas`
    steps.push({ id: `quota${i}`, method: 'POST', path, body: { json: { metadata: { name: `q${i}` }, spec } } })
    const used = Object.fromEntries(Object.keys(hard).map((key) => [key, random.pick(['0', '0', '0', '1'])]))
    const status = random.chance(85) ? { hard, used } : { hard }
    steps.push({
      id: `status${i}`,
      method: 'PATCH',
      path: `${path}/q${i}/status`,
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { json: { status } },
      settleMs,
    })
  }
  for (let i = 0; i < 8; i++) {
    steps.push(counted(random, i))
    // kube-apiserver writes the usage before it answers.
    if (random.chance(40)) steps.push({ id: `get${i}`, method: 'GET', path: `${inNamespace}/resourcequotas/q0` })
  }
  return { area: 'admission', steps }
}

function quotaScope(random: RandomChoices): Draft {
  if (random.chance(70)) return {}
  if (random.chance(60))
    return {
      scopes: [
        random.pick([
          'Terminating',
          'NotTerminating',
          'BestEffort',
          'NotBestEffort',
          'PriorityClass',
          'CrossNamespacePodAffinity',
        ]),
      ],
    }
  const operator = random.pick(['In', 'NotIn', 'Exists', 'DoesNotExist'])
  return {
    scopeSelector: {
      matchExpressions: [
        { scopeName: 'PriorityClass', operator, ...(operator.endsWith('In') ? { values: ['system-node-critical'] } : {}) },
      ],
    },
  }
}

/** Creates or changes what quotas and limits count. */
function counted(random: RandomChoices, i: number): Step {
  const query: [string, string][] = random.chance(15) ? [['dryRun', 'All']] : []
  const create = (path: string, json: JsonValue): Step => ({ id: `create${i}`, method: 'POST', path, query, body: { json } })
  const metadata = { name: `o${i}` }
  switch (random.below(9)) {
    case 0:
      return create(`${inNamespace}/configmaps`, { metadata })
    case 1:
      return create(`${inNamespace}/services`, {
        metadata,
        spec: { type: random.pick(['ClusterIP', 'NodePort', 'LoadBalancer']), ports: [{ port: 80 }] },
      })
    case 2:
    case 3:
      return create(`${inNamespace}/persistentvolumeclaims`, claim(metadata, random))
    case 4:
      return {
        id: `delete${i}`,
        method: 'DELETE',
        path: `${inNamespace}/${random.pick(['pods', 'configmaps'])}/o${random.below(i + 1)}`,
        query: [['gracePeriodSeconds', '0']],
      }
    case 5:
      return create('/apis/apps/v1/namespaces/{ns}/deployments', {
        metadata,
        spec: {
          selector: { matchLabels: { a: 'b' } },
          template: { metadata: { labels: { a: 'b' } }, spec: randomPod(random, 'resources') },
        },
      })
    default:
      return create(`${inNamespace}/pods`, { metadata, spec: randomPod(random, 'resources') })
  }
}

function claim(metadata: Draft, random: RandomChoices): JsonValue {
  return {
    metadata,
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: {
        requests: { storage: random.pick(['1Gi', '100Mi', '10Gi']) },
        ...(random.chance(20) ? { limits: { storage: '5Gi' } } : {}),
      },
      ...(random.chance(40) ? { storageClassName: random.pick(['fast', 'slow', '']) } : {}),
    },
  }
}

function generateLimits(random: RandomChoices): Scenario {
  const amounts = (): Draft => {
    const result: Draft = {}
    for (const key of ['cpu', 'memory'])
      if (random.chance(55)) result[key] = random.pick(key === 'cpu' ? ['100m', '500m', '1', '2'] : ['10Mi', '100Mi', '1Gi'])
    return result
  }
  const limit = (types: readonly string[]): JsonValue => {
    const type = random.pick(types)
    if (type === 'PersistentVolumeClaim')
      return { type, min: { storage: '200Mi' }, max: { storage: random.pick(['1Gi', '5Gi']) } }
    const entry: Draft = { type }
    for (const key of type === 'Container' ? ['min', 'max', 'default', 'defaultRequest'] : ['min', 'max'])
      if (random.chance(50)) entry[key] = amounts()
    if (random.chance(25)) entry['maxLimitRequestRatio'] = { [random.pick(['cpu', 'memory'])]: random.pick(['1', '2', '1.5']) }
    return entry
  }
  const steps: Step[] = []
  for (let i = 0; i < 2; i++) {
    // kube-apiserver applies the defaults of several objects in random order.
    const types = i === 0 ? ['Container', 'Container', 'Pod', 'PersistentVolumeClaim'] : ['Pod', 'PersistentVolumeClaim']
    const spec = { limits: Array.from({ length: 1 + random.below(2) }, () => limit(types)) }
    steps.push({
      id: `limit${i}`,
      method: 'POST',
      path: `${inNamespace}/limitranges`,
      body: { json: { metadata: { name: `l${i}` }, spec } },
      settleMs,
    })
  }
  for (let i = 0; i < 8; i++) steps.push(counted(random, i))
  return { area: 'admission', steps }
}

/** Priority classes, runtime classes, and the default classes of storage and ingresses, which hold for the whole cluster. */
function generateClasses(random: RandomChoices): Scenario {
  const steps: Step[] = []
  const create = (id: string, path: string, json: JsonValue): void => {
    steps.push({ id, method: 'POST', path, body: { json } })
  }
  const priority = {
    metadata: { name: '{id}-p' },
    value: random.pick([0, 5, -3, 1_000_000_001]),
    preemptionPolicy: random.pick(['Never', 'PreemptLowerPriority']),
  }
  create('priority', '/apis/scheduling.k8s.io/v1/priorityclasses', {
    ...priority,
    ...(random.chance(40) ? { globalDefault: true } : {}),
  })
  const scheduling = { nodeSelector: { a: random.pick(['b', 'c']) }, tolerations: [{ key: 'k', operator: 'Exists' }] }
  const runtime: Draft = { metadata: { name: '{id}-r' }, handler: 'h' }
  if (random.chance(60)) runtime['overhead'] = { podFixed: { cpu: '100m' } }
  if (random.chance(50)) runtime['scheduling'] = scheduling
  create('runtime', '/apis/node.k8s.io/v1/runtimeclasses', runtime)
  const annotation = (name: string): Draft => ({ annotations: { [name]: random.pick(['true', 'true', 'false', 'x']) } })
  for (let i = 0; i < random.below(3); i++) {
    // The newest default counts, and times have whole seconds.
    if (i > 0) steps.push({ ...(steps.pop() as Step), settleMs: 1100 })
    const metadata = { name: `{id}-s${i}`, ...annotation('storageclass.kubernetes.io/is-default-class') }
    create(`storage${i}`, '/apis/storage.k8s.io/v1/storageclasses', { metadata, provisioner: 'x' })
  }
  if (random.chance(50))
    create('ingressclass', '/apis/networking.k8s.io/v1/ingressclasses', {
      metadata: { name: '{id}-i', ...annotation('ingressclass.kubernetes.io/is-default-class') },
      spec: { controller: 'example.com/x' },
    })
  steps.push({ ...(steps.pop() as Step), settleMs })
  for (let i = 0; i < 7; i++) {
    const metadata = { name: `o${i}` }
    switch (random.below(5)) {
      case 0:
        create(`claim${i}`, `${inNamespace}/persistentvolumeclaims`, claim(metadata, random))
        break
      case 1:
        create(`ingress${i}`, '/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses', {
          metadata,
          spec: { defaultBackend: { service: { name: 'a', port: { number: 80 } } } },
        })
        break
      default:
        create(`pod${i}`, `${inNamespace}/pods`, { metadata, spec: { ...randomPod(random, 'plain'), ...podClasses(random) } })
    }
  }
  return { area: 'admission', exclusive: true, steps }
}

function podClasses(random: RandomChoices): Draft {
  const spec: Draft = {}
  if (random.chance(50)) spec['priorityClassName'] = random.pick(['{id}-p', '{id}-p', 'missing', 'system-node-critical', ''])
  if (random.chance(25)) spec['priority'] = random.pick([0, 5, 7])
  if (random.chance(20)) spec['preemptionPolicy'] = random.pick(['Never', 'PreemptLowerPriority'])
  if (random.chance(50)) spec['runtimeClassName'] = random.pick(['{id}-r', '{id}-r', 'missing'])
  if (random.chance(20)) spec['overhead'] = { cpu: random.pick(['100m', '200m']) }
  if (random.chance(20)) spec['nodeSelector'] = { a: random.pick(['b', 'x']) }
  return spec
}

const levels = ['privileged', 'baseline', 'baseline', 'restricted', 'restricted', 'other']
const versions = ['latest', 'v1.0', 'v1.18', 'v1.19', 'v1.22', 'v1.24', 'v1.25', 'v1.28', 'v1.31', 'v1.33', 'v1.40', 'x']

/** Pods and workloads in a namespace with labels of pod security at any level and version. */
function generatePodSecurity(random: RandomChoices): Scenario {
  const labels: Record<string, string> = {}
  for (const mode of ['enforce', 'audit', 'warn']) {
    if (random.chance(65)) labels[`pod-security.kubernetes.io/${mode}`] = random.pick(levels)
    if (random.chance(40)) labels[`pod-security.kubernetes.io/${mode}-version`] = random.pick(versions)
  }
  const steps: Step[] = []
  for (let i = 0; i < 9; i++) {
    const metadata: Draft = { name: `o${i}`, labels: { a: 'b' } }
    if (random.chance(15))
      metadata['annotations'] = {
        [`container.apparmor.security.beta.kubernetes.io/${random.pick(['main', 'x'])}`]: random.pick([
          'unconfined',
          'runtime/default',
          'localhost/a',
        ]),
      }
    const spec = randomPod(random, 'security')
    const template = { metadata: { labels: { a: 'b' } }, spec }
    const selector = { matchLabels: { a: 'b' } }
    switch (random.below(8)) {
      case 0:
        steps.push({
          id: `deployment${i}`,
          method: 'POST',
          path: '/apis/apps/v1/namespaces/{ns}/deployments',
          body: { json: { metadata, spec: { selector, template } } },
        })
        break
      case 1:
        steps.push({
          id: `job${i}`,
          method: 'POST',
          path: '/apis/batch/v1/namespaces/{ns}/jobs',
          body: { json: { metadata, spec: { template: { ...template, spec: { ...spec, restartPolicy: 'Never' } } } } },
        })
        break
      case 2: {
        const changed = {
          [`pod-security.kubernetes.io/${random.pick(['enforce', 'warn'])}`]: random.pick([...levels, null]),
          'pod-security.kubernetes.io/enforce-version': random.pick([null, 'latest', 'v1.25', 'y']),
        }
        steps.push({
          id: `label${i}`,
          method: 'PATCH',
          path: inNamespace,
          headers: { 'content-type': 'application/merge-patch+json' },
          body: { json: { metadata: { labels: changed } } },
          settleMs,
        })
        break
      }
      default:
        steps.push({
          id: `pod${i}`,
          method: 'POST',
          path: `${inNamespace}/pods`,
          query: random.chance(20) ? [['dryRun', 'All']] : [],
          body: { json: { metadata, spec } },
        })
    }
  }
  return { area: 'admission', namespace: { labels }, steps }
}
