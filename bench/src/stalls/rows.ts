/** Requests that are hostile but legal, each with what it needs. */
import type { Storage } from '@krmkit/storage'
import type { Call, Caller } from '../e2e/caller.ts'
import { bytesOf, deployment } from '../objects.ts'
import { expressionRows } from './expression-rows.ts'

export interface StallRow {
  readonly name: string
  readonly prepare?: (call: Caller) => Promise<unknown>
  readonly run: (call: Caller) => Promise<unknown>
}

const configMaps = '/api/v1/namespaces/stalls/configmaps'
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const json = 'application/json'
const apply = 'application/apply-patch+yaml'

export interface StallSizes {
  readonly listed: number
  readonly deleted: number
  readonly definitions: number
  readonly revisions: number
  readonly deployments: number
}

export function stallRows(sizes: StallSizes, storage: Storage, settled: () => Promise<void>): StallRow[] {
  return [
    ...bodyRows(),
    ...listRows(sizes),
    ...deletionRows(sizes, settled),
    ...definitionRows(sizes),
    ...expressionRows(),
    ...backgroundRows(sizes, storage, settled),
  ]
}

/** Keys of 20 bytes and values of 10, up to a length. */
function data(bytes: number): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: Math.floor(bytes / 40) }, (_, i) => [`key-${String(i).padStart(14, '0')}`, 'a'.repeat(10)]),
  )
}

function bodyRows(): StallRow[] {
  const pods = { ...deployment('wide', 1) }
  const [container] = pods.spec.template.spec.containers
  const containers = Array.from({ length: 1500 }, (_, i) => ({ ...container, name: `c-${i}`, ports: [] }))
  const wide = { ...pods, spec: { ...pods.spec, template: { ...pods.spec.template, spec: { containers } } } }
  const large = (name: string, v: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data: { ...data(900_000), v },
  })
  const patch = (path: string, object: object): Call => ({
    method: 'PATCH',
    path,
    query: 'fieldManager=bench&force=true',
    contentType: apply,
    body: bytesOf(object),
  })
  const create = creation(configMaps, large('created', '1'))
  const row = (name: string, request: Call): StallRow => ({ name, run: (call) => call(request) })
  return [
    row('create a ConfigMap of 900 KB', create),
    row('update it', { ...creation(`${configMaps}/created`, large('created', '2')), method: 'PUT' }),
    row('apply a ConfigMap of 900 KB', patch(`${configMaps}/applied`, large('applied', '1'))),
    row('apply it with a change', patch(`${configMaps}/applied`, large('applied', '2'))),
    row('apply a Deployment of 1 500 containers', patch('/apis/apps/v1/namespaces/stalls/deployments/wide', wide)),
  ]
}

function creation(path: string, object: object): Call {
  return { method: 'POST', path, contentType: json, body: bytesOf(object) }
}

/** Creates objects in a namespace, 50 at a time. */
async function fill(call: Caller, path: string, count: number, object: (i: number) => object): Promise<void> {
  for (let from = 0; from < count; from += 50) {
    const some = Array.from({ length: Math.min(50, count - from) }, (_, at) => call(creation(path, object(from + at))))
    await Promise.all(some)
  }
}

