import { createCatalog, readLifecycle } from '@krmkit/kinds'
import type { JsonObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { compareSurfaces } from './compare-surfaces.ts'
import type { ApiSurface, SurfaceElement, SurfaceKind } from './interfaces.ts'
import { joinSurfaces, surfaceOfCustomResources, surfaceOfDefinitions, surfaceOfOpenApi, surfaceOfRelease } from './sources.ts'

const kind = (version: string, rest: Partial<SurfaceKind> = {}): SurfaceKind => ({
  group: 'example.com',
  kind: 'Widget',
  version,
  ...rest,
})
const surface = (kinds: readonly SurfaceKind[], release?: string): ApiSurface => ({
  name: 'test',
  kinds,
  ...(release === undefined ? {} : { release }),
})
const broken = (before: ApiSurface, after: ApiSurface, calendar = {}) =>
  compareSurfaces(before, after, { calendar }).flatMap(({ rule, subject, path }) =>
    rule === undefined ? [] : [`${rule} ${subject}${path === '' ? '' : ` ${path}`}`],
  )

/** The surface of one definition with the given versions. */
function crd(versions: readonly JsonObject[], spec: JsonObject = {}): ApiSurface {
  const object = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    spec: { group: 'example.com', names: { kind: 'Widget' }, versions: [...versions], ...spec },
  }
  return surfaceOfCustomResources([object], 'crd')
}
const version = (name: string, properties: JsonObject, rest: JsonObject = {}) => ({
  name,
  served: true,
  storage: false,
  schema: { openAPIV3Schema: { type: 'object', properties } },
  ...rest,
})
const text: JsonObject = { type: 'string' }

const volumeClaim = 'spec.template.spec.volumes[].ephemeral.volumeClaimTemplate.spec'

/**
 * What stable versions lost with the release after each minor number: fields of alpha features and those that servers ignored; members that
 * validation required before their type did.
 */
const breaches: Readonly<Record<number, readonly string[]>> = {
  21: ['1 v1 Service spec.topologyKeys'],
  24: ['1 admissionregistration.k8s.io/v1 MutatingWebhookConfiguration metadata.clusterName'],
  27: ['1 v1 PersistentVolumeClaim status.resizeStatus', '1 networking.k8s.io/v1 NetworkPolicy status'],
  28: [`1 apps/v1 DaemonSet ${volumeClaim}.resources.claims`],
  29: ['1 apps/v1 DaemonSet spec.template.spec.hostAliases[].ip', '1 v1 Pod status.hostIPs[].ip', '1 v1 Pod status.podIPs[].ip'],
  30: [
    '1 apps/v1 DaemonSet spec.template.spec.resourceClaims[].source',
    '1 v1 PersistentVolumeClaim status.allocatedResourceStatuses[]',
  ],
}

/** The same up to the newest release, where a type is named at its first use among the kinds that krmkit serves. */
const servedBreaches: Readonly<Record<string, readonly string[]>> = {
  '1.24': [
    '1 apiregistration.k8s.io/v1 APIService metadata.clusterName',
    '1 v1 Pod spec.hostAliases[].ip',
    '1 v1 Pod status.podIPs[].ip',
    '1 networking.k8s.io/v1 NetworkPolicy status',
  ],
  '1.29': [
    '1 v1 PersistentVolumeClaim status.allocatedResourceStatuses[]',
    '1 v1 Pod spec.hostAliases[].ip',
    '1 v1 Pod spec.resourceClaims[].source',
    '1 v1 Pod status.hostIPs[].ip',
    '1 v1 Pod status.podIPs[].ip',
  ],
}

