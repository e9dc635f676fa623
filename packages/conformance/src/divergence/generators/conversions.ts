import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import type { Scenario, Step } from '../scenario.ts'
import { definitionsPath, group } from './definitions.ts'

const names = ['v1', 'v1beta1', 'v1alpha1'] as const
type Version = (typeof names)[number]

const managers = ['m1', 'm2', 'm3', 'm4'] as const
const tableType = 'application/json;as=Table;v=v1;g=meta.k8s.io'

/** A definition whose versions a webhook converts, and its objects, which four managers write by every version. */
export function generateConversions(random: RandomChoices): Scenario {
  const versions = names.slice(0, 2 + random.below(2))
  const stored = random.pick(versions)
  const last = versions.at(-1) ?? 'v1'
  const steps: Step[] = [
    {
      id: 'define',
      method: 'POST',
      path: definitionsPath,
      body: { json: definitionOf(versions, stored, random) },
      until: { step: { method: 'GET', path: `/apis/${group}/${last}/namespaces/{ns}/gears` }, shows: 'GearList' },
    },
  ]
  for (const version of versions)
    if (random.chance(50))
      steps.push({ id: `watch-${version}`, method: 'GET', path: collection(version), query: 'watch=true', watch: true })
  steps.push({ id: 'make', method: 'POST', path: collection(stored), body: { json: object(random, stored, 'o0') } })
  for (let i = 0; i < 18; i++)
    steps.push(...(random.chance(4) ? [moved(random, `s${i}`, versions)] : randomSteps(random, i, versions)))
  return { area: 'conversions', steps }
}

function collection(version: Version): string {
  return `/apis/${group}/${version}/namespaces/{ns}/gears`
}

function definitionOf(versions: readonly Version[], stored: Version, random: RandomChoices): JsonObject {
  const shape = {
    tags: random.pick(['set', 'atomic']),
    hasStatus: random.chance(70),
    hasScale: random.chance(60),
    hasDefault: random.chance(30),
  }
  const scale = { specReplicasPath: '.spec.size', statusReplicasPath: '.status.ready' }
  const subresources = { ...(shape.hasStatus ? { status: {} } : {}), ...(shape.hasScale ? { scale } : {}) }
  const spec: JsonObject = {
    group,
    scope: 'Namespaced',
    names: { plural: 'gears', singular: 'gear', kind: 'Gear', listKind: 'GearList' },
    versions: versions.map((name) => ({
      name,
      served: true,
      storage: name === stored,
      schema: { openAPIV3Schema: { type: 'object', properties: schemaOf(name, shape) } },
      ...(Object.keys(subresources).length > 0 ? { subresources } : {}),
      selectableFields: [{ jsonPath: '.spec.size' }, ...(name === 'v1' ? [{ jsonPath: '.spec.host' }] : [])],
      additionalPrinterColumns: [
        {
          name: 'Place',
          type: 'string',
          jsonPath: name === 'v1' ? '.spec.host' : name === 'v1beta1' ? '.spec.hostPort' : '.spec.where.host',
        },
        { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
      ],
    })),
    conversion: {
      strategy: 'Webhook',
      webhook: {
        conversionReviewVersions: random.pick([['v1'], ['v1'], ['v1beta1']]),
        clientConfig: { url: `{hook}/{id}/convert${random.chance(20) ? '/marking' : ''}`, caBundle: '{caBundle}' },
      },
    },
  }
  return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `gears.${group}` }, spec }
}

interface Shape {
  readonly tags: string
  readonly hasDefault: boolean
}

function schemaOf(version: Version, { tags, hasDefault }: Shape): JsonObject {
  const text = { type: 'string' }
  const place = {
    v1: { host: text, port: { type: 'string', maxLength: 5 } },
    v1beta1: { hostPort: text },
    v1alpha1: { where: { type: 'object', properties: { host: text, port: text } } },
  }[version]
  const ports = {
    type: 'array',
    items: { type: 'object', properties: { name: text, port: { type: 'integer' } }, required: ['name'] },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
  }
  const properties = {
    ...place,
    size: { type: 'integer', ...(hasDefault ? { default: 3 } : {}) },
    ports,
    tags: { type: 'array', items: text, 'x-kubernetes-list-type': tags },
  }
  const status = { [version === 'v1beta1' ? 'state' : 'phase']: text, ready: { type: 'integer' } }
  return { spec: { type: 'object', properties }, status: { type: 'object', properties: status } }
}

function object(random: RandomChoices, version: Version, name: string): JsonObject {
  const labels = random.chance(40) ? { labels: { [random.pick(['a', 'b'])]: random.pick(['x', 'y']) } } : {}
  const finalizers = random.chance(8) ? { finalizers: ['example.com/f'] } : {}
  const made = { apiVersion: `${group}/${version}`, kind: 'Gear', metadata: { name, ...labels, ...finalizers } }
  const spec = random.chance(90) ? { spec: specOf(random, version) } : {}
  return { ...made, ...spec, ...(random.chance(30) ? { status: statusOf(random, version) } : {}) }
}

