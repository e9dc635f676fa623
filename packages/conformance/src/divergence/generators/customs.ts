import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonValue } from '@krmkit/meta'
import type { Scenario, Step } from '../scenario.ts'
import { damageValue } from './damaged-values.ts'
import { definitionsPath, group, randomDefinition, served, tableType } from './definitions.ts'
import { type Schema, validValue } from './schemas.ts'

interface Subject {
  readonly definition: Schema
  readonly schema: Schema
  readonly collection: string
  readonly subresources: readonly string[]
}

/** Objects of a generated definition: every verb, with valid and damaged values. */
export function generateCustoms(random: RandomChoices): Scenario {
  const definition = randomDefinition(random, 'widgets')
  const spec = definition['spec'] as Schema
  const version = (spec['versions'] as Schema[])[0] as Schema
  const subject: Subject = {
    definition,
    schema: (version['schema'] as Schema)['openAPIV3Schema'] as Schema,
    collection: `/apis/${group}/v1/${spec['scope'] === 'Cluster' ? '' : 'namespaces/{ns}/'}widgets`,
    subresources: Object.keys((version['subresources'] ?? {}) as Schema),
  }
  const steps: Step[] = [
    { id: 'definition', method: 'POST', path: definitionsPath, body: { json: definition }, ...served('widgets') },
  ]
  if (random.chance(30)) steps.push({ id: 'watch', method: 'GET', path: subject.collection, query: 'watch=true', watch: true })
  // The first objects are valid, so that later steps find some.
  for (let i = 0; i < 2; i++)
    steps.push({
      id: `valid${i}`,
      method: 'POST',
      path: subject.collection,
      body: { json: randomObject(subject, `o${i}`, random, 0) },
    })
  for (let i = 0; i < 14; i++) steps.push(randomStep(subject, `s${i}`, random))
  if (random.chance(35)) steps.push(...tightened(subject, random))
  return { area: 'customs', steps }
}

function randomStep(subject: Subject, id: string, random: RandomChoices): Step {
  const { collection, subresources } = subject
  const name = `o${random.below(3)}`
  const path = `${collection}/${name}`
  const changes = random.pick([0, 1, 1, 2])
  switch (random.below(14)) {
    case 0:
    case 1:
    case 2:
      return {
        id,
        method: 'POST',
        path: collection,
        query: writeQuery(random),
        body: { json: randomObject(subject, random.pick([name, id]), random, changes) },
      }
    case 3:
    case 4:
      return {
        id,
        method: 'PUT',
        path: target(path, subresources, random),
        query: writeQuery(random),
        body: { json: preconditioned(randomObject(subject, name, random, changes), random) },
      }
    case 5:
    case 6:
      return { id, method: 'PATCH', path: target(path, subresources, random), ...randomPatch(subject, name, random, changes) }
    case 7:
    case 8:
      return applied(subject, { id, path: target(path, subresources, random), name, changes }, random)
    case 9:
      return scale(id, path, name, random)
    case 10:
      return {
        id,
        method: 'GET',
        path: random.pick([path, collection]),
        headers: { accept: random.pick([tableType, tableType, 'application/json', 'application/yaml']) },
      }
    case 11:
      return { id, method: 'GET', path: collection, query: listQuery(random) }
    case 12:
      return { id, method: 'DELETE', path, query: random.chance(70) ? [['dryRun', 'All']] : [] }
    default:
      return { id, method: 'GET', path: random.chance(50) ? path : `${path}/${random.pick(['status', 'scale'])}` }
  }
}

function randomObject({ schema }: Subject, name: string, random: RandomChoices, changes: number): Schema {
  const value = validValue({ ...schema, 'x-kubernetes-preserve-unknown-fields': false }, random) as Schema
  delete value['metadata']
  const properties = schema['properties'] as Record<string, Schema>
  value['spec'] ??= validValue(properties['spec'] as Schema, random)
  for (let i = 0; i < changes; i++) damageValue(random.chance(75) ? (value['spec'] ?? null) : (value as JsonValue), random)
  return { apiVersion: `${group}/v1`, kind: 'Widget', metadata: metadata(name, random), ...value }
}

function metadata(name: string, random: RandomChoices): Schema {
  const result: Schema = { name }
  if (random.chance(20)) result['labels'] = { app: random.pick(['a', 'b']) }
  if (random.chance(4)) result['unknown'] = 1
  if (random.chance(4)) result['labels'] = random.pick<JsonValue>([{ a: 1 }, { 'a/b/c': 'x' }, null, 'x'])
  if (random.chance(4)) result['finalizers'] = random.pick<JsonValue>([['x'], ['example.com/a'], ['a/b/c']])
  return result
}

function preconditioned(object: Schema, random: RandomChoices): Schema {
  const { name, ...rest } = object['metadata'] as Schema
  // An update of a custom resource needs a version.
  const resourceVersion = random.pick<JsonValue>([
    '{valid0.metadata.resourceVersion}',
    '{valid1.metadata.resourceVersion}',
    '1',
    'x',
    '',
  ])
  return { ...object, metadata: { name: name ?? null, ...rest, ...(random.chance(85) ? { resourceVersion } : {}) } }
}

function target(path: string, subresources: readonly string[], random: RandomChoices): string {
  return subresources.includes('status') && random.chance(25) ? `${path}/status` : path
}

function writeQuery(random: RandomChoices): [string, string][] {
  const query: [string, string][] = []
  if (random.chance(20)) query.push(['dryRun', 'All'])
  if (random.chance(45)) query.push(['fieldValidation', random.pick(['Strict', 'Warn', 'Ignore'])])
  if (random.chance(15)) query.push(['fieldManager', random.pick(['m1', 'm2'])])
  return query
}

