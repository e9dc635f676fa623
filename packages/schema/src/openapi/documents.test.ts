import type { JsonObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { discoveryTypes } from '../../testdata/discovery-types.ts'
import { openapiV2Document, openapiV3Document, openapiV3FromOperations } from './documents.ts'
import type { PublishedGroupVersion, PublishedResource } from './resources.ts'
import { rootDocuments } from './roots.ts'
import { createKindLookup } from './schemas.ts'

const source = discoveryTypes()
const options = { source, info: { title: 'Test', version: 'v1.33.0' }, kindsOf: createKindLookup(source) }
const all = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']
const podKind = { group: '', version: 'v1', kind: 'Pod' }

const pods: PublishedResource[] = [
  {
    name: 'pods',
    namespaced: true,
    kind: podKind,
    verbs: all,
    body: source.struct('core/v1.Pod'),
    list: source.struct('core/v1.PodList'),
    deleteReturnsObject: true,
  },
  {
    name: 'pods/status',
    namespaced: true,
    kind: podKind,
    verbs: ['get', 'patch', 'update'],
    body: source.struct('core/v1.Pod'),
  },
  {
    name: 'pods/exec',
    namespaced: true,
    kind: { ...podKind, kind: 'PodExecOptions' },
    verbs: ['create', 'get'],
    body: source.struct('core/v1.Container'),
    options: source.struct('core/v1.ExecAction'),
    connect: true,
  },
]
const core: PublishedGroupVersion = { group: '', version: 'v1', resources: pods }

type Item = Record<string, JsonObject & { parameters?: { name: string }[] }>

const document = openapiV3Document(core, options)
const paths = document.paths as Record<string, Item>

describe('OpenAPI v3 document', () => {
  it('uses the plural in paths and the kind in schemas and operations [P1]', () => {
    const get = paths['/api/v1/namespaces/{namespace}/pods/{name}']!.get!
    expect(get['x-kubernetes-group-version-kind']).toEqual(podKind)
    expect(get.operationId).toBe('readCoreV1NamespacedPod')
    expect(get['x-kubernetes-action']).toBe('get')
    expect(get.tags).toEqual(['core_v1'])
  })

  it('has every path of a resource', () => {
    expect(Object.keys(paths)).toEqual([
      '/api/v1/',
      '/api/v1/namespaces/{namespace}/pods',
      '/api/v1/namespaces/{namespace}/pods/{name}',
      '/api/v1/namespaces/{namespace}/pods/{name}/exec',
      '/api/v1/namespaces/{namespace}/pods/{name}/status',
      '/api/v1/pods',
      '/api/v1/watch/namespaces/{namespace}/pods',
      '/api/v1/watch/namespaces/{namespace}/pods/{name}',
      '/api/v1/watch/pods',
    ])
  })

  it('lists only the supported verbs of subresources [P2]', () => {
    expect(Object.keys(paths['/api/v1/namespaces/{namespace}/pods/{name}/status']!)).toEqual([
      'get',
      'put',
      'patch',
      'parameters',
    ])
  })

  it('declares fieldValidation and dryRun on the patch operation', () => {
    const { patch } = paths['/api/v1/namespaces/{namespace}/pods/{name}']!
    expect(patch!.parameters!.map(({ name }) => name)).toEqual(['dryRun', 'fieldManager', 'fieldValidation', 'force'])
    expect(Object.keys((patch!.requestBody as JsonObject).content as JsonObject)).toEqual([
      'application/json-patch+json',
      'application/merge-patch+json',
      'application/strategic-merge-patch+json',
      'application/apply-patch+yaml',
    ])
  })

  it('declares shared parameters once per path', () => {
    const { parameters } = paths['/api/v1/namespaces/{namespace}/pods/{name}']!
    expect((parameters as unknown as { name: string }[]).map(({ name }) => name)).toEqual(['name', 'namespace', 'pretty'])
    const lists = paths['/api/v1/pods']!
    expect(lists.get!.parameters).toBeUndefined()
    expect((lists.parameters as unknown as { name: string }[]).map(({ name }) => name)).toContain('labelSelector')
  })

  it('lists responses by status code', () => {
    const item = paths['/api/v1/namespaces/{namespace}/pods/{name}']!
    expect(Object.keys(item.put!.responses as JsonObject)).toEqual(['200', '201', '401'])
    const deleted = (item.delete!.responses as Record<string, JsonObject>)['202']!
    expect((deleted.content as Record<string, JsonObject>)['application/json']).toEqual({
      schema: { $ref: '#/components/schemas/io.k8s.api.core.v1.Pod' },
    })
  })

  it('declares options of connections as parameters', () => {
    const item = paths['/api/v1/namespaces/{namespace}/pods/{name}/exec']!
    expect(item.get!.operationId).toBe('connectCoreV1GetNamespacedPodExec')
    expect((item.parameters as unknown as { name: string }[]).map(({ name }) => name)).toEqual(['command', 'name', 'namespace'])
    expect((item.get!.responses as Record<string, JsonObject>)['200']!.content).toEqual({ '*/*': { schema: { type: 'string' } } })
  })

  it('resolves every reference to a component', () => {
    const { schemas } = document.components as { schemas: JsonObject }
    const text = JSON.stringify(document)
    const named = new Set([...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1]!))
    for (const name of named) expect(Object.hasOwn(schemas, name), name).toBe(true)
    expect(Object.keys(schemas)).toEqual(Object.keys(schemas).toSorted())
  })

  it('lists options for every group version and Status for v1 only', () => {
    const { schemas } = document.components as { schemas: Record<string, JsonObject> }
    const kinds = schemas['io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions']![
      'x-kubernetes-group-version-kind'
    ] as JsonObject[]
    expect(kinds[0]).toEqual({ group: '', kind: 'DeleteOptions', version: 'v1' })
    expect(kinds.map(({ group }) => group)).toContain('admission.k8s.io')
    expect(schemas['io.k8s.apimachinery.pkg.apis.meta.v1.Status']!['x-kubernetes-group-version-kind']).toEqual([
      { group: '', kind: 'Status', version: 'v1' },
    ])
  })
})

