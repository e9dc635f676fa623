import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import type { Scenario, Step } from '../scenario.ts'

/** A resource whose objects begin and cease to match selectors. */
interface Watched {
  readonly root: string
  readonly resource: string
  readonly apiVersion: string
  readonly kind: string
  readonly spec: (random: RandomChoices) => JsonObject
  readonly fields: readonly string[]
}

const labels = { app: 'x' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }

const resources: readonly Watched[] = [
  {
    root: '/api/v1',
    resource: 'pods',
    apiVersion: 'v1',
    kind: 'Pod',
    spec: (random) => ({
      spec: {
        containers: [{ name: 'c', image: 'i' }],
        ...(random.chance(40) ? { nodeName: 'n1' } : {}),
        ...(random.chance(20) ? { restartPolicy: 'Never' } : {}),
        ...(random.chance(20) ? { hostNetwork: true } : {}),
      },
    }),
    fields: [
      'spec.nodeName=n1',
      'spec.nodeName!=n1',
      'status.phase=Pending',
      'status.phase!=Running',
      'spec.restartPolicy=Never',
      'spec.hostNetwork=true',
      'spec.serviceAccountName=default',
      'status.podIP=1.2.3.4',
      'status.nominatedNodeName=n',
      'spec.schedulerName!=x',
    ],
  },
  {
    root: '/api/v1',
    resource: 'configmaps',
    apiVersion: 'v1',
    kind: 'ConfigMap',
    spec: () => ({ data: { a: 'b' } }),
    fields: ['metadata.namespace={ns}'],
  },
  {
    root: '/api/v1',
    resource: 'secrets',
    apiVersion: 'v1',
    kind: 'Secret',
    spec: (random) => ({ type: random.pick(['Opaque', 'example.com/x']), stringData: { a: 'b' } }),
    fields: ['type=Opaque', 'type!=Opaque'],
  },
  {
    root: '/apis/apps/v1',
    resource: 'replicasets',
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    spec: () => ({ spec: { selector: { matchLabels: labels }, template } }),
    fields: ['status.replicas=0', 'status.replicas!=0', 'status.replicas=2'],
  },
  {
    root: '/apis/batch/v1',
    resource: 'jobs',
    apiVersion: 'batch/v1',
    kind: 'Job',
    spec: () => ({ spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } }),
    fields: ['status.successful=1', 'status.successful=0', 'status.successful!=1'],
  },
  {
    root: '/api/v1',
    resource: 'services',
    apiVersion: 'v1',
    kind: 'Service',
    spec: () => ({ spec: { clusterIP: 'None', ports: [{ port: 80 }] } }),
    fields: ['spec.clusterIP=None', 'spec.type=ClusterIP', 'spec.type!=ClusterIP'],
  },
  {
    root: '/api/v1',
    resource: 'events',
    apiVersion: 'v1',
    kind: 'Event',
    spec: (random) => ({
      involvedObject: { kind: 'Pod', name: 'p', namespace: '{ns}', uid: 'u' },
      reason: random.pick(['R', 'S']),
      type: random.pick(['Normal', 'Warning']),
      source: { component: 'c' },
    }),
    fields: ['involvedObject.kind=Pod', 'reason=R', 'type!=Normal', 'source=c', 'reportingComponent=c', 'involvedObject.uid=u'],
  },
]

/** Watches with every kind of selector, start, form and path, lists as streams, and writes after which objects begin and cease to match. */
export function generateWatches(random: RandomChoices): Scenario {
  const watched = random.pick(resources)
  const collection = `${watched.root}/namespaces/{ns}/${watched.resource}`
  const steps: Step[] = []
  for (let i = 0; i < 3; i++) steps.push(create(watched, `create${i}`, `o${i}`, random))
  steps.push({ id: 'list', method: 'GET', path: collection })
  for (let i = 0; i < 3; i++) steps.push(watch(watched, i, random))
  for (let i = 0; i < 9; i++) steps.push(write(watched, i, random))
  // From a version before the writes.
  for (let i = 3; i < 5; i++) steps.push(watch(watched, i, random))
  if (random.chance(40)) steps.push(write(watched, 9, random))
  return { area: 'watches', steps }
}

function labelsOf(random: RandomChoices): JsonObject {
  return random.pick<JsonObject>([{ a: '1' }, { a: '2' }, { a: '3', b: 'x' }, { b: 'y' }, {}])
}

function create({ root, resource, apiVersion, kind, spec }: Watched, id: string, name: string, random: RandomChoices): Step {
  const metadata = { name, labels: labelsOf(random) }
  const json = { apiVersion, kind, metadata, ...spec(random) }
  return { id, method: 'POST', path: `${root}/namespaces/{ns}/${resource}`, body: { json } }
}

const labelSelectors = ['a=1', 'a!=1', 'a in (1,2)', '!a', 'a', 'a,b', 'a notin (1)', 'b=x']
const own = ['metadata.name=o0', 'metadata.name!=o0', 'metadata.name=none', 'metadata.namespace={ns},metadata.name=o1']

