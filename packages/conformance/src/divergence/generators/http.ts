import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonObject } from '@krmkit/meta'
import type { Body, Scenario, Step } from '../scenario.ts'
import { oddPaths } from './odd-paths.ts'

const collection = '/api/v1/namespaces/{ns}/configmaps'
const deployments = '/apis/apps/v1/namespaces/{ns}/deployments'

/** Requests whose HTTP is odd: methods, escaped and doubled slashes, parameters of other verbs, conditions, encodings, forms of answers. */
export function generateHttp(random: RandomChoices): Scenario {
  const steps: Step[] = [
    { id: 'a', method: 'POST', path: collection, body: { json: configMap('a') } },
    { id: 'big', method: 'POST', path: collection, body: { json: { ...configMap('big'), data: { x: 'x'.repeat(140_000) } } } },
    { id: 'deployment', method: 'POST', path: deployments, body: { json: deployment } },
  ]
  for (let i = 0; i < 14; i++) steps.push(random.pick(requests)(random, `s${i}`))
  return { area: 'http', steps }
}

const labels = { app: 'a' }
const deployment: JsonObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd' },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
}

function configMap(name: string): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data: { a: 'b' } }
}

type Request = (random: RandomChoices, id: string) => Step

const requests: readonly Request[] = [
  oddMethod,
  oddPath,
  oddPath,
  parameters,
  parameters,
  conditional,
  encoded,
  form,
  credentials,
]

