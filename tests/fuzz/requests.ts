import { RandomChoices } from '@krmkit/base/random-choices'
import { type Expected, expectedIdentity, type Transport } from '../attacks/families/header-rules.ts'
import type { RawHeader } from '../attacks/harness/http1.ts'
import { identityHeaders } from './identities.ts'
import { bodies, mutate, randomBody } from './values.ts'

/** Random requests, each derived from a seed and an index, so that any of them can be reproduced. */

/** One request for any transport. Header values are bytes; names are lower case. */
export interface Draft {
  readonly index: number
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: readonly RawHeader[]
  readonly body: Uint8Array
  /** The expected user, by the rules. */
  readonly expected: Expected
}

const paths = [
  '/api/v1/namespaces/default/configmaps',
  '/api/v1/namespaces/default/configmaps/a',
  '/api/v1/namespaces/default/secrets/a',
  '/api/v1/namespaces/default/pods',
  '/api/v1/namespaces/default/pods/p',
  '/api/v1/namespaces/default/pods/p/status',
  '/api/v1/namespaces/default/pods/p/binding',
  '/api/v1/namespaces/default/pods/p/eviction',
  '/api/v1/namespaces/default/services/s',
  '/api/v1/namespaces/default/events',
  '/apis/events.k8s.io/v1/namespaces/default/events',
  '/api/v1/namespaces',
  '/api/v1/namespaces/default',
  '/api/v1/namespaces/default/finalize',
  '/api/v1/nodes',
  '/apis/apps/v1/namespaces/default/deployments',
  '/apis/apps/v1/namespaces/default/deployments/d',
  '/apis/apps/v1/namespaces/default/deployments/d/scale',
  '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/h',
  '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers',
  '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
  '/apis/authentication.k8s.io/v1/tokenreviews',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles/x',
  '/openapi/v3',
  '/openapi/v3/api/v1',
  '/version',
  '/healthz',
  '/api',
  '/apis',
  '/metrics',
]

const oddSegments = [
  '..',
  '.',
  '%2e%2e',
  '%2F',
  '%00',
  '%zz',
  '__proto__',
  'constructor',
  'x'.repeat(3000),
  '\u{1f600}',
  '',
  ' ',
  'a b',
  '{',
  '*',
]
const oddNumbers = ['-1', '0', '1', '1.5', '1e3', '9'.repeat(30), 'x', '', 'NaN', '0x10', '\u0661']
const oddWords = [
  'All',
  'Strict',
  'Ignore',
  'true',
  'false',
  'Orphan',
  'Exact',
  'NotOlderThan',
  'a=b',
  'a in (b)',
  'a,,b',
  '(((',
  'metadata.name=a',
  '!'.repeat(500),
  '%',
  'e30',
  '',
]
const parameters = [
  'watch',
  'limit',
  'continue',
  'resourceVersion',
  'resourceVersionMatch',
  'labelSelector',
  'fieldSelector',
  'dryRun',
  'fieldValidation',
  'fieldManager',
  'force',
  'propagationPolicy',
  'gracePeriodSeconds',
  'orphanDependents',
  'pretty',
  'includeObject',
  'timeout',
  'nothing',
  '__proto__',
]
const mediaTypes = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/merge-patch+json',
  'application/json-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'text/html',
  '',
  '*/*',
  'application/json;as=Table;g=meta.k8s.io;v=v1',
  `application/json${';a=b'.repeat(400)}`,
]

