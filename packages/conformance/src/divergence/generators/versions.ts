import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import type { Scenario, Step } from '../scenario.ts'
import { definitionsPath, group } from './definitions.ts'

const names = ['v1', 'v2', 'v1beta1', 'v1alpha1', 'foo10'] as const
const path = `${definitionsPath}/gears.${group}`

interface Version {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
  readonly [member: string]: JsonValue
}

/** Definitions with several versions without conversion, whose storage, columns and subresources change, and their objects by any version. */
export function generateVersions(random: RandomChoices): Scenario {
  const count = 2 + random.below(2)
  const shape = randomShape(random)
  const versions = names
    .slice(0, count)
    .map((name, i) => version(random, name, { storage: i === 0, served: i < 2 || random.chance(70), shape }))
  const definition = definitionOf(versions)
  const last = versions.filter(({ served }) => served).at(-1)?.name ?? 'v1'
  const steps: Step[] = [
    {
      id: 'define',
      method: 'POST',
      path: definitionsPath,
      body: { json: definition },
      until: { step: { method: 'GET', path: `/apis/${group}/${last}` }, shows: '"name":"gears"' },
    },
    { id: 'group', method: 'GET', path: `/apis/${group}` },
  ]
  for (const { name } of versions.slice(0, 2))
    if (random.chance(40))
      steps.push({ id: `watch-${name}`, method: 'GET', path: collection(name), query: 'watch=true', watch: true })
  for (let i = 0; i < 2; i++)
    steps.push({ id: `make${i}`, method: 'POST', path: collection('v1'), body: { json: object(random, 'v1', `o${i}`) } })
  for (let i = 0; i < 14; i++) steps.push(...step(random, i, versions))
  return { area: 'versions', steps }
}

function collection(name: string): string {
  return `/apis/${group}/${name}/namespaces/{ns}/gears`
}

function definitionOf(versions: readonly Version[]): JsonObject {
  const spec: JsonObject = {
    group,
    scope: 'Namespaced',
    names: { plural: 'gears', singular: 'gear', kind: 'Gear', listKind: 'GearList', shortNames: ['gr'], categories: ['all'] },
    versions: [...versions],
    conversion: { strategy: 'None' },
  }
  return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `gears.${group}` }, spec }
}

const columns: readonly JsonObject[] = [
  { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
  { name: 'Ratio', type: 'number', jsonPath: '.spec.ratio', format: 'float' },
  { name: 'On', type: 'boolean', jsonPath: '.spec.on', priority: 1 },
  { name: 'When', type: 'date', jsonPath: '.spec.when' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Port', type: 'string', jsonPath: '.spec.ports[0].port' },
  { name: 'Ports', type: 'string', jsonPath: '.spec.ports[*].name' },
  { name: 'Last', type: 'string', jsonPath: '.spec.ports[-1:].port' },
  { name: 'Web', type: 'integer', jsonPath: '.spec.ports[?(@.name=="web")].port' },
  { name: 'Label', type: 'string', jsonPath: '.metadata.labels.app' },
  { name: 'Dotted', type: 'string', jsonPath: '.metadata.labels.a\\.b/c' },
  { name: 'All', type: 'string', jsonPath: '.spec.ports' },
  { name: 'Missing', type: 'string', jsonPath: '.spec.none.deeper' },
  { name: 'Wrong', type: 'integer', jsonPath: '.spec.text' },
  { name: 'Text', type: 'string', jsonPath: '.spec.size' },
  { name: 'Truth', type: 'boolean', jsonPath: '.spec.text' },
  { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
]

/** What all versions have in common: where they differ, the field management of kube-apiserver cannot convert objects and answers 500. */
interface Shape {
  readonly ports: JsonValue
  readonly tags: string
  readonly place: string
  readonly size: JsonObject
}

function randomShape(random: RandomChoices): Shape {
  return {
    ports: portList(random),
    tags: random.pick(['set', 'atomic']),
    place: random.pick(['atomic', 'granular']),
    size: random.chance(30) ? { default: 3 } : {},
  }
}

function version(
  random: RandomChoices,
  name: string,
  { shape, ...flags }: { storage: boolean; served: boolean; shape: Shape },
): Version {
  const properties: Record<string, JsonValue> = {
    size: { type: 'integer', ...shape.size, ...(random.chance(30) ? { minimum: 1 } : {}) },
    ratio: { type: 'number' },
    on: { type: 'boolean' },
    when: { type: 'string', format: 'date-time' },
    text: { type: 'string', ...(random.chance(20) ? { enum: ['1', '7', 'x'] } : {}) },
    ports: shape.ports,
    tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': shape.tags },
    place: {
      type: 'object',
      properties: { x: { type: 'integer' }, y: { type: 'integer' } },
      'x-kubernetes-map-type': shape.place,
    },
    any: { 'x-kubernetes-int-or-string': true },
  }
  const status = {
    type: 'object',
    properties: { phase: { type: 'string' }, ready: { type: 'integer' }, selector: { type: 'string' } },
  }
  const subresources: Record<string, JsonValue> = {}
  if (random.chance(60)) subresources['status'] = {}
  if (random.chance(50)) {
    const scale = { specReplicasPath: '.spec.size', statusReplicasPath: '.status.ready' }
    subresources['scale'] = { ...scale, ...(random.chance(50) ? { labelSelectorPath: '.status.selector' } : {}) }
  }
  const selectable = Object.keys(properties).filter((member) => ['size', 'on', 'text'].includes(member) && random.chance(50))
  return {
    name,
    ...flags,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties }, status } } },
    ...(Object.keys(subresources).length > 0 ? { subresources } : {}),
    ...(random.chance(70) ? { additionalPrinterColumns: columns.filter(() => random.chance(35)) } : {}),
    ...(selectable.length > 0 ? { selectableFields: selectable.map((member) => ({ jsonPath: `.spec.${member}` })) } : {}),
    ...(random.chance(20) ? { deprecated: true } : {}),
  }
}