describe('compareSurfaces', () => {
  it('rule 1: reports removed fields and values, changed types and new requirements, except in alpha versions [P332]', () => {
    const before = {
      size: { type: 'integer' },
      name: text,
      color: { type: 'string', enum: ['red', 'blue'] },
      list: { type: 'array', items: { type: 'object', properties: { a: text } } },
    }
    const after = {
      size: text,
      color: { type: 'string', enum: ['red', 'green'] },
      list: { type: 'array', items: { type: 'object', properties: { a: text, b: text }, required: ['a'] } },
    }
    const compared = (name: string) => broken(crd([version(name, before)]), crd([version(name, after)]))
    const subject = 'example.com/v1 Widget'
    expect(compared('v1')).toEqual([`1 ${subject} size`, `1 ${subject} name`, `1 ${subject} color`, `1 ${subject} list[].a`])
    expect(compared('v1beta1')).toHaveLength(4)
    expect(compared('v1alpha1')).toEqual([])
    expect(broken(crd([version('v1', before)]), crd([version('v2', after)]))).toEqual([`4a ${subject}`])
  })

  it('rule 1: accepts new optional fields, wider types, and members that an open schema preserves [P332]', () => {
    const before = { size: { type: 'integer' }, old: text }
    const open = {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { size: { type: 'number' }, more: text },
    }
    expect(broken(crd([version('v1', before)]), crd([{ ...version('v1', {}), schema: { openAPIV3Schema: open } }]))).toEqual([])
    const changes = compareSurfaces(crd([version('v1', {})]), crd([version('v1', { more: text })]))
    expect(changes).toEqual([{ sort: 'added', subject: 'example.com/v1 Widget', path: 'more', message: 'it is added' }])
  })

  it('rule 2: reports fields that differ between versions without conversion [P332]', () => {
    const stored = version('v1', { size: text }, { storage: true })
    const other = version('v2', { size: { type: 'integer' }, color: text })
    const only = (spec: JsonObject = {}) => broken(crd([stored, other], spec), crd([stored, other], spec))
    expect(only()).toEqual(['2 example.com/v2 Widget size', '2 example.com/v2 Widget color', '2 example.com/v1 Widget size'])
    expect(only({ conversion: { strategy: 'Webhook' } })).toEqual([])
  })

  it('rule 3: reports a less stable successor [P332]', () => {
    const old = [kind('v1'), kind('v2beta1')]
    const deprecated = kind('v1', { deprecated: true })
    expect(broken(surface(old), surface([{ ...deprecated, replacement: 'v2beta1' }, kind('v2beta1')]))).toEqual([
      '3 example.com/v1 Widget',
    ])
    expect(broken(surface(old), surface([deprecated, kind('v2beta1')]))).toEqual(['3 example.com/v1 Widget'])
    expect(broken(surface(old), surface([deprecated, kind('v2beta1'), kind('v2')]))).toEqual([])
    expect(broken(surface(old), surface([deprecated]))).toEqual(['4a example.com/v2beta1 Widget'])
  })

  it('rule 4a: reports removed stable versions, and beta versions removed without notice or too early [P332]', () => {
    expect(broken(surface([kind('v1')]), surface([]))).toEqual(['4a example.com/v1 Widget'])
    expect(broken(surface([kind('v1beta1')]), surface([]))).toEqual(['4a example.com/v1beta1 Widget'])
    expect(broken(surface([kind('v1beta1', { deprecated: true })]), surface([]))).toEqual([])
    expect(broken(surface([kind('v1alpha1')]), surface([]))).toEqual([])
    const deprecated = kind('v1beta1', { deprecated: true, deprecatedSince: '1.22' })
    expect(broken(surface([deprecated]), surface([], '1.24'))).toEqual(['4a example.com/v1beta1 Widget'])
    expect(broken(surface([deprecated]), surface([], '1.25'))).toEqual([])
    const quick = { '1.22': '2030-01-01', '1.25': '2030-09-01' }
    expect(broken(surface([deprecated]), surface([], '1.25'), quick)).toEqual(['4a example.com/v1beta1 Widget'])
  })

  it('rule 4b: reports a storage version that the previous surface does not serve [P332]', () => {
    const old = crd([version('v1', {}, { storage: true })])
    const next = crd([version('v1', {}), version('v2', {}, { storage: true })])
    expect(broken(old, next)).toEqual(['4b example.com/v2 Widget'])
    expect(broken(joinSurfaces([crd([version('v2', {})]), old], 'both'), next)).toEqual([])
  })

  it('rule 6: reports deprecated versions without a warning [P333]', () => {
    const deprecated = kind('v1', { deprecated: true, warns: false })
    expect(broken(surface([kind('v1')]), surface([deprecated]))).toEqual(['6 example.com/v1 Widget'])
    expect(broken(surface([deprecated]), surface([deprecated]))).toEqual([])
  })

  it.each([
    ['5a', { element: 'userCommand', stability: 'stable' }],
    ['5b', { element: 'adminCommand', stability: 'stable' }],
    ['7', { element: 'behavior', stability: 'stable' }],
    ['8', { element: 'graduatedGate', stability: 'beta' }],
    ['9b', { element: 'metric', stability: 'stable' }],
  ] as const)('rule %s: reports elements removed without notice [P332]', (rule, facts) => {
    const element: SurfaceElement = { name: 'x', ...facts }
    const before = { ...surface([], '1.30'), elements: [element] }
    const after = surface([], '1.31')
    expect(broken(before, after)).toEqual([`${rule} x`])
    const announced = { ...before, elements: [{ ...element, introduced: '1.20', deprecated: '1.25' }] }
    expect(broken(announced, after)).toEqual([])
    expect(broken(before, { ...after, elements: [element] })).toEqual([])
  })

  it('rules 6, 9 and 9a: reports elements without a warning, and young metrics [P332 P333]', () => {
    const deprecated = (element: SurfaceElement['element']): SurfaceElement => ({
      name: 'x',
      element,
      stability: 'beta',
      deprecated: '1.30',
      warns: false,
    })
    const announced = (element: SurfaceElement['element']) =>
      broken(surface([]), { ...surface([]), elements: [deprecated(element)] })
    expect([announced('adminCommand'), announced('abandonedGate'), announced('metric')]).toEqual([['6 x'], ['9 x'], []])
    const metric = { name: 'm', element: 'metric', stability: 'stable', introduced: '1.30', deprecated: '1.30' } as const
    expect(broken({ ...surface([], '1.30'), elements: [metric] }, surface([], '1.33'))).toEqual(['9a m'])
  })

  it('finds the breaches between recorded releases of Kubernetes, fields included [P332]', () => {
    for (let minor = 21; minor < 33; minor++) {
      const [before, after] = [surfaceOfRelease(`1.${minor}`), surfaceOfRelease(`1.${minor + 1}`)]
      expect(broken(before, after), `1.${minor}`).toEqual(breaches[minor] ?? [])
    }
    const removed = compareSurfaces(surfaceOfRelease('1.24'), surfaceOfRelease('1.25')).filter(({ sort }) => sort === 'removed')
    expect(removed.map(({ subject }) => subject)).toContain('policy/v1beta1 PodSecurityPolicy')
  })

  it.each(['1.24', '1.29', '1.32', '1.33'])(
    'finds those breaches alone from the resources of %s to those that krmkit serves [P332]',
    (release) => {
      const own = {
        ...surfaceOfDefinitions(createCatalog({ runtimeConfig: 'api/all=true' }).definitions, 'krmkit'),
        release: '1.33',
      }
      expect(own.kinds.length).toBeGreaterThan(60)
      const resources = new Set(
        readLifecycle().flatMap(({ list, group, version: each, kind: name }) =>
          list === null ? [] : [`${group}/${each} ${name}`],
        ),
      )
      const recorded = surfaceOfRelease(release)
      const served = recorded.kinds.filter(
        ({ group, version: each, kind: name }) => resources.has(`${group}/${each} ${name}`) && group !== 'apidiscovery.k8s.io',
      )
      expect(served.length).toBeGreaterThan(60)
      expect(broken({ ...recorded, kinds: served }, own)).toEqual(servedBreaches[release] ?? [])
      expect(broken(own, own)).toEqual([])
    },
  )
})

