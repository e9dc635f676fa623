import type { JsonValue } from '@krmkit/meta'
import type { Dice } 
import type { Scenario, Step } from '../scenario.ts'
import { randomPod } from './pods.ts'
import { generatePolicies } from './policies.ts'
import { generateWebhooks } from './webhooks.ts'

type Draft = Record<string, JsonValue>

/** Time in which an object reaches the plugins of both servers, in milliseconds. */
const settleMs = 400
const inNamespace = '/api/v1/namespaces/{ns}'

/** One of the built-in plugins, a policy in CEL, or webhooks. */
export function generateAdmission(dice: Dice): Scenario {
  const generate = dice.pick([
    generateQuotas,
    generateLimits,
    generateClasses,
    generatePodSecurity,
    generatePolicies,
    generatePolicies,
    generateWebhooks,
    generateWebhooks,
  ])
  return generate(dice)
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

function generateQuotas(dice: Dice): Scenario {
  const steps: Step[] = []
  for (let i = 0; i < dice.pick([1, 1, 2]); i++) {
    const hard: Draft = {}
    for (let n = 1 + dice.below(4); n > 0; n--) hard[dice.pick(quotaKeys)] = dice.pick(quantities)
    const spec: Draft = { hard, ...quotaScope(dice) }
    const path = `${inNamespace}/resourcequotas`
    steps.push({ id: `quota${i}`, method: 'POST', path, body: { json: { metadata: { name: `q${i}` }, spec } } })
    const used = Object.fromEntries(Object.keys(hard).map((key) => [key, dice.pick(['0', '0', '0', '1'])]))
    const status = dice.chance(85) ? { hard, used } : { hard }
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
    steps.push(counted(dice, i))
    // The stock server writes the usage before it answers.
    if (dice.chance(40)) steps.push({ id: `get${i}`, method: 'GET', path: `${inNamespace}/resourcequotas/q0` })
  }
  return { area: 'admission', steps }
}

function quotaScope(dice: Dice): Draft {
  if (dice.chance(70)) return {}
  if (dice.chance(60))
    return {
      scopes: [
        dice.pick(['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'PriorityClass', 'CrossNamespacePodAffinity']),
      ],
    }
  const operator = dice.pick(['In', 'NotIn', 'Exists', 'DoesNotExist'])
  return {
    scopeSelector: {
      matchExpressions: [
        { scopeName: 'PriorityClass', operator, ...(operator.endsWith('In') ? { values: ['system-node-critical'] } : {}) },
      ],
    },
  }
}

/** Creates or changes what quotas and limits count. */
function counted(dice: Dice, i: number): Step {
  const query: [string, string][] = dice.chance(15) ? [['dryRun', 'All']] : []
  const create = (path: string, json: JsonValue): Step => ({ id: `create${i}`, method: 'POST', path, query, body: { json } })
  const metadata = { name: `o${i}` }
  switch (dice.below(9)) {
    case 0:
      return create(`${inNamespace}/configmaps`, { metadata })
    case 1:
      return create(`${inNamespace}/services`, {
        metadata,
        spec: { type: dice.pick(['ClusterIP', 'NodePort', 'LoadBalancer']), ports: [{ port: 80 }] },
      })
    case 2:
    case 3:
      return create(`${inNamespace}/persistentvolumeclaims`, claim(metadata, dice))
    case 4:
      return {
        id: `delete${i}`,
        method: 'DELETE',
        path: `${inNamespace}/${dice.pick(['pods', 'configmaps'])}/o${dice.below(i + 1)}`,
        query: [['gracePeriodSeconds', '0']],
      }
    case 5:
      return create('/apis/apps/v1/namespaces/{ns}/deployments', {
        metadata,
        spec: {
          selector: { matchLabels: { a: 'b' } },
          template: { metadata: { labels: { a: 'b' } }, spec: randomPod(dice, 'resources') },
        },
      })
    default:
      return create(`${inNamespace}/pods`, { metadata, spec: randomPod(dice, 'resources') })
  }
}

function claim(metadata: Draft, dice: Dice): JsonValue {
  return {
    metadata,
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: {
        requests: { storage: dice.pick(['1Gi', '100Mi', '10Gi']) },
        ...(dice.chance(20) ? { limits: { storage: '5Gi' } } : {}),
      },
      ...(dice.chance(40) ? { storageClassName: dice.pick(['fast', 'slow', '']) } : {}),
    },
  }
}

function generateLimits(dice: Dice): Scenario {
  const amounts = (): Draft => {
    const result: Draft = {}
    for (const key of ['cpu', 'memory'])
      if (dice.chance(55)) result[key] = dice.pick(key === 'cpu' ? ['100m', '500m', '1', '2'] : ['10Mi', '100Mi', '1Gi'])
    return result
  }
  const limit = (): JsonValue => {
    const type = dice.pick(['Container', 'Container', 'Pod', 'PersistentVolumeClaim'])
    if (type === 'PersistentVolumeClaim') return { type, min: { storage: '200Mi' }, max: { storage: dice.pick(['1Gi', '5Gi']) } }
    const entry: Draft = { type }
    for (const key of type === 'Container' ? ['min', 'max', 'default', 'defaultRequest'] : ['min', 'max'])
      if (dice.chance(50)) entry[key] = amounts()
    if (dice.chance(25)) entry['maxLimitRequestRatio'] = { [dice.pick(['cpu', 'memory'])]: dice.pick(['1', '2', '1.5']) }
    return entry
  }
  const steps: Step[] = []
  for (let i = 0; i < 2; i++) {
    const spec = { limits: Array.from({ length: 1 + dice.below(2) }, limit) }
    steps.push({
      id: `limit${i}`,
      method: 'POST',
      path: `${inNamespace}/limitranges`,
      body: { json: { metadata: { name: `l${i}` }, spec } },
      settleMs,
    })
  }
  for (let i = 0; i < 8; i++) steps.push(counted(dice, i))
  return { area: 'admission', steps }
}

/** Priority classes, runtime classes, and the default classes of storage and ingresses, which hold for the whole cluster. */
function generateClasses(dice: Dice): Scenario {
  const steps: Step[] = []
  const create = (id: string, path: string, json: JsonValue, wait = settleMs): void => {
    steps.push({ id, method: 'POST', path, body: { json }, settleMs: wait })
  }
  const priority = {
    metadata: { name: '{id}-p' },
    value: dice.pick([0, 5, -3, 1_000_000_001]),
    preemptionPolicy: dice.pick(['Never', 'PreemptLowerPriority']),
  }
  create('priority', '/apis/scheduling.k8s.io/v1/priorityclasses', {
    ...priority,
    ...(dice.chance(40) ? { globalDefault: true } : {}),
  })
  const scheduling = { nodeSelector: { a: dice.pick(['b', 'c']) }, tolerations: [{ key: 'k', operator: 'Exists' }] }
  const runtime: Draft = { metadata: { name: '{id}-r' }, handler: 'h' }
  if (dice.chance(60)) runtime['overhead'] = { podFixed: { cpu: '100m' } }
  if (dice.chance(50)) runtime['scheduling'] = scheduling
  create('runtime', '/apis/node.k8s.io/v1/runtimeclasses', runtime)
  const annotation = (name: string): Draft => ({ annotations: { [name]: dice.pick(['true', 'true', 'false', 'x']) } })
  for (let i = 0; i < dice.below(3); i++)
    create(
      `storage${i}`,
      '/apis/storage.k8s.io/v1/storageclasses',
      { metadata: { name: `{id}-s${i}`, ...annotation('storageclass.kubernetes.io/is-default-class') }, provisioner: 'x' },
      1100,
    )
  if (dice.chance(50))
    create('ingressclass', '/apis/networking.k8s.io/v1/ingressclasses', {
      metadata: { name: '{id}-i', ...annotation('ingressclass.kubernetes.io/is-default-class') },
      spec: { controller: 'example.com/x' },
    })
  for (let i = 0; i < 7; i++) {
    const metadata = { name: `o${i}` }
    switch (dice.below(5)) {
      case 0:
        create(`claim${i}`, `${inNamespace}/persistentvolumeclaims`, claim(metadata, dice), 0)
        break
      case 1:
        create(
          `ingress${i}`,
          '/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses',
          { metadata, spec: { defaultBackend: { service: { name: 'a', port: { number: 80 } } } } },
          0,
        )
        break
      default:
        create(`pod${i}`, `${inNamespace}/pods`, { metadata, spec: { ...randomPod(dice, 'plain'), ...podClasses(dice) } }, 0)
    }
  }
  return { area: 'admission', exclusive: true, steps }
}

function podClasses(dice: Dice): Draft {
  const spec: Draft = {}
  if (dice.chance(50)) spec['priorityClassName'] = dice.pick(['{id}-p', '{id}-p', 'missing', 'system-node-critical', ''])
  if (dice.chance(25)) spec['priority'] = dice.pick([0, 5, 7])
  if (dice.chance(20)) spec['preemptionPolicy'] = dice.pick(['Never', 'PreemptLowerPriority'])
  if (dice.chance(50)) spec['runtimeClassName'] = dice.pick(['{id}-r', '{id}-r', 'missing'])
  if (dice.chance(20)) spec['overhead'] = { cpu: dice.pick(['100m', '200m']) }
  if (dice.chance(20)) spec['nodeSelector'] = { a: dice.pick(['b', 'x']) }
  return spec
}

const levels = ['privileged', 'baseline', 'baseline', 'restricted', 'restricted', 'other']
const versions = ['latest', 'v1.0', 'v1.18', 'v1.19', 'v1.22', 'v1.24', 'v1.25', 'v1.28', 'v1.31', 'v1.33', 'v1.40', 'x']

/** Pods and workloads in a namespace with labels of pod security at any level and version. */
function generatePodSecurity(dice: Dice): Scenario {
  const labels: Record<string, string> = {}
  for (const mode of ['enforce', 'audit', 'warn']) {
    if (dice.chance(65)) labels[`pod-security.kubernetes.io/${mode}`] = dice.pick(levels)
    if (dice.chance(40)) labels[`pod-security.kubernetes.io/${mode}-version`] = dice.pick(versions)
  }
  const steps: Step[] = []
  for (let i = 0; i < 9; i++) {
    const metadata: Draft = { name: `o${i}`, labels: { a: 'b' } }
    if (dice.chance(15))
      metadata['annotations'] = {
        [`container.apparmor.security.beta.kubernetes.io/${dice.pick(['main', 'x'])}`]: dice.pick([
          'unconfined',
          'runtime/default',
          'localhost/a',
        ]),
      }
    const spec = randomPod(dice, 'security')
    const template = { metadata: { labels: { a: 'b' } }, spec }
    const selector = { matchLabels: { a: 'b' } }
    switch (dice.below(8)) {
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
          [`pod-security.kubernetes.io/${dice.pick(['enforce', 'warn'])}`]: dice.pick([...levels, null]),
          'pod-security.kubernetes.io/enforce-version': dice.pick([null, 'latest', 'v1.25', 'y']),
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
          query: dice.chance(20) ? [['dryRun', 'All']] : [],
          body: { json: { metadata, spec } },
        })
    }
  }
  return { area: 'admission', namespace: { labels }, steps }
}