function randomPatch(
  subject: Subject,
  name: string,
  random: RandomChoices,
  changes: number,
): Pick<Step, 'headers' | 'body' | 'query'> {
  const query = writeQuery(random)
  const object = randomObject(subject, name, random, changes)
  if (random.chance(10))
    return {
      headers: { 'content-type': 'application/strategic-merge-patch+json' },
      query,
      body: { json: { spec: object['spec'] ?? null } },
    }
  if (random.chance(35)) {
    const keys = Object.keys((object['spec'] ?? {}) as Schema)
    const key = keys.length > 0 ? random.pick(keys) : 'name'
    const operation = random.pick<Schema>([
      { op: 'add', path: `/spec/${key}`, value: ((object['spec'] ?? {}) as Schema)[key] ?? null },
      { op: 'replace', path: `/spec/${key}`, value: random.pick<JsonValue>([1, 'a', null, [], {}]) },
      { op: 'remove', path: `/spec/${key}` },
      { op: 'test', path: `/spec/${key}`, value: 1 },
      { op: 'replace', path: '/spec', value: object['spec'] ?? null },
      { op: 'copy', from: `/spec/${key}`, path: '/spec/copied' },
    ])
    return { headers: { 'content-type': 'application/json-patch+json' }, query, body: { json: [operation] } }
  }
  const { spec, status } = object
  return {
    headers: { 'content-type': 'application/merge-patch+json' },
    query,
    body: { json: { spec: spec ?? null, ...(status === undefined || random.chance(50) ? {} : { status }) } },
  }
}

interface Applied {
  readonly id: string
  readonly path: string
  readonly name: string
  readonly changes: number
}

function applied(subject: Subject, { id, path, name, changes }: Applied, random: RandomChoices): Step {
  const query: [string, string][] = [['fieldManager', random.pick(['m1', 'm2', 'm3'])]]
  if (random.chance(50)) query.push(['force', 'true'])
  if (random.chance(15)) query.push(['dryRun', 'All'])
  if (random.chance(25)) query.push(['fieldValidation', random.pick(['Strict', 'Warn', 'Ignore'])])
  const headers = { 'content-type': 'application/apply-patch+yaml' }
  return {
    id,
    method: 'PATCH',
    path,
    query,
    headers,
    body: { json: randomObject(subject, name, random, random.chance(60) ? 0 : changes) },
  }
}

function scale(id: string, path: string, name: string, random: RandomChoices): Step {
  const replicas = random.pick<JsonValue>([0, 1, 3, -1, 2.5, '1', null])
  if (random.chance(50))
    return {
      id,
      method: 'PATCH',
      path: `${path}/scale`,
      query: random.chance(30) ? [['fieldManager', 'scaler']] : [],
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { json: { spec: { replicas } } },
    }
  const json = {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name, ...(random.chance(80) ? { namespace: '{ns}' } : {}) },
    spec: { replicas },
  }
  return { id, method: 'PUT', path: `${path}/scale`, body: { json } }
}

function listQuery(random: RandomChoices): [string, string][] {
  const query: [string, string][] = []
  if (random.chance(70))
    query.push([
      'fieldSelector',
      random.pick([
        'spec.replicas=1',
        'spec.replicas!=1',
        'metadata.name=o0',
        'metadata.name!=o0',
        'metadata.namespace={ns}',
        'spec.x=1',
        'spec.replicas=',
        'spec.replicas',
        'metadata.name=o0,spec.replicas=3',
      ]),
    ])
  if (random.chance(30)) query.push(['labelSelector', random.pick(['app=a', 'app', '!app', 'app in (a,b)'])])
  if (random.chance(20)) query.push(['limit', '1'])
  return query
}

/** Makes the schema stricter, so that stored values break it, and updates the objects then. */
function tightened(subject: Subject, random: RandomChoices): Step[] {
  const definition = structuredClone(subject.definition)
  const version = ((definition['spec'] as Schema)['versions'] as Schema[])[0] as Schema
  const root = (version['schema'] as Schema)['openAPIV3Schema'] as Schema
  const properties = ((root['properties'] as Schema)['spec'] as Schema)['properties'] as Record<string, Schema>
  for (const property of Object.values(properties)) {
    if (property['type'] === 'string')
      Object.assign(property, random.pick<Schema>([{ pattern: '^z' }, { maxLength: 1, minLength: 1 }, { enum: ['z'] }]))
    else if (property['type'] === 'integer' || property['type'] === 'number') property['minimum'] = 50
    else if (property['type'] === 'array')
      Object.assign(
        property,
        random.pick<Schema>([{ minItems: 2 }, { 'x-kubernetes-validations': [{ rule: 'self.size() > 2' }] }]),
      )
    delete property['default']
  }
  const body = { spec: { versions: (definition['spec'] as Schema)['versions'] ?? null } }
  const headers = { 'content-type': 'application/merge-patch+json' }
  const steps: Step[] = [
    {
      id: 'tighten',
      method: 'PATCH',
      path: `${definitionsPath}/widgets.${group}`,
      headers,
      body: { json: body },
      // The status does not show when the schema is in effect.
      settleMs: 300,
      agree: { path: `${definitionsPath}/widgets.${group}`, member: 'status' },
    },
  ]
  for (let i = 0; i < 5; i++)
    steps.push({
      id: `ratchet${i}`,
      method: 'PATCH',
      path: `${subject.collection}/o${random.below(2)}`,
      ...randomPatch(subject, `o${i}`, random, random.below(2)),
    })
  return steps
}