describe('surfaces', () => {
  it('of OpenAPI documents resolve references, also recursive ones, and take the release of Kubernetes', () => {
    const gvk = (group: string, name: string, each: string) => [{ group, version: name, kind: each }]
    const document = (extra: JsonObject): JsonObject => ({
      openapi: '3.0.0',
      info: { title: 'Kubernetes', version: 'v1.24.3' },
      components: {
        schemas: {
          Node: { type: 'object', properties: { next: { allOf: [{ $ref: '#/components/schemas/Node' }] }, ...extra } },
          CronJob: {
            type: 'object',
            properties: { spec: { $ref: '#/components/schemas/Node' } },
            'x-kubernetes-group-version-kind': gvk('batch', 'v1beta1', 'CronJob'),
          },
          CronJobList: {
            type: 'object',
            properties: { metadata: {}, items: {} },
            'x-kubernetes-group-version-kind': gvk('batch', 'v1beta1', 'CronJobList'),
          },
        },
      },
    })
    const [before, after] = [surfaceOfOpenApi(document({ a: text }), 'old'), surfaceOfOpenApi(document({}), 'new')]
    expect(before).toMatchObject({ release: '1.24', kinds: [{ kind: 'CronJob', deprecatedSince: '1.21', replacement: 'v1' }] })
    expect(broken(before, after)).toEqual(['1 batch/v1beta1 CronJob spec.a'])
  })

  it('of definitions accept v1beta1, and omit versions that are not served', () => {
    const former = {
      apiVersion: 'apiextensions.k8s.io/v1beta1',
      kind: 'CustomResourceDefinition',
      spec: {
        group: 'example.com',
        names: { kind: 'Widget' },
        preserveUnknownFields: false,
        validation: { openAPIV3Schema: { type: 'object', properties: { size: text } } },
        versions: [
          { name: 'v1', served: true, storage: true },
          { name: 'v2', served: false, storage: false },
        ],
      },
    }
    const { kinds } = surfaceOfCustomResources([former, { kind: 'Pod' }, null], 'x')
    expect(kinds.map(({ version: name }) => name)).toEqual(['v1'])
    expect([...(kinds[0]?.schema?.members ?? [])].map(([name]) => name)).toEqual(['size'])
  })
})