function watch({ root, resource, fields }: Watched, i: number, random: RandomChoices): Step {
  const query: [string, string][] = [['timeoutSeconds', random.pick(['20', '20', '20', '1'])]]
  const { path, isOld, isWide } = watchPath(root, resource, random)
  if (!isOld) query.push(['watch', random.pick(['true', '1', '1', ''])])
  if (random.chance(45)) query.push(['labelSelector', random.pick(labelSelectors)])
  const chosen = random.chance(50) ? [random.pick([...fields, ...own])] : []
  // A watch of all namespaces sees other scenarios.
  if (isWide) chosen.push('metadata.namespace={ns}')
  if (chosen.length > 0) query.push(['fieldSelector', chosen.join(',')])
  if (random.chance(75))
    query.push([
      'resourceVersion',
      random.pick([
        '{list.metadata.resourceVersion}',
        '{list.metadata.resourceVersion}',
        '{create0.metadata.resourceVersion}',
        '{create2.metadata.resourceVersion}',
        '0',
        '',
      ]),
    ])
  if (random.chance(10)) query.push(['includeObject', random.pick(['None', 'Object', 'Metadata'])])
  if (random.chance(8)) query.push(['pretty', 'true'])
  query.push(...streaming(random))
  return { id: `watch${i}`, method: 'GET', path, query, headers: { accept: random.pick(accepts) }, watch: true }
}

/** A list as a stream, complete or with one option missing or wrong, and bookmarks. */
function streaming(random: RandomChoices): [string, string][] {
  if (random.chance(70)) return random.chance(20) ? [['allowWatchBookmarks', 'true']] : []
  const options: readonly [string, readonly string[]][] = [
    ['sendInitialEvents', ['true', '1', 'false', '']],
    ['resourceVersionMatch', ['NotOlderThan', 'Exact', 'notOlderThan', '']],
    ['allowWatchBookmarks', ['true', 'false', '']],
  ]
  return options.flatMap(([name, [usual = '', ...odd]]) => {
    if (random.chance(75)) return [[name, usual]]
    return random.chance(50) ? [[name, random.pick(odd)]] : []
  })
}

const accepts = [
  'application/json',
  'application/json',
  'application/json',
  'application/json;stream=watch',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1beta1;g=meta.k8s.io',
  'application/vnd.kubernetes.protobuf;stream=watch',
  'application/vnd.kubernetes.protobuf',
  'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/yaml',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
]

function watchPath(root: string, resource: string, random: RandomChoices) {
  const inNamespace = `namespaces/{ns}/${resource}`
  switch (random.below(8)) {
    case 0:
      return { path: `${root}/watch/${inNamespace}`, isOld: true, isWide: false }
    case 1:
      return { path: `${root}/watch/${inNamespace}/${random.pick(['o0', 'o1', 'none'])}`, isOld: true, isWide: false }
    case 2:
      return { path: `${root}/watch/${resource}`, isOld: true, isWide: true }
    case 3:
      return { path: `${root}/${resource}`, isOld: false, isWide: true }
    default:
      return { path: `${root}/${inNamespace}`, isOld: false, isWide: false }
  }
}

/** Writes after which an object matches, does not match any more, or goes on to match. */
function write(watched: Watched, i: number, random: RandomChoices): Step {
  const { root, resource, kind } = watched
  const collection = `${root}/namespaces/{ns}/${resource}`
  const id = `write${i}`
  const path = `${collection}/o${random.below(4)}`
  const merge = { 'content-type': 'application/merge-patch+json' }
  const patch = (at: string, json: JsonValue): Step => ({ id, method: 'PATCH', path: at, headers: merge, body: { json } })
  switch (random.below(12)) {
    case 0:
      return create(watched, id, `o${random.below(4)}`, random)
    case 1:
      return { id, method: 'DELETE', path, query: random.chance(60) ? [['gracePeriodSeconds', '0']] : [] }
    case 2:
      return {
        id,
        method: 'DELETE',
        path: collection,
        query: [
          ['labelSelector', random.pick(labelSelectors)],
          ['gracePeriodSeconds', random.pick(['0', '5'])],
        ],
      }
    case 3:
      return patch(path, { metadata: { finalizers: random.pick<JsonValue>([['example.com/a'], null]) } })
    case 4:
      return patch(path, { metadata: { annotations: { n: random.pick(['1', '2']) } } })
    case 5:
    case 6:
      return statusOf(kind) === undefined
        ? patch(path, { metadata: { labels: { a: '2' } } })
        : patch(`${path}/status`, { status: random.pick(statusOf(kind) ?? [{}]) })
    case 7:
      return patch(path, { metadata: { labels: { a: null, b: random.pick(['x', null]) } } })
    case 8:
      return kind === 'Pod' ? bind(id, path) : patch(path, { metadata: { labels: { c: 'd' } } })
    default:
      return patch(path, { metadata: { labels: { a: random.pick(['1', '2', '3', null]) } } })
  }
}

function bind(id: string, path: string): Step {
  const json = { metadata: { name: path.slice(path.lastIndexOf('/') + 1) }, target: { kind: 'Node', name: 'n1' } }
  return { id, method: 'POST', path: `${path}/binding`, body: { json } }
}

function statusOf(kind: string): readonly JsonObject[] | undefined {
  switch (kind) {
    case 'Pod':
      return [
        { phase: 'Running' },
        { phase: 'Pending' },
        { podIP: '1.2.3.4', podIPs: [{ ip: '1.2.3.4' }] },
        { nominatedNodeName: 'n' },
      ]
    case 'ReplicaSet':
      return [{ replicas: 2 }, { replicas: 0 }, { replicas: 2, readyReplicas: 1 }]
    case 'Job':
      return [{ succeeded: 1 }, { succeeded: 0 }, { active: 1 }]
    default:
      return undefined
  }
}
