import { createCatalog, type ResourceDefinition } from '@krmkit/kinds'
import { createNamingProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { chooseAggregated, createDiscovery, type DiscoveryResult } from './discovery.ts'

const { definitions } = createCatalog()
const deployments = definitions.find(
  ({ group, resource }) => group === 'apps' && resource.name === 'deployments',
) as ResourceDefinition

/** A resource of a group that is not built in. */
function widget(version: string, plural = 'widgets'): ResourceDefinition {
  const kind = { group: 'shop.example.com', version, kind: 'Widget' }
  const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
  const status = {
    name: `${plural}/status`,
    singularName: '',
    namespaced: true,
    kind,
    verbs: ['get', 'patch', 'update'],
    shortNames: [],
    categories: [],
  }
  const scale = { ...status, name: `${plural}/scale`, kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' } }
  return {
    ...deployments,
    group: 'shop.example.com',
    version,
    resource: { name: plural, singularName: 'widget', namespaced: true, kind, verbs, shortNames: ['wi'], categories: ['all'] },
    kind: { ...deployments.kind, ...kind },
    subresources: [status, scale],
    storage: { ...deployments.storage, group: 'shop.example.com', version: 'v1', resource: plural },
    custom: {},
  }
}

let resources: readonly ResourceDefinition[] = [
  ...definitions,
  widget('v1'),
  widget('v2beta1'),
  widget('v10'),
  widget('v1', 'anvils'),
]
const discovery = createDiscovery({ resources: () => resources, serverAddress: () => '10.0.0.1:6443' })

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

function answer(path: string, headers: Record<string, string> = {}): DiscoveryResult {
  return discovery.resolve({ path, headers }) as DiscoveryResult
}

function object(path: string): Record<string, unknown> {
  const found = answer(path)
  if (found.outcome !== 'document') throw new Error(`${path}: ${found.outcome}`)
  return found.object
}

function names(path: string): string[] {
  return (object(path).resources as { name: string }[]).map(({ name }) => name)
}

describe('discovery documents', () => {
  it('list the versions of the core group without an apiVersion [P329]', () => {
    expect(JSON.stringify(object('/api'))).toBe(
      '{"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[{"clientCIDR":"0.0.0.0/0","serverAddress":"10.0.0.1:6443"}]}',
    )
    expect(answer('/api')).toMatchObject({ kind: { group: '', version: '', kind: 'APIVersions' } })
  })

  it('list groups in the order of kube-apiserver, groups of custom resources last [P137]', () => {
    const { groups } = object('/apis') as { groups: { name: string }[] }
    expect(groups.map(({ name }) => name)).toEqual([
      'apiregistration.k8s.io',
      'apps',
      'events.k8s.io',
      'authentication.k8s.io',
      'authorization.k8s.io',
      'autoscaling',
      'batch',
      'certificates.k8s.io',
      'networking.k8s.io',
      'policy',
      'rbac.authorization.k8s.io',
      'storage.k8s.io',
      'admissionregistration.k8s.io',
      'apiextensions.k8s.io',
      'scheduling.k8s.io',
      'coordination.k8s.io',
      'node.k8s.io',
      'discovery.k8s.io',
      'flowcontrol.apiserver.k8s.io',
      'shop.example.com',
    ])
  })

  it('list the versions of a group, the preferred one first [P329]', () => {
    expect(JSON.stringify(object('/apis/autoscaling'))).toBe(
      '{"kind":"APIGroup","apiVersion":"v1","name":"autoscaling","versions":[{"groupVersion":"autoscaling/v2","version":"v2"},{"groupVersion":"autoscaling/v1","version":"v1"}],"preferredVersion":{"groupVersion":"autoscaling/v2","version":"v2"}}',
    )
    expect(object('/apis/shop.example.com')).toMatchObject({
      preferredVersion: { version: 'v10' },
      versions: [{ version: 'v10' }, { version: 'v1' }, { version: 'v2beta1' }],
    })
  })

  it('list resources by plural, with kind, group and version [P1]', () => {
    const { resources: found } = object('/apis/apps/v1') as { resources: Record<string, unknown>[] }
    expect(JSON.stringify(found.find(({ name }) => name === 'deployments'))).toBe(
      '{"name":"deployments","singularName":"deployment","namespaced":true,"kind":"Deployment","verbs":["create","delete","deletecollection","get","list","patch","update","watch"],"shortNames":["deploy"],"categories":["all"],"storageVersionHash":"8aSe+NMegvE="}',
    )
  })

  it('list subresources after their resource, with group and version of foreign kinds [P2]', () => {
    expect(names('/apis/apps/v1')).toEqual(expect.arrayContaining(['deployments', 'deployments/scale', 'deployments/status']))
    const { resources: found } = object('/apis/apps/v1') as { resources: Record<string, unknown>[] }
    expect(found.find(({ name }) => name === 'deployments/scale')).toEqual({
      name: 'deployments/scale',
      singularName: '',
      namespaced: true,
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
      verbs: ['get', 'patch', 'update'],
    })
  })

  it('print an apiVersion for all groups but the core group [P137]', () => {
    expect(Object.keys(object('/api/v1'))).toEqual(['kind', 'groupVersion', 'resources'])
    expect(object('/apis/apps/v1')).toMatchObject({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'apps/v1' })
    expect(answer('/api/v1')).toMatchObject({ refusal: 'router' })
    expect(answer('/apis/apps')).toMatchObject({ refusal: 'mediaTypes' })
  })

  it('list custom resources by plural, with their subresources in given order', () => {
    expect(names('/apis/shop.example.com/v1')).toEqual([
      'anvils',
      'anvils/status',
      'anvils/scale',
      'widgets',
      'widgets/status',
      'widgets/scale',
    ])
  })

  it('compute the storage version hash of kube-apiserver', () => {
    const { resources: found } = object('/api/v1') as { resources: { name: string; storageVersionHash?: string }[] }
    const marks = new Map(found.map(({ name, storageVersionHash }) => [name, storageVersionHash]))
    expect(marks.get('pods')).toBe('xPOwRZ+Yhw8=')
    expect(marks.get('configmaps')).toBe('qFsyl6wFWjQ=')
    expect(marks.get('bindings')).toBeUndefined()
    expect(marks.get('pods/status')).toBeUndefined()
  })

  it('accept one trailing slash only', () => {
    expect(answer('/apis/apps/')).toBe(answer('/apis/apps'))
    expect(answer('/api/v1/')).toBe(answer('/api/v1'))
    expect(discovery.resolve({ path: '/apis//v1', headers: {} })).toBeUndefined()
    expect(discovery.resolve({ path: '/api/v1/pods', headers: {} })).toBeUndefined()
    expect(discovery.resolve({ path: '/openapi/v3', headers: {} })).toBeUndefined()
  })

  it.each([
    ['/apis/none.example.com', 'text'],
    ['/apis/none.example.com/v1', 'text'],
    ['/apis/shop.example.com/v77', 'text'],
    ['/apis/apps/v9', 'status'],
    ['/api/v9', 'status'],
    ['/apis/__proto__', 'text'],
  ])('do not serve %s, with the 404 form %s', (path, form) => {
    expect(answer(path)).toEqual({ outcome: 'notServed', form })
  })

  it('are cached until the served resources change', () => {
    const before = answer('/apis/shop.example.com')
    expect(answer('/apis/shop.example.com')).toBe(before)
    const all = resources
    resources = definitions
    expect(answer('/apis/shop.example.com')).toEqual({ outcome: 'notServed', form: 'text' })
    resources = all
  })

  it('omit /api on a server without core kinds', () => {
    const small = createDiscovery({ resources: () => [], serverAddress: () => '' })
    expect(small.resolve({ path: '/api', headers: {} })).toEqual({ outcome: 'notServed', form: 'text' })
    expect(small.resolve({ path: '/apis', headers: {} })).toMatchObject({ object: { groups: [] } })
  })
})

describe('aggregated discovery', () => {
  function list(path: string, accept = aggregated) {
    const found = answer(path, { accept })
    if (found.outcome !== 'aggregated') throw new Error(found.outcome)
    return found
  }

  it('is selected by the Accept header', () => {
    expect(list('/apis').headers).toEqual({
      'content-type': aggregated,
      etag: expect.stringMatching(/^"[0-9A-F]{128}"$/),
      vary: 'Accept',
      'cache-control': 'public',
    })
    expect(answer('/apis', { accept: 'application/json' }).outcome).toBe('document')
    expect(answer('/apis/apps', { accept: aggregated }).outcome).toBe('document')
  })

  it('supports the Accept header of the stock client with two versions and a fallback', () => {
    const beta = aggregated.replace('v=v2', 'v=v2beta1')
    expect(chooseAggregated(`${aggregated},${beta},application/json`)).toEqual({ version: 'v2', encoding: 'json', pretty: false })
    expect(chooseAggregated(`${beta},application/json`)).toEqual({ version: 'v2beta1', encoding: 'json', pretty: false })
    expect(chooseAggregated(aggregated.replace('json', 'vnd.kubernetes.protobuf'))).toEqual({
      version: 'v2',
      encoding: 'protobuf',
      pretty: false,
    })
    expect(chooseAggregated(aggregated.replace('v=v2', 'v=v3'))).toBeUndefined()
    expect(chooseAggregated(aggregated.replace('apidiscovery', 'other'))).toBeUndefined()
    expect(chooseAggregated(undefined)).toBeUndefined()
  })

  it('lists all groups with their resources', () => {
    const { items } = list('/apis').object as {
      items: { metadata: { name: string }; versions: { version: string; resources: object[] }[] }[]
    }
    expect(items[1]!.metadata).toEqual({ name: 'apps', creationTimestamp: null })
    expect(
      JSON.stringify(items[1]!.versions[0]!.resources.find((each) => (each as { resource: string }).resource === 'deployments')),
    ).toBe(
      '{"resource":"deployments","responseKind":{"group":"","version":"","kind":"Deployment"},"scope":"Namespaced","singularResource":"deployment","verbs":["create","delete","deletecollection","get","list","patch","update","watch"],"shortNames":["deploy"],"categories":["all"],"subresources":[{"subresource":"scale","responseKind":{"group":"autoscaling","version":"v1","kind":"Scale"},"verbs":["get","patch","update"]},{"subresource":"status","responseKind":{"group":"","version":"","kind":"Deployment"},"verbs":["get","patch","update"]}]}',
    )
    expect(items.at(-1)!.versions[0]!.resources[0]).toMatchObject({
      responseKind: { group: 'shop.example.com', version: 'v10', kind: 'Widget' },
    })
  })

  it('omits the name of the core group', () => {
    const { object: found } = list('/api')
    expect(Object.keys(found)).toEqual(['kind', 'apiVersion', 'metadata', 'items'])
    expect((found.items as object[])[0]).toMatchObject({
      metadata: { creationTimestamp: null },
      versions: [{ version: 'v1', freshness: 'Current' }],
    })
  })

  it('returns 304 for a matching entity tag', () => {
    const { etag } = list('/apis').headers
    const again = answer('/apis', { accept: aggregated, 'if-none-match': etag! })
    expect(again).toMatchObject({ outcome: 'aggregated', notModified: true })
    expect(answer('/api', { accept: aggregated, 'if-none-match': etag! })).toMatchObject({ notModified: false })
  })

  it('uses the group and media type of the naming profile', () => {
    const profile = createNamingProfile({ apiDomain: 'example.org', vendor: 'acme' })
    const own = createDiscovery({ resources: () => resources, serverAddress: () => '', profile })
    const accept = 'application/vnd.acme.protobuf;g=apidiscovery.example.org;v=v2;as=APIGroupDiscoveryList'
    expect(own.resolve({ path: '/apis', headers: { accept } })).toMatchObject({
      outcome: 'aggregated',
      object: { apiVersion: 'apidiscovery.example.org/v2' },
      headers: { 'content-type': accept },
    })
    expect(own.resolve({ path: '/apis', headers: { accept: aggregated } })).toMatchObject({ outcome: 'document' })
  })
})

it('omits the creationTimestamp of groups where the release does', () => {
  const later = createDiscovery({ resources: () => resources, serverAddress: () => '', nullTimes: false })
  const found = later.resolve({ path: '/apis', headers: { accept: aggregated } }) as unknown as {
    object: { items: { metadata: object }[] }
  }
  expect(found.object.items[1]!.metadata).toEqual({ name: 'apps' })
})