const methods = ['HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'MKCOL', 'PURGE', 'LINK', 'LOCK', 'SEARCH', 'QUERY', 'COPY']
const methodPaths = [
  collection,
  `${collection}/a`,
  `${collection}/none`,
  `${deployments}/d`,
  `${deployments}/d/scale`,
  `${deployments}/d/status`,
  `${deployments}/d/none`,
  '/api/v1/namespaces/{ns}',
  '/api/v1/namespaces/{ns}/finalize',
  '/api/v1/namespaces/{ns}/bindings',
  '/api/v1/namespaces/{ns}/pods/a/eviction',
  '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
  '/apis/authentication.k8s.io/v1/tokenreviews/a',
  '/api',
  '/apis',
  '/apis/apps',
  '/apis/apps/v1',
  '/version',
  '/healthz',
  '/livez/ping',
  '/readyz',
  '/metrics/x',
  '/openapi/v2/x',
  '/openapi/v3/x',
  '/.well-known/openid-configuration',
  '/none',
  '/',
]

function oddMethod(random: RandomChoices, id: string): Step {
  const method = random.chance(60) ? random.pick(methods) : random.pick(['PUT', 'PATCH', 'DELETE', 'POST'])
  const path = random.pick(method === 'DELETE' ? methodPaths.filter((each) => !kept.has(each)) : methodPaths)
  return { id, method, path }
}

/** What later steps need. */
const kept: ReadonlySet<string> = new Set([
  collection,
  '/api/v1/namespaces/{ns}',
  `${collection}/a`,
  `${deployments}/d`,
  '/metrics/x',
])

function oddPath(random: RandomChoices, id: string): Step {
  const method = random.pick(['GET', 'GET', 'GET', 'GET', 'HEAD', 'POST', 'PUT', 'PATCH'])
  const sends = ['POST', 'PUT', 'PATCH'].includes(method)
  const as = random.chance(85) ? {} : { as: random.pick(['alice', 'anonymous']) }
  return { id, method, path: random.pick(oddPaths), ...as, ...(sends ? { body: { json: configMap('a') } } : {}) }
}

const names = [
  'dryRun',
  'fieldValidation',
  'fieldManager',
  'force',
  'pretty',
  'timeoutSeconds',
  'timeout',
  'resourceVersion',
] as const
const moreNames = [
  'gracePeriodSeconds',
  'propagationPolicy',
  'orphanDependents',
  'limit',
  'continue',
  'watch',
  'labelSelector',
] as const
const values: Readonly<Record<string, readonly string[]>> = {
  dryRun: ['All', 'all', '', 'None', 'All,All'],
  fieldValidation: ['Strict', 'Warn', 'Ignore', '', 'strict', 'x'],
  fieldManager: ['m', '', 'a\tb', 'ü', 'x'.repeat(128), 'x'.repeat(129)],
  force: ['true', 'false', '', '1', 'x'],
  pretty: ['true', 'false', '', '0', '1', 'x', 'True'],
  timeoutSeconds: ['1', '0', '-1', 'x', '', '99999999999999999999'],
  timeout: ['1s', '0', '0s', '-1s', 'x', '', '1h', '100ms', '61s', '1'],
  resourceVersion: ['0', '', 'x', '1'],
  gracePeriodSeconds: ['0', '-1', 'x'],
  propagationPolicy: ['Orphan', 'x', ''],
  orphanDependents: ['true', 'x'],
  limit: ['1', '-1', 'x'],
  continue: ['x', ''],
  watch: ['0', 'false'],
  labelSelector: ['app=a', 'a=(', ''],
}

/** Parameters, also those of other verbs, once or more often. */
function parameters(random: RandomChoices, id: string): Step {
  const method = random.pick(['GET', 'GET', 'POST', 'PUT', 'PATCH', 'PATCH', 'DELETE'])
  const query: [string, string][] = method === 'DELETE' ? [['dryRun', 'All']] : []
  for (let n = random.pick([1, 1, 2, 3]); n > 0; n--) {
    const name = random.chance(70) ? random.pick(names) : random.pick(moreNames)
    query.push([name, random.pick(values[name] ?? [''])])
    if (random.chance(15)) query.push([name, random.pick(values[name] ?? [''])])
  }
  const path = method === 'POST' || (method === 'GET' && random.chance(40)) ? collection : `${collection}/a`
  const type = random.pick(['merge-patch+json', 'apply-patch+yaml', 'json-patch+json', 'strategic-merge-patch+json'])
  const headers = method === 'PATCH' ? { 'content-type': `application/${type}` } : {}
  const body = type === 'json-patch+json' && method === 'PATCH' ? { json: [] } : { json: unknownField(random, id, method) }
  return { id, method, path, query, headers, ...(method === 'GET' || method === 'DELETE' ? {} : { body }) }
}

function unknownField(random: RandomChoices, id: string, method: string): JsonObject {
  const object = configMap(method === 'POST' ? id : 'a')
  return random.chance(40) ? { ...object, unknown: 1 } : object
}

const conditions: readonly [string, string][] = [
  ['if-match', '*'],
  ['if-match', '"x"'],
  ['if-none-match', '*'],
  ['if-none-match', '"x"'],
  ['if-modified-since', 'Thu, 01 Jan 2099 00:00:00 GMT'],
  ['if-unmodified-since', 'Thu, 01 Jan 1990 00:00:00 GMT'],
  ['if-range', '"x"'],
  ['range', 'bytes=0-10'],
  ['x-http-method-override', 'DELETE'],
  ['x-method-override', 'DELETE'],
  ['origin', 'https://example.com'],
  ['access-control-request-method', 'PUT'],
  ['cookie', 'a=b'],
  ['te', 'trailers'],
  ['accept-language', 'de'],
  ['accept-charset', 'latin1'],
  ['content-encoding', 'gzip'],
  ['content-encoding', 'identity'],
  ['content-language', 'de'],
  ['expect', '100-continue'],
  ['x-forwarded-for', '1.2.3.4'],
  ['x-forwarded-proto', 'http'],
  ['host', 'other.example'],
  ['user-agent', ''],
  ['user-agent', 'a/b (c) d'],
  ['audit-id', 'x'],
  ['cache-control', 'no-cache'],
  ['warning', '299 - "x"'],
  ['upgrade-insecure-requests', '1'],
]

function conditional(random: RandomChoices, id: string): Step {
  const method = random.pick(['GET', 'GET', 'HEAD', 'PUT', 'POST', 'OPTIONS'])
  const path =
    method === 'POST' ? collection : random.pick([collection, `${collection}/a`, `${collection}/a`, '/version', '/api/v1'])
  const headers = Object.fromEntries([random.pick(conditions), ...(random.chance(30) ? [random.pick(conditions)] : [])])
  const body: { body?: Body } =
    method === 'PUT' || method === 'POST' ? { body: { json: configMap(method === 'PUT' ? 'a' : id) } } : {}
  return { id, method, path: method === 'PUT' ? `${collection}/a` : path, headers, ...body }
}

const encodings = [
  'gzip',
  'GZIP',
  'gzip;q=0',
  'gzip;q=0.5',
  'deflate, gzip',
  'deflate',
  'identity',
  '*',
  '*;q=0',
  'br, gzip;q=1.0',
  '',
]

/** Answers that are long enough to be compressed, and short ones. */
function encoded(random: RandomChoices, id: string): Step {
  const path = random.pick([collection, `${collection}/big`, `${collection}/big`, `${collection}/a`, '/api/v1', '/version'])
  const accept = random.chance(50)
    ? {}
    : { accept: random.pick(['application/yaml', tables, 'application/vnd.kubernetes.protobuf']) }
  return {
    id,
    method: random.pick(['GET', 'GET', 'HEAD']),
    path,
    headers: { 'accept-encoding': random.pick(encodings), ...accept },
  }
}

const tables = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const accepts = [
  'application/json;g=meta.k8s.io;as=Table;v=v1',
  'application/json; as=Table; v=v1; g=meta.k8s.io',
  'application/json;as=table;v=v1;g=meta.k8s.io',
  'application/json;AS=Table;V=v1;G=meta.k8s.io',
  'application/json;as=Table;v=v2;g=meta.k8s.io',
  'application/json;as=Table;v=v1;g=meta.k8s.io;q=0.1',
  'application/json;q=0.1,application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=Table;v=v2;g=meta.k8s.io,application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/yaml',
  'application/yaml;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as="Table";v="v1";g="meta.k8s.io"',
  'application/json;as=PartialObjectMetadata;v=v1beta1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io',
  'application/json;as=ConfigMap;v=v1;g=',
  'application/json;v=v1',
  'application/json;version=v1',
  'application/json;charset=utf-8',
  'application/json;profile=x',
  'application/json;export=1',
  'application/json;pretty=1',
  'application/json;pretty=0',
  'application/yaml;pretty=1',
  'application/json;stream=watch;charset=utf-8',
  'application/vnd.kubernetes.protobuf;stream=watch',
  'text/*',
  'application/*;as=Table;v=v1;g=meta.k8s.io',
  '*/*;as=Table;v=v1;g=meta.k8s.io',
  'application/json;',
  'application/json;;',
  'application/json;a',
  'application/json;a=b;a=c',
  ' application/json ',
  'application/json, */*;q=0',
  'application/x-yaml',
  'text/yaml',
  'application/json;seq',
  'application/json-seq',
  'application/cbor,application/json',
  'application/cbor-seq',
]

function form(random: RandomChoices, id: string): Step {
  const method = random.pick(['GET', 'GET', 'GET', 'PUT', 'PATCH', 'POST', 'DELETE'])
  const path = random.pick([`${deployments}/d`, `${deployments}/d/scale`, `${collection}/a`, '/api/v1', '/version', '/none'])
  const accept = { accept: random.chance(85) ? random.pick(accepts) : [random.pick(accepts), random.pick(accepts)] }
  const query: Step['query'] = [
    ['dryRun', 'All'],
    ['includeObject', random.pick(['None', 'Object', 'Metadata', 'x', ''])],
  ]
  if (method === 'GET') return { id, method, path: random.pick([path, collection]), headers: accept, query }
  if (method === 'DELETE') return { id, method, path: `${collection}/none`, headers: accept, query }
  if (method === 'POST') return { id, method, path: collection, headers: accept, query, body: { json: configMap(id) } }
  if (method === 'PUT') return { id, method, path: `${collection}/a`, headers: accept, query, body: { json: configMap('a') } }
  const headers = { ...accept, 'content-type': 'application/merge-patch+json' }
  return { id, method, path: `${deployments}/d`, headers, query, body: { json: { metadata: { labels: { x: id } } } } }
}

const authorizations: readonly (string | readonly string[])[] = [
  'Bearer admin-token',
  'bearer admin-token',
  'BEARER admin-token',
  'Bearer  admin-token',
  'Bearer admin-token ',
  'Bearer admin-token x',
  'Bearer',
  'Bearer ',
  'Bearer none',
  'Token admin-token',
  'admin-token',
  'Basic YWRtaW46YWRtaW4=',
  ['Bearer admin-token', 'Bearer none'],
  'Bearer\tadmin-token',
  'Bearer a.b.c',
  'Bearer eyJhbGciOiJub25lIn0.e30.',
]

function credentials(random: RandomChoices, id: string): Step {
  const path = random.pick([
    collection,
    '/api',
    '/version',
    '/healthz',
    '/none',
    '/apis/authentication.k8s.io/v1/selfsubjectreviews',
  ])
  const isReview = path.endsWith('reviews')
  const headers: Record<string, string | readonly string[]> = { authorization: random.pick(authorizations) }
  if (random.chance(20)) headers['x-remote-user'] = 'admin'
  return { id, method: isReview ? 'POST' : 'GET', path, headers, ...(isReview ? { body: { json: {} } } : {}) }
}