/** Valid requests, before mutation, which reach code that random bytes do not. */
export const plausible: readonly (readonly [method: string, path: string, type: string, body: number])[] = [
  ['POST', '/api/v1/namespaces/default/configmaps', 'application/json', 0],
  ['PUT', '/api/v1/namespaces/default/configmaps/a', 'application/json', 0],
  ['PATCH', '/api/v1/namespaces/default/configmaps/a', 'application/apply-patch+yaml', 0],
  ['POST', '/api/v1/namespaces/default/secrets', 'application/yaml', 1],
  ['POST', '/api/v1/namespaces/default/pods', 'application/json', 2],
  ['PUT', '/api/v1/namespaces/default/pods/p', 'application/json', 2],
  ['PATCH', '/api/v1/namespaces/default/pods/p', 'application/strategic-merge-patch+json', 2],
  ['POST', '/api/v1/namespaces/default/services', 'application/json', 3],
  ['POST', '/apis/apps/v1/namespaces/default/deployments', 'application/json', 4],
  ['PATCH', '/apis/apps/v1/namespaces/default/deployments/d', 'application/apply-patch+yaml', 4],
  ['PATCH', '/apis/apps/v1/namespaces/default/deployments/d', 'application/merge-patch+json', 4],
  ['POST', '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers', 'application/json', 5],
  ['PUT', '/apis/apps/v1/namespaces/default/deployments/d/scale', 'application/json', 6],
  ['POST', '/apis/events.k8s.io/v1/namespaces/default/events', 'application/json', 7],
  ['POST', '/api/v1/namespaces/default/pods/p/binding', 'application/json', 8],
  ['DELETE', '/api/v1/namespaces/default/pods/p', 'application/json', 9],
  ['DELETE', '/api/v1/namespaces/default/configmaps/a', 'application/json', 9],
  ['DELETE', '/api/v1/namespaces/default/configmaps', 'application/json', 9],
  ['POST', '/api/v1/namespaces', 'application/json', 10],
  ['PATCH', '/api/v1/namespaces/default/configmaps/a', 'application/merge-patch+json', 11],
  ['PATCH', '/api/v1/namespaces/default/configmaps/a', 'application/json-patch+json', 12],
  ['PATCH', '/api/v1/namespaces/default/configmaps/a', 'application/json-patch+json', 13],
  ['PATCH', '/api/v1/namespaces/default/configmaps/a', 'application/strategic-merge-patch+json', 14],
  ['POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', 'application/json', 15],
  ['POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', 'application/json', 15],
  ['POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', 'application/json', 16],
  ['POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', 'application/json', 17],
  ['PATCH', '/apis/rbac.authorization.k8s.io/v1/clusterroles/x', 'application/apply-patch+yaml', 17],
  ['POST', '/apis/coordination.k8s.io/v1/namespaces/default/leases', 'application/json', 18],
  ['PUT', '/apis/coordination.k8s.io/v1/namespaces/default/leases/l', 'application/json', 18],
  ['POST', '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies', 'application/yaml', 19],
  ['POST', '/api/v1/namespaces/default/resourcequotas', 'application/json', 20],
  ['PUT', '/api/v1/namespaces/default/pods/p/status', 'application/json', 2],
]

/** The request of an index. */
export function requestAt(seed: number, index: number, transport: Transport): Draft {
  const random = new RandomChoices(seed, index)
  const { method, path, query, headers, body } = random.chance(50) ? plausibleRequest(random) : randomRequest(random)
  const identity = identityHeaders(random)
  const all: RawHeader[] = [...identity, ...Object.entries(headers).map(([name, value]): RawHeader => [name, Buffer.from(value)])]
  const expected = expectedIdentity({ name: '', transport, shown: 'none', headers: all })
  return { index, method, path, query, headers: all, body, expected }
}

interface Parts {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

function plausibleRequest(random: RandomChoices): Parts {
  const [method, path, type, body] = random.pick(plausible)
  let value = bodies[body]?.(random)
  for (let i = random.below(3); i > 0; i--) value = mutate(value, random)
  const named = type === 'application/apply-patch+yaml' ? 'fieldManager=fuzz&force=true&' : ''
  const headers = { 'content-type': type, 'user-agent': random.pick(['kubectl/v1', 'helm/3', 'x']) }
  return { method, path, query: `${named}timeoutSeconds=1`, headers, body: new TextEncoder().encode(JSON.stringify(value) ?? '') }
}

function randomRequest(random: RandomChoices): Parts {
  let path = random.pick(paths)
  if (random.chance(15)) {
    const segments = path.split('/')
    segments[random.below(segments.length)] = random.pick(oddSegments)
    path = segments.join('/')
  }
  const query: string[] = []
  for (let i = random.below(4); i > 0; i--) {
    const name = random.pick(parameters)
    const value = random.pick(random.chance(50) ? oddNumbers : oddWords)
    // Waiting for future versions has its own tests.
    if (name !== 'resourceVersion' || value.length < 20) query.push(`${name}=${encodeURIComponent(value)}`)
  }
  // Bounded, so that no watch or wait outlives the run.
  query.push('timeoutSeconds=1')
  const headers: Record<string, string> = {}
  if (random.chance(80)) headers['content-type'] = random.pick(mediaTypes)
  if (random.chance(60)) headers['accept'] = random.pick(mediaTypes)
  if (random.chance(10)) headers['user-agent'] = random.pick(['kubectl/v1', 'x'.repeat(5000), 'curl/8'])
  const method = random.pick(['GET', 'GET', 'POST', 'POST', 'PUT', 'PATCH', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'BREW'])
  return {
    method,
    path,
    query: query.join('&'),
    headers,
    body: method === 'GET' || method === 'HEAD' ? new Uint8Array(0) : randomBody(random),
  }
}
