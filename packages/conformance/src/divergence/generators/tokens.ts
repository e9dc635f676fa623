import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import type { Scenario, Step } from '../scenario.ts'

const path = '/api/v1/namespaces/{ns}'
const audiences = [['https://kubernetes.default.svc'], ['a'], ['a', 'https://kubernetes.default.svc'], ['a', 'a']]

/** Tokens of service accounts: what they are bound to, what a review says of them, and what they allow before and after deletions. */
export function generateTokens(random: RandomChoices): Scenario {
  const steps: Step[] = [
    ...['a', 'b'].map((name) => create(`account-${name}`, 'serviceaccounts', { metadata: { name } })),
    create('secret', 'secrets', { metadata: { name: 's' } }),
    create('pod', 'pods', { metadata: { name: 'p' }, spec: podSpec('a', random) }),
    create('other', 'pods', { metadata: { name: 'q' }, spec: podSpec('b', random) }),
    { id: 'node', method: 'POST', path: '/api/v1/nodes', body: { json: { metadata: { name: '{id}-n' } } } },
    grant(),
  ]
  const issued: string[] = []
  for (let i = 0; i < 3; i++) {
    steps.push(request(random, i))
    issued.push(`{token${i}.status.token}`)
  }
  for (let i = 0; i < 11; i++) steps.push(step(random, i, random.pick(issued)))
  return { area: 'tokens', steps }
}

function create(id: string, resource: string, json: JsonObject): Step {
  return { id, method: 'POST', path: `${path}/${resource}`, body: { json } }
}

function podSpec(serviceAccountName: string, random: RandomChoices): JsonObject {
  const node = random.chance(50) ? { nodeName: random.pick(['{id}-n', 'none']) } : {}
  return { serviceAccountName, containers: [{ name: 'c', image: 'i' }], ...node }
}

/** The account reads ConfigMaps. */
function grant(): Step {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' }
  const subjects = [{ kind: 'ServiceAccount', name: 'a', namespace: '{ns}' }]
  return {
    id: 'binding',
    method: 'POST',
    path: '/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/rolebindings',
    body: { json: { metadata: { name: 'view' }, roleRef, subjects } },
    settleMs: 200,
  }
}

const bound: readonly JsonObject[] = [
  { kind: 'Pod', apiVersion: 'v1', name: 'p' },
  { kind: 'Pod', apiVersion: 'v1', name: 'p', uid: '{pod.metadata.uid}' },
  { kind: 'Pod', apiVersion: 'v1', name: 'q' },
  { kind: 'Pod', apiVersion: 'v1', name: 'p', uid: '{other.metadata.uid}' },
  { kind: 'Secret', apiVersion: 'v1', name: 's' },
  { kind: 'Secret', apiVersion: 'v1', name: 's', uid: 'x' },
  { kind: 'Node', apiVersion: 'v1', name: '{id}-n' },
  { kind: 'Node', apiVersion: 'v1', name: '{id}-n', uid: '{node.metadata.uid}' },
  { kind: 'Node', apiVersion: 'v1', name: 'none' },
]

function request(random: RandomChoices, i: number): Step {
  const spec: Record<string, JsonValue> = {}
  if (random.chance(40)) spec['audiences'] = random.pick(audiences)
  if (random.chance(40)) spec['expirationSeconds'] = random.pick([600, 3600, 3607, 86_400, 4_294_967_296])
  if (random.chance(65)) spec['boundObjectRef'] = random.pick(i === 0 ? bound.slice(0, 2) : bound)
  const as = random.pick(['admin', 'admin', 'admin', 'alice', 'node1'])
  return {
    id: `token${i}`,
    as,
    method: 'POST',
    path: `${path}/serviceaccounts/${random.pick(['a', 'a', 'a', 'b'])}/token`,
    body: { json: { spec: spec as JsonObject } },
  }
}

const removed = ['pods/p', 'pods/q', 'secrets/s', 'serviceaccounts/a', 'serviceaccounts/b']

function step(random: RandomChoices, i: number, token: string): Step {
  const id = `step${i}`
  switch (random.below(9)) {
    case 0:
    case 1:
    case 2: {
      const spec = { token, ...(random.chance(50) ? { audiences: random.pick([...audiences, ['x'], []]) } : {}) }
      return { id, method: 'POST', path: '/apis/authentication.k8s.io/v1/tokenreviews', body: { json: { spec } } }
    }
    case 3:
      return {
        id,
        as: token,
        method: 'GET',
        path: random.pick([`${path}/configmaps`, `${path}/secrets`, `${path}/pods/p`, '/version', '/apis']),
      }
    case 4:
      return { id, as: token, method: 'POST', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews', body: { json: {} } }
    case 5: {
      const spec = { resourceAttributes: { namespace: '{ns}', verb: random.pick(['get', 'create']), resource: 'configmaps' } }
      return {
        id,
        as: token,
        method: 'POST',
        path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        body: { json: { spec } },
      }
    }
    case 6: {
      const query: [string, string][] = [['gracePeriodSeconds', random.pick(['0', '0', '30'])]]
      // Servers remember a token that they have seen for some seconds.
      return { id, method: 'DELETE', path: `${path}/${random.pick(removed)}`, query, settleMs: 400 }
    }
    case 7:
      return random.chance(40)
        ? { id, method: 'DELETE', path: '/api/v1/nodes/{id}-n', settleMs: 400 }
        : create(id, 'serviceaccounts', { metadata: { name: 'a' } })
    default:
      return {
        id,
        as: token,
        method: 'POST',
        path: `${path}/serviceaccounts/a/token`,
        query: random.chance(50) ? [['dryRun', 'All']] : [],
        body: { json: { spec: {} } },
      }
  }
}