describe('OpenAPI v2 document', () => {
  const roots = rootDocuments({ source, groups: ['apps', 'rbac.authorization.k8s.io'], issuer: true })
  const extra = { operations: roots.flatMap((root) => root.operations), schemas: roots.flatMap((root) => root.schemas) }
  const v2 = openapiV2Document([core], { ...options, extra })
  const v2Paths = v2.paths as Record<string, Item>

  it('shares parameters except dryRun and fieldValidation', () => {
    const { patch } = v2Paths['/api/v1/namespaces/{namespace}/pods/{name}']!
    expect(patch!.parameters!.map((each) => each.name ?? (each as JsonObject).$ref)).toEqual([
      'body',
      'dryRun',
      '#/parameters/fieldManagerOfPatch',
      'fieldValidation',
      '#/parameters/force',
    ])
    const text = JSON.stringify(v2)
    for (const [, name] of text.matchAll(/"#\/parameters\/([^"]+)"/g))
      expect(Object.hasOwn(v2.parameters as JsonObject, name!)).toBe(true)
    for (const [, name] of text.matchAll(/"#\/definitions\/([^"]+)"/g))
      expect(Object.hasOwn(v2.definitions as JsonObject, name!)).toBe(true)
  })

  it('includes paths outside of group versions', () => {
    expect(Object.keys(v2Paths)).toEqual(
      expect.arrayContaining([
        '/api/',
        '/apis/',
        '/apis/apps/',
        '/version/',
        '/openid/v1/jwks/',
        '/.well-known/openid-configuration/',
      ]),
    )
    expect(v2Paths['/apis/rbac.authorization.k8s.io/']!.get!.operationId).toBe('getRbacAuthorizationAPIGroup')
  })

  it('publishes each root as an OpenAPI v3 document', () => {
    const api = roots.find(({ name }) => name === 'api')!
    const { components } = openapiV3FromOperations(api.operations, api.schemas, options)
    expect(Object.keys((components as { schemas: JsonObject }).schemas)).toEqual([
      'io.k8s.apimachinery.pkg.apis.meta.v1.APIVersions',
      'io.k8s.apimachinery.pkg.apis.meta.v1.ServerAddressByClientCIDR',
    ])
  })
})

describe('operations of custom resources', () => {
  const kind = { group: 'shop.example.com', version: 'v1', kind: 'Widget' }
  const written = (name: string) => ({ name, of: () => ({ type: 'object' }), uses: [] })
  const shared = { namespaced: true, body: written('Widget'), strategicMerge: false, custom: true }
  const widgets: PublishedResource[] = [
    { ...shared, name: 'widgets', kind, verbs: all, list: written('WidgetList') },
    {
      ...shared,
      name: 'widgets/scale',
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      verbs: ['get', 'patch', 'update'],
      body: source.struct('core/v1.Container'),
    },
  ]
  const published = { group: kind.group, version: 'v1', resources: widgets }
  const custom = openapiV3Document(published, options).paths as Record<string, Item>
  const root = '/apis/shop.example.com/v1'

  it('match kube-apiserver: no discovery, no deprecated watch paths, JSON and YAML only [P191]', () => {
    expect(Object.keys(custom)).toEqual([
      `${root}/namespaces/{namespace}/widgets`,
      `${root}/namespaces/{namespace}/widgets/{name}`,
      `${root}/namespaces/{namespace}/widgets/{name}/scale`,
      `${root}/widgets`,
    ])
    const { get } = custom[`${root}/widgets`]!
    expect(Object.keys(((get!.responses as JsonObject)[200] as JsonObject).content as JsonObject)).toEqual([
      'application/json',
      'application/yaml',
    ])
  })

  it('use the kind of the resource for subresources and no body for deletecollection', () => {
    expect(custom[`${root}/namespaces/{namespace}/widgets/{name}/scale`]!.get!['x-kubernetes-group-version-kind']).toEqual(kind)
    const { delete: deletion } = custom[`${root}/namespaces/{namespace}/widgets`]!
    expect(deletion!.requestBody).toBeUndefined()
    expect(deletion!.parameters!.map(({ name }) => name)).toContain('watch')
    const { patch } = custom[`${root}/namespaces/{namespace}/widgets/{name}`]!
    expect(Object.keys(patch!.responses as JsonObject)).toEqual(['200', '401'])
  })
})