/** Between requests of one client over a socket, the event loop turns. In one process it need not. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

async function namespace(call: Caller, name: string): Promise<void> {
  await call(creation('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }))
}

const small = (i: number) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: `cm-${i}`, labels: { shard: `s${i % 10}` } },
  data: { v: String(i) },
})

function listRows({ listed }: StallSizes): StallRow[] {
  const path = '/api/v1/namespaces/listed/configmaps'
  const row = (name: string, query: string, accept = json): StallRow => ({
    name: `list of ${listed}, ${name}`,
    run: (call) => call({ method: 'GET', path, query, accept }),
  })
  return [
    {
      ...row('JSON', ''),
      async prepare(call) {
        await namespace(call, 'listed')
        await fill(call, path, listed, small)
      },
    },
    row('protobuf', '', 'application/vnd.kubernetes.protobuf'),
    row('Table', '', 'application/json;as=Table;g=meta.k8s.io;v=v1'),
    row('label of a tenth', 'labelSelector=shard%3Ds3'),
    row('the same again, which builds the index', 'labelSelector=shard%3Ds3'),
    row('the same by index', 'labelSelector=shard%3Ds3'),
    row('label set', 'labelSelector=shard+in+(s1,s2)'),
    row('field', 'fieldSelector=metadata.name%3Dcm-7'),
  ]
}

function deletionRows({ deleted }: StallSizes, settled: () => Promise<void>): StallRow[] {
  const path = '/api/v1/namespaces/deleted/configmaps'
  const ownerPath = '/api/v1/namespaces/stalls/configmaps'
  let uid = ''
  const owned = (name: string, policy: string): StallRow => ({
    name: `${name} ${deleted} dependents`,
    async prepare(call) {
      const response = await call(
        creation(ownerPath, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `owner-${policy.toLowerCase()}` } }),
      )
      const { body } = response
      uid = body.kind === 'bytes' ? JSON.parse(new TextDecoder().decode(body.bytes)).metadata.uid : ''
      const ownerReferences = [
        { apiVersion: 'v1', kind: 'ConfigMap', name: `owner-${policy.toLowerCase()}`, uid, blockOwnerDeletion: true },
      ]
      await fill(call, ownerPath, deleted, (i) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: `${policy.toLowerCase()}-${i}`, ownerReferences },
      }))
      await settled()
    },
    async run(call) {
      await call({ method: 'DELETE', path: `${ownerPath}/owner-${policy.toLowerCase()}`, query: `propagationPolicy=${policy}` })
      await settled()
    },
  })
  return [
    {
      name: `deletecollection of ${deleted}`,
      async prepare(call) {
        await namespace(call, 'deleted')
        await fill(call, path, deleted, small)
        await settled()
      },
      run: (call) => call({ method: 'DELETE', path }),
    },
    {
      name: `deletion of a namespace with ${deleted} objects`,
      async prepare(call) {
        await fill(call, path, deleted, small)
        await settled()
      },
      async run(call) {
        await call({ method: 'DELETE', path: '/api/v1/namespaces/deleted' })
        await settled()
      },
    },
    owned('collect', 'Background'),
    owned('delete in the foreground', 'Foreground'),
    owned('orphan', 'Orphan'),
  ]
}

function definitionRows({ definitions: count }: StallSizes): StallRow[] {
  const large = creation(definitions, definition(9999, 2000))
  const discovery = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  return [
    {
      name: 'create a definition of 300 KB',
      async run(call) {
        await call(large)
        await new Promise((resolve) => setTimeout(resolve, 1000))
      },
    },
    {
      name: `create ${count} definitions`,
      async run(call) {
        for (let i = 0; i < count; i++) {
          await call(creation(definitions, definition(i, 40)))
          await nextTurn()
        }
        await new Promise((resolve) => setTimeout(resolve, 2000))
      },
    },
    { name: `discovery with ${count} groups`, run: (call) => call({ method: 'GET', path: '/apis', accept: discovery }) },
    { name: 'OpenAPI v2', run: (call) => call({ method: 'GET', path: '/openapi/v2' }) },
    {
      name: 'OpenAPI v2, protobuf',
      run: (call) =>
        call({ method: 'GET', path: '/openapi/v2', accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf' }),
    },
    { name: 'OpenAPI v3, index', run: (call) => call({ method: 'GET', path: '/openapi/v3' }) },
    { name: 'OpenAPI v3, one group', run: (call) => call({ method: 'GET', path: '/openapi/v3/apis/g7.bench.example.com/v1' }) },
  ]
}

function definition(i: number, members: number): object {
  const group = `g${i}.bench.example.com`
  const names = { plural: `things${i}`, kind: `Thing${i}` }
  const properties = Object.fromEntries(
    Array.from({ length: members }, (_, at) => [
      `field${at}`,
      {
        type: 'string',
        description: `The ${at}th of many members, which hold text.`,
        maxLength: 200,
        minLength: 1,
        pattern: '^[a-z]*$',
      },
    ]),
  )
  const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', properties } } }
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${names.plural}.${group}` },
    spec: { group, scope: 'Namespaced', names, versions: [version] },
  }
}

function backgroundRows({ revisions, deployments }: StallSizes, storage: Storage, settled: () => Promise<void>): StallRow[] {
  return [
    {
      name: `compaction of ${revisions} revisions`,
      async prepare() {
        const bytes = new Uint8Array(200)
        for (let i = 0; i < revisions; i++) await storage.put(`/bench/compacted/${i % 1000}`, () => bytes)
      },
      run: () => storage.compact(storage.revision),
    },
    {
      name: `roll-out of ${deployments} deployments`,
      prepare: (call) => namespace(call, 'rolled'),
      async run(call) {
        const path = '/apis/apps/v1/namespaces/rolled/deployments'
        for (let i = 0; i < deployments; i++) {
          await call(creation(path, deployment(`d-${i}`, 1)))
          await nextTurn()
        }
        await settled()
      },
    },
  ]
}