function specOf(random: RandomChoices, version: Version): JsonObject {
  const [host, port] = [random.pick(['h', 'i']), random.pick(['1', '2'])]
  const both = random.chance(60)
  const [withHost, withPort] = [both || random.chance(50), both || random.chance(50)]
  const parts = { ...(withHost ? { host } : {}), ...(withPort ? { port } : {}) }
  const hostPort = random.chance(4) ? 'none' : `${withHost ? host : ''}:${withPort ? port : ''}`
  const place = { v1: parts, v1beta1: { hostPort }, v1alpha1: { where: parts } }[version]
  const others: JsonObject = {
    size: random.pick([1, 2, 3]),
    tags: random.pick<JsonValue>([['a'], ['a', 'b'], ['b', 'c'], []]),
    ports: random.pick<JsonValue>([
      [{ name: 'w', port: 1 }],
      [{ name: 'w', port: 2 }, { name: 'x' }],
      [{ name: 'x', port: 3 }],
      [],
    ]),
  }
  const chosen = Object.fromEntries(Object.entries(others).filter(() => random.chance(45)))
  const unknown = random.chance(8) ? { unknown: 'u' } : {}
  return { ...(random.chance(75) ? place : {}), ...chosen, ...unknown }
}

function statusOf(random: RandomChoices, version: Version): JsonObject {
  const phase = random.pick(['A', 'B'])
  const ready = random.chance(60) ? { ready: random.pick([1, 2]) } : {}
  return { ...(random.chance(80) ? { [version === 'v1beta1' ? 'state' : 'phase']: phase } : {}), ...ready }
}

function randomSteps(random: RandomChoices, i: number, versions: readonly Version[]): Step[] {
  const id = `s${i}`
  const version = random.pick(versions)
  const name = random.chance(80) ? 'o0' : 'o1'
  const path = `${collection(version)}/${name}`
  const at = path + (random.chance(20) ? '/status' : '')
  const query = queryOf(random)
  switch (random.below(15)) {
    case 0:
      return [{ id, method: 'POST', path: collection(version), query, body: { json: object(random, version, 'o1') } }]
    case 1:
    case 2: {
      const sent = object(random, version, name)
      const metadata = { ...(sent['metadata'] as JsonObject), resourceVersion: `{get${i}.metadata.resourceVersion}` }
      return [
        { id: `get${i}`, method: 'GET', path },
        { id, method: 'PUT', path: at, query, body: { json: { ...sent, metadata } } },
      ]
    }
    case 3:
    case 4:
    case 5:
    case 6: {
      const forced: [string, string][] = random.chance(30) ? [['force', 'true']] : []
      const headers = { 'content-type': 'application/apply-patch+yaml' }
      return [
        { id, method: 'PATCH', path: at, query: [...query, ...forced], headers, body: { json: object(random, version, name) } },
      ]
    }
    case 7:
    case 8: {
      const json =
        at === path ? { spec: nulled(random, specOf(random, version)) } : { status: nulled(random, statusOf(random, version)) }
      return [
        { id, method: 'PATCH', path: at, query, headers: { 'content-type': 'application/merge-patch+json' }, body: { json } },
      ]
    }
    case 9: {
      const operations: JsonValue = [
        { op: 'add', path: '/spec', value: specOf(random, version) },
        ...(random.chance(30) ? [{ op: 'remove', path: '/metadata/labels' }] : []),
      ]
      const headers = { 'content-type': 'application/json-patch+json' }
      return [{ id, method: 'PATCH', path: at, query, headers, body: { json: operations } }]
    }
    case 10: {
      const replicas = random.pick([1, 2, 5])
      const headers = { 'content-type': 'application/merge-patch+json' }
      return [{ id, method: 'PATCH', path: `${path}/scale`, query, headers, body: { json: { spec: { replicas } } } }]
    }
    case 11: {
      const json = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name }, spec: { replicas: random.pick([1, 2, 5]) } }
      return [{ id, method: 'PUT', path: `${path}/scale`, query, body: { json } }]
    }
    case 12:
      return [
        {
          id,
          method: 'GET',
          path: random.pick([path, `${path}/scale`, `${path}/status`, collection(version)]),
          headers: acceptOf(random),
        },
      ]
    case 13:
      return [{ id, method: 'GET', path: collection(version), query: selectionOf(random), headers: acceptOf(random) }]
    default:
      return [
        random.chance(60)
          ? { id, method: 'DELETE', path, query: random.chance(50) ? 'dryRun=All' : '' }
          : { id, method: 'DELETE', path: collection(version), query: selectionOf(random) },
      ]
  }
}

/** Moves the storage to another version. */
function moved(random: RandomChoices, id: string, versions: readonly Version[]): Step {
  const path = `${definitionsPath}/gears.${group}`
  const stored = random.below(versions.length)
  const json = versions.map((_, i) => ({ op: 'replace', path: `/spec/versions/${i}/storage`, value: i === stored }))
  const headers = { 'content-type': 'application/json-patch+json' }
  return { id, method: 'PATCH', path, headers, body: { json }, settleMs: 600, agree: { path, member: 'status' } }
}

function selectionOf(random: RandomChoices): [string, string][] {
  return random.pick<[string, string][]>([
    [],
    [['fieldSelector', 'spec.size=2']],
    [['fieldSelector', 'spec.host=h']],
    [['fieldSelector', 'metadata.name=o0']],
    [['labelSelector', 'a=x']],
    [['limit', '1']],
  ])
}

function queryOf(random: RandomChoices): [string, string][] {
  return [
    ['fieldManager', random.pick(managers)],
    ...(random.chance(10) ? [['dryRun', 'All'] as [string, string]] : []),
    ...(random.chance(20) ? [['fieldValidation', random.pick(['Strict', 'Ignore'])] as [string, string]] : []),
  ]
}

/** Some members become null, which removes them. */
function nulled(random: RandomChoices, members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).map(([key, value]) => [key, random.chance(20) ? null : value]))
}

function acceptOf(random: RandomChoices): { readonly accept: string } {
  return { accept: random.pick(['application/json', 'application/json', tableType]) }
}