function portList(random: RandomChoices): JsonValue {
  const items = { type: 'object', properties: { name: { type: 'string' }, port: { type: 'integer' } }, required: ['name'] }
  if (random.chance(30)) return { type: 'array', items, 'x-kubernetes-list-type': 'atomic' }
  if (random.chance(20)) return { type: 'array', items }
  return { type: 'array', items, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }
}

function object(random: RandomChoices, name: string, objectName: string): JsonObject {
  const labels = random.chance(50) ? { labels: { app: random.pick(['a', 'b']), 'a.b/c': 'd' } } : {}
  const json = { apiVersion: `${group}/${name}`, kind: 'Gear', metadata: { name: objectName, ...labels }, spec: spec(random) }
  return random.chance(25) ? { ...json, status: { phase: 'Running', ready: 2, selector: 'a=b' } } : json
}

function spec(random: RandomChoices): JsonObject {
  const all: JsonObject = {
    size: random.pick([1, 2, 2_147_483_648]),
    ratio: random.pick([1, 0.5, 1e21, 1e-7]),
    on: random.chance(50),
    when: random.pick(['2020-01-01T00:00:00Z', '2099-01-01T00:00:00+02:00']),
    text: random.pick(['x', '7', 'a\nb', '']),
    ports: random.pick<JsonValue>([
      [],
      [{ name: 'web', port: 80 }],
      [{ name: 'web', port: 80 }, { name: 'tls' }],
      [
        { name: 'a', port: 1 },
        { name: 'a', port: 2 },
      ],
    ]),
    tags: random.pick<JsonValue>([['a'], ['a', 'b'], ['a', 'a'], []]),
    place: random.pick<JsonValue>([{ x: 1 }, { x: 1, y: 2 }, {}]),
    any: random.pick<JsonValue>([1, '50%', 'x']),
  }
  return Object.fromEntries(Object.entries(all).filter(() => random.chance(55)))
}

function step(random: RandomChoices, i: number, versions: readonly Version[]): Step[] {
  const id = `s${i}`
  const { name } = random.pick(versions)
  const at = `${collection(name)}/o${random.below(3)}`
  const body = { json: object(random, name, at.slice(at.lastIndexOf('/') + 1)) }
  const accept = random.pick([
    'application/json;as=Table;v=v1;g=meta.k8s.io',
    'application/json;as=Table;v=v1;g=meta.k8s.io',
    'application/json',
    'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json',
  ])
  switch (random.below(11)) {
    case 0:
      return [{ id, method: 'POST', path: collection(name), query: strictness(random), body: { json: object(random, name, id) } }]
    case 1: {
      const metadata = { ...(body.json['metadata'] as JsonObject), resourceVersion: `{${`get${i}`}.metadata.resourceVersion}` }
      return [
        { id: `get${i}`, method: 'GET', path: at },
        { id, method: 'PUT', path: at, query: strictness(random), body: { json: { ...body.json, metadata } } },
      ]
    }
    case 2:
    case 3: {
      const query: [string, string][] = [
        ['fieldManager', random.pick(['m1', 'm2'])],
        ...(random.chance(40) ? [['force', 'true'] as [string, string]] : []),
      ]
      return [{ id, method: 'PATCH', path: at, query, headers: { 'content-type': 'application/apply-patch+yaml' }, body }]
    }
    case 4:
      return [{ id, method: 'PATCH', path: at, headers: merge, body: { json: { spec: spec(random) } } }]
    case 5: {
      const scaled = random.pick(['/scale', '/status'])
      const json: JsonObject =
        scaled === '/scale'
          ? { spec: { replicas: random.pick([1, 4]) } }
          : { status: { phase: random.pick(['A', 'B']), ready: 1 } }
      return [{ id, method: 'PATCH', path: at + scaled, headers: merge, body: { json } }]
    }
    case 6:
      return [{ id, method: 'GET', path: at + random.pick(['', '/scale', '/status']), headers: { accept } }]
    case 7: {
      const selector = random.pick([
        'spec.size=2',
        'spec.size!=2',
        'spec.on=true',
        'spec.on=false',
        'spec.text=x',
        'spec.text=',
        'metadata.name=o0',
      ])
      return [{ id, method: 'GET', path: collection(name), query: [['fieldSelector', selector]], headers: { accept } }]
    }
    case 8:
      return [
        {
          id,
          method: 'GET',
          path: random.pick([collection(name), `/apis/${group}/${name}`, `/apis/${group}`]),
          headers: { accept: random.pick([accept, 'application/json']) },
        },
      ]
    case 9:
      return changed(random, id, versions)
    default:
      return [{ id, method: 'GET', path, query: [], headers: { accept } }]
  }
}

const merge = { 'content-type': 'application/merge-patch+json' }

function strictness(random: RandomChoices): [string, string][] {
  return random.chance(40) ? [['fieldValidation', random.pick(['Strict', 'Ignore'])]] : []
}

/** Moves the storage to another version, or stops serving one. */
function changed(random: RandomChoices, id: string, versions: readonly Version[]): Step[] {
  const stored = random.pick(versions).name
  const hidden = random.chance(40) ? random.pick(versions).name : undefined
  const next = versions.map((each) => ({ ...each, storage: each.name === stored, served: each.served && each.name !== hidden }))
  const json = { spec: { versions: next as JsonValue } }
  return [{ id, method: 'PATCH', path, headers: merge, body: { json }, settleMs: 600, agree: { path, member: 'status' } }]
}
