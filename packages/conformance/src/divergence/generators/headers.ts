import type { RandomChoices } from '@krmkit/base/random-choices'
import type { Body, Scenario, Step } from '../scenario.ts'

const contentTypes = [
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset=latin1',
  'APPLICATION/JSON',
  'application/yaml',
  'application/x-yaml',
  'text/plain',
  'application/vnd.kubernetes.protobuf',
  'application/merge-patch+json',
  'application/merge-patch+json; charset=utf-8',
  'application/strategic-merge-patch+json',
  'application/json-patch+json',
  'application/apply-patch+yaml',
  'application/apply-patch+json',
  'application/cbor',
  'application/x-www-form-urlencoded',
  'application/json, application/yaml',
  '*/*',
  'json',
  '',
  ';',
]
const accepts = [
  'application/json',
  'application/json;q=0',
  'application/*',
  '*/*;q=0.1, application/yaml',
  'application/json;stream=watch',
  'application/json;as=Table',
  'application/json;as=Table;v=v1;g=x',
  'application/json;as=X;v=v1;g=meta.k8s.io',
  'application/json;pretty=1',
  'text/html',
  'text/html,application/json',
  'APPLICATION/JSON',
  'application/vnd.kubernetes.protobuf,application/json',
  'application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json',
  'application/yaml;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  ',',
  'x',
  '*',
]
const bodies: readonly Body[] = [
  { json: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '{id}-a' }, data: { a: 'b' } } },
  { text: 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {id}-a\ndata: {a: b}\n' },
  { text: 'a: b\n---\nc: d\n' },
  { text: '{"metadata":{"name":"{id}-a","name":"{id}-b"}}' },
  { text: '{"metadata":{"name":"{id}-a"},"data":{"a":"b","a":"c"},"unknown":1}' },
  { text: '{' },
  { text: '' },
  { text: 'null' },
  { text: '[]' },
  { text: '"a"' },
  { text: '1' },
  { text: '{"metadata":{"name":"{id}-a"}} x' },
  { text: '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"{id}-a"}}' },
  { text: '{"apiVersion":"v2","kind":"ConfigMap","metadata":{"name":"{id}-a"}}' },
  { text: '{"apiVersion":"a/b/c","kind":"ConfigMap"}' },
  { text: '{"kind":1}' },
  { text: '\ufeff{"metadata":{"name":"{id}-a"}}' },
  { text: '- op: add\n' },
  { text: '[{"op":"add","path":"/data/x","value":"y"}]' },
  { base64: 'azhzAAoLCgJ2MRIFQ29uZmlnTWFwEgA=' },
  { base64: 'azhzAP//' },
  { base64: '/////w==' },
  { base64: 'YTrD' },
  { base64: '4oKs7aCA' },
  { text: 'a: b: c' },
  { text: '\ta: b' },
]
const paths = [
  '/api/v1/namespaces/{ns}/configmaps',
  '/api/v1/namespaces/{ns}/configmaps/{id}-a',
  '/api/v1/namespaces/{ns}/configmaps/{id}-a/status',
  '/api/v1/namespaces/{ns}/configmaps/',
  '/api/v1/namespaces/{ns}/nothing',
  '/api/v1/namespaces/{ns}',
  // Objects of other scenarios come and go.
  '/api/v1/configmaps?fieldSelector=metadata.name%3D{id}-a',
  '/api/v1/namespaces//configmaps?fieldSelector=metadata.name%3D{id}-a',
  '/api/v1//namespaces/{ns}/configmaps',
  '/api/v2/namespaces',
  '/apis',
  '/apis/',
  '/apis/apps',
  '/apis/apps/v1',
  '/apis/apps/v9',
  '/apis/nothing.example.com/v1/x',
  '/api',
  '/api/',
  '/api/v1',
  '/',
  '/version',
  '/version/',
  '/healthz',
  '/healthz/ping',
  '/healthz/nothing',
  '/livez?verbose',
  '/readyz/poststarthook/nothing',
  '/openapi/v3/api/v9',
  '/.well-known/openid-configuration',
  '/openid/v1/jwks',
  '/nothing',
  '/api/v1/proxy/nodes/x',
  '/api/v1/watch/namespaces/{ns}/configmaps?timeoutSeconds=1',
  '/api/v1/namespaces/{ns}/configmaps/a%2Fb',
  '/api/v1/namespaces/{ns}/configmaps/%zz',
  '/api/v1/namespaces/{ns}/pods/x/log',
  '/api/v1/namespaces/{ns}/pods/x/exec',
  '/api/v1/namespaces/{ns}/services/x/proxy',
]
const methods = ['GET', 'GET', 'POST', 'POST', 'PUT', 'PATCH', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'QUERY']

/** Odd methods, paths, media types and bodies. */
export function generateHeaders(random: RandomChoices): Scenario {
  const steps: Step[] = [{ id: 'seed', method: 'POST', path: paths[0] as string, body: bodies[0] as Body }]
  for (let i = 0; i < 10; i++) {
    const method = random.pick(methods)
    const sendsBody = ['POST', 'PUT', 'PATCH'].includes(method) || (method === 'DELETE' && random.chance(30))
    const headers: Record<string, string | string[]> = {}
    const path = random.chance(45) ? (paths[random.below(2)] as string) : random.pick(paths)
    // kube-apiserver refuses the form of one object after it has deleted a collection.
    const forms = method === 'DELETE' ? accepts.filter((form) => !form.includes('PartialObjectMetadata')) : accepts
    if (random.chance(40)) headers['accept'] = random.pick(forms)
    if (sendsBody && random.chance(75)) headers['content-type'] = random.pick(contentTypes)
    if (random.chance(5)) headers['accept-encoding'] = random.pick(['identity', 'br'])
    steps.push({
      id: `s${i}`,
      method,
      path,
      ...(random.chance(10)
        ? {
            query: random.pick([
              'dryRun=All',
              'pretty=true',
              'fieldValidation=Strict',
              'fieldValidation=x',
              'dryRun=x',
              'fieldManager=%00',
              'a=%zz',
              'force=true',
            ]),
          }
        : {}),
      headers,
      ...(sendsBody ? { body: random.pick(bodies) } : {}),
    })
  }
  return { area: 'headers', steps }
}
