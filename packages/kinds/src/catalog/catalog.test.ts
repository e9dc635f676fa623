import { describe, expect, it } from 'vitest'
import { KindsError } from '../kinds-error.ts'
import { builtInKinds, builtInTypes, createCatalog } from './catalog.ts'
import { printerOf } from './load-printer.ts'

const release = (version: string) => ({
  release: { version, atLeast: (other: string) => Number(version.split('.')[1]) >= Number(other.split('.')[1]) },
  enabled: () => false,
})
const names = (options = {}) =>
  builtInKinds(options).map(({ group, version, resource }) => `${group}/${version}/${resource.name}`)

describe('catalog', () => {
  const catalog = createCatalog()

  it('serves the stable versions of every group by default [P329]', () => {
    expect(names()).toHaveLength(61)
    expect(new Set(catalog.definitions.map(({ version }) => version))).toEqual(new Set(['v1', 'v2']))
    expect(catalog.groups.map(({ group }) => group)).toEqual([
      'apiregistration.k8s.io',
      '',
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
    ])
    expect(catalog.groups.find(({ group }) => group === 'autoscaling')?.versions).toEqual(['v2', 'v1'])
  })

  it('describes a resource, its sub-resources and its kind', () => {
    const pods = catalog.resource({ group: '', version: 'v1', resource: 'pods' })
    expect(pods?.resource).toEqual({
      name: 'pods',
      singularName: 'pod',
      namespaced: true,
      kind: { group: '', version: 'v1', kind: 'Pod' },
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      shortNames: ['po'],
      categories: ['all'],
    })
    expect(pods?.subresources.map(({ name, virtual }) => [name, virtual ?? false])).toEqual([
      ['pods/attach', true],
      ['pods/binding', true],
      ['pods/ephemeralcontainers', false],
      ['pods/eviction', true],
      ['pods/exec', true],
      ['pods/log', true],
      ['pods/portforward', true],
      ['pods/proxy', true],
      ['pods/resize', false],
      ['pods/status', false],
    ])
    expect(pods?.subresources.find(({ name }) => name === 'pods/eviction')?.kind).toEqual({
      group: 'policy',
      version: 'v1',
      kind: 'Eviction',
    })
    expect(pods?.kind).toMatchObject({ kind: 'Pod', listKind: 'PodList', namespaced: true, introduced: '1.0' })
    expect(pods?.kind.type().name).toBe('core/v1.Pod')
    expect(catalog.serving({ group: '', version: 'v1', kind: 'Pod' })).toBe(pods)
  })

  it('marks operations as virtual [P3]', () => {
    const virtual = catalog.definitions.filter(({ resource }) => resource.virtual).map(({ resource }) => resource.name)
    expect(virtual.sort()).toEqual([
      'bindings',
      'componentstatuses',
      'localsubjectaccessreviews',
      'selfsubjectaccessreviews',
      'selfsubjectreviews',
      'selfsubjectrulesreviews',
      'subjectaccessreviews',
      'tokenreviews',
    ])
  })

  it('stores each kind in one version and events under one prefix', () => {
    const at = (group: string, version: string, resource: string) => catalog.resource({ group, version, resource })?.storage
    expect(at('autoscaling', 'v1', 'horizontalpodautoscalers')).toEqual(at('autoscaling', 'v2', 'horizontalpodautoscalers'))
    expect(at('autoscaling', 'v1', 'horizontalpodautoscalers')?.version).toBe('v2')
    expect(at('events.k8s.io', 'v1', 'events')).toEqual(at('', 'v1', 'events'))
    expect(at('', 'v1', 'services')).toEqual({ group: '', version: 'v1', resource: 'services', prefix: 'services/specs' })
    const converted = catalog.definitions.filter(
      ({ toStorage, fromStorage }) => toStorage !== undefined && fromStorage !== undefined,
    )
    expect(converted.map(({ group, version }) => `${group}/${version}`)).toEqual(['events.k8s.io/v1', 'autoscaling/v1'])
  })

  it('prints objects of the served version and of the storage version [P31]', async () => {
    const events = catalog.resource({ group: 'events.k8s.io', version: 'v1', resource: 'events' })!
    const fresh = {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'e' },
      regarding: { kind: 'Pod', name: 'p' },
      note: 'n',
    }
    const printer = await printerOf(events)
    const cells = printer.cells(fresh, { now: 0 })
    expect([cells[3], cells[6]]).toEqual(['pod/p', 'n'])
    expect(printer.cells(events.toStorage!(fresh), { now: 0 })).toEqual(cells)
  })

  it('finds kinds that are not resources', () => {
    const name = (group: string, version: string, kind: string) => catalog.kind({ group, version, kind })?.type().name
    expect(name('', 'v1', 'Status')).toBe('meta/v1.Status')
    expect(name('apps', 'v1', 'DeleteOptions')).toBe('meta/v1.DeleteOptions')
    expect(name('meta.k8s.io', 'v1', 'Table')).toBe('meta/v1.Table')
    expect(name('meta.k8s.io', 'v1beta1', 'PartialObjectMetadata')).toBe('meta/v1.PartialObjectMetadata')
    expect(name('autoscaling', 'v1', 'Scale')).toBe('autoscaling/v1.Scale')
    expect(name('admission.k8s.io', 'v1', 'AdmissionReview')).toBe('admission/v1.AdmissionReview')
    expect(name('apps', 'v1', 'Status')).toBeUndefined()
    expect(name('', 'v1', 'constructor')).toBeUndefined()
    expect(name('', '__proto__', 'Pod')).toBeUndefined()
    expect(name('', 'v1', 'Nothing')).toBeUndefined()
  })

  it('has a type for every kind it serves', () => {
    const types = builtInTypes()
    for (const each of createCatalog({ types, runtimeConfig: 'api/all' }).definitions) {
      expect(each.kind.type().root, each.kind.kind).toBe(true)
      for (const { kind } of each.subresources) expect(catalog.kind(kind)?.type().root, kind.kind).toBe(true)
    }
  })

  it('serves what --runtime-config adds and drops what it removes [P330]', () => {
    expect(names({ runtimeConfig: 'storage.k8s.io/v1beta1' })).toContain('storage.k8s.io/v1beta1/volumeattributesclasses')
    expect(names({ runtimeConfig: 'storage.k8s.io/v1beta1' })).not.toContain('storage.k8s.io/v1beta1/csidrivers')
    expect(names({ runtimeConfig: 'api/all=false,v1=true' }).every((name) => name.startsWith('/v1/'))).toBe(true)
    expect(names({ runtimeConfig: { 'apps/v1/daemonsets': false } })).not.toContain('apps/v1/daemonsets')
    expect(
      names({ runtimeConfig: { 'apps/v1': 'false', 'apps/v1/daemonsets': '' } }).filter((name) => name.startsWith('apps')),
    ).toEqual(['apps/v1/daemonsets'])
    expect(() => names({ runtimeConfig: 'none.example.com/v1' })).toThrow(KindsError)
  })

  it('leaves out resources newer than the release', () => {
    const old = createCatalog({ features: release('1.25') })
    expect(old.resource({ group: 'authentication.k8s.io', version: 'v1', resource: 'selfsubjectreviews' })).toBeUndefined()
    expect(old.resource({ group: '', version: 'v1', resource: 'pods' })?.subresources.map(({ name }) => name)).not.toContain(
      'pods/resize',
    )
    expect(createCatalog({ features: release('1.33') }).definitions).toHaveLength(61)
  })

  it('parses no type to list what is served', () => {
    const types = {
      struct() {
        throw new Error('a type was read')
      },
      has: () => true,
    }
    expect(builtInKinds({ types })).toHaveLength(61)
  })
})
