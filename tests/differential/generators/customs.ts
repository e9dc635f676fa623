import type { JsonValue } from '@krmkit/meta'
import type { Dice } 
import type { Scenario, Step } from '../scenario.ts'
import { definitionsPath, establishMs, group, randomDefinition, tableType } from './definitions.ts'
import { damageValue, type Schema, validValue } from './schemas.ts'

interface Subject {
  readonly definition: Schema
  readonly schema: Schema
  readonly collection: string
  readonly subresources: readonly string[]
}

/** Objects of a generated definition: every verb, with valid and damaged values. */
export function generateCustoms(dice: Dice): Scenario {
  const definition = randomDefinition(dice, 'widgets')
  const spec = definition['spec'] as Schema
  const version = (spec['versions'] as Schema[])[0] as Schema
  const subject: Subject = {
    definition,
    schema: (version['schema'] as Schema)['openAPIV3Schema'] as Schema,
    collection: `/apis/${group}/v1/${spec['scope'] === 'Cluster' ? '' : 'namespaces/{ns}/'}widgets`,
    subresources: Object.keys((version['subresources'] ?? {}) as Schema),
  }
  const steps: Step[] = [
    { id: 'definition', method: 'POST', path: definitionsPath, body: { json: definition }, settleMs: establishMs },
  ]
  // The first objects are valid, so that later steps find some.
  for (let i = 0; i < 2; i++)
    steps.push({
      id: `valid${i}`,
      method: 'POST',
      path: subject.collection,
      body: { json: randomObject(subject, `o${i}`, dice, 0) },
    })
  for (let i = 0; i < 14; i++) steps.push(randomStep(subject, `s${i}`, dice))
  if (dice.chance(35)) steps.push(...tightened(subject, dice))
  return { area: 'customs', steps }
}

function randomStep(subject: Subject, id: string, dice: Dice): Step {
  const { collection, subresources } = subject
  const name = `o${dice.below(3)}`
  const path = `${collection}/${name}`
  const changes = dice.pick([0, 1, 1, 2])
  switch (dice.below(14)) {
    case 0:
    case 1:
    case 2:
      return {
        id,
        method: 'POST',
        path: collection,
        query: writeQuery(dice),
        body: { json: randomObject(subject, dice.pick([name, id]), dice, changes) },
      }
    case 3:
    case 4:
      return {
        id,
        method: 'PUT',
        path: target(path, subresources, dice),
        query: writeQuery(dice),
        body: { json: preconditioned(randomObject(subject, name, dice, changes), dice) },
      }
    case 5:
    case 6:
      return { id, method: 'PATCH', path: target(path, subresources, dice), ...randomPatch(subject, name, dice, changes) }
    case 7:
    case 8:
      return applied(subject, { id, path: target(path, subresources, dice), name, changes }, dice)
    case 9:
      return scale(id, path, name, dice)
    case 10:
      return {
        id,
        method: 'GET',
        path: dice.pick([path, collection]),
        headers: { accept: dice.pick([tableType, tableType, 'application/json', 'application/yaml']) },
      }
    case 11:
      return { id, method: 'GET', path: collection, query: listQuery(dice) }
    case 12:
      return { id, method: 'DELETE', path, query: dice.chance(70) ? [['dryRun', 'All']] : [] }
    default:
      return { id, method: 'GET', path: dice.chance(50) ? path : `${path}/${dice.pick(['status', 'scale'])}` }
  }
}

function randomObject({ schema }: Subject, name: string, dice: Dice, changes: number): Schema {
  const value = validValue({ ...schema, 'x-kubernetes-preserve-unknown-fields': false }, dice) as Schema
  delete value['metadata']
  const properties = schema['properties'] as Record<string, Schema>
  value['spec'] ??= validValue(properties['spec'] as Schema, dice)
  for (let i = 0; i < changes; i++) damageValue(dice.chance(75) ? (value['spec'] ?? null) : (value as JsonValue), dice)
  return { apiVersion: `${group}/v1`, kind: 'Widget', metadata: metadata(name, dice), ...value }
}

function metadata(name: string, dice: Dice): Schema {
  const result: Schema = { name }
  if (dice.chance(20)) result['labels'] = { app: dice.pick(['a', 'b']) }
  if (dice.chance(4)) result['unknown'] = 1
  if (dice.chance(4)) result['labels'] = dice.pick<JsonValue>([{ a: 1 }, { 'a/b/c': 'x' }, null, 'x'])
  if (dice.chance(4)) result['finalizers'] = dice.pick<JsonValue>([['x'], ['example.com/a'], ['a/b/c']])
  return result
}

function preconditioned(object: Schema, dice: Dice): Schema {
  const { name, ...rest } = object['metadata'] as Schema
  // An update of a custom resource needs a version.
  const resourceVersion = dice.pick<JsonValue>([
    '{valid0.metadata.resourceVersion}',
    '{valid1.metadata.resourceVersion}',
    '1',
    'x',
    '',
  ])
  return { ...object, metadata: { name: name ?? null, ...rest, ...(dice.chance(85) ? { resourceVersion } : {}) } }
}

function target(path: string, subresources: readonly string[], dice: Dice): string {
  return subresources.includes('status') && dice.chance(25) ? `${path}/status` : path
}

function writeQuery(dice: Dice): [string, string][] {
  const query: [string, string][] = []
  if (dice.chance(20)) query.push(['dryRun', 'All'])
  if (dice.chance(45)) query.push(['fieldValidation', dice.pick(['Strict', 'Warn', 'Ignore'])])
  if (dice.chance(15)) query.push(['fieldManager', dice.pick(['m1', 'm2'])])
  return query
}

function randomPatch(subject: Subject, name: string, dice: Dice, changes: number): Pick<Step, 'headers' | 'body' | 'query'> {
  const query = writeQuery(dice)
  const object = randomObject(subject, name, dice, changes)
  if (dice.chance(10))
    return {
      headers: { 'content-type': 'application/strategic-merge-patch+json' },
      query,
      body: { json: { spec: object['spec'] ?? null } },
    }
  if (dice.chance(35)) {
    const keys = Object.keys((object['spec'] ?? {}) as Schema)
    const key = keys.length > 0 ? dice.pick(keys) : 'name'
    const operation = dice.pick<Schema>([
      { op: 'add', path: `/spec/${key}`, value: ((object['spec'] ?? {}) as Schema)[key] ?? null },
      { op: 'replace', path: `/spec/${key}`, value: dice.pick<JsonValue>([1, 'a', null, [], {}]) },
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
    body: { json: { spec: spec ?? null, ...(status === undefined || dice.chance(50) ? {} : { status }) } },
  }
}

interface Applied {
  readonly id: string
  readonly path: string
  readonly name: string
  readonly changes: number
}

function applied(subject: Subject, { id, path, name, changes }: Applied, dice: Dice): Step {
  const query: [string, string][] = [['fieldManager', dice.pick(['m1', 'm2', 'm3'])]]
  if (dice.chance(50)) query.push(['force', 'true'])
  if (dice.chance(15)) query.push(['dryRun', 'All'])
  if (dice.chance(25)) query.push(['fieldValidation', dice.pick(['Strict', 'Warn', 'Ignore'])])
  const headers = { 'content-type': 'application/apply-patch+yaml' }
  return {
    id,
    method: 'PATCH',
    path,
    query,
    headers,
    body: { json: randomObject(subject, name, dice, dice.chance(60) ? 0 : changes) },
  }
}

function scale(id: string, path: string, name: string, dice: Dice): Step {
  const replicas = dice.pick<JsonValue>([0, 1, 3, -1, 2.5, '1', null])
  if (dice.chance(50))
    return {
      id,
      method: 'PATCH',
      path: `${path}/scale`,
      query: dice.chance(30) ? [['fieldManager', 'scaler']] : [],
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { json: { spec: { replicas } } },
    }
  const json = {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name, ...(dice.chance(80) ? { namespace: '{ns}' } : {}) },
    spec: { replicas },
  }
  return { id, method: 'PUT', path: `${path}/scale`, body: { json } }
}

function listQuery(dice: Dice): [string, string][] {
  const query: [string, string][] = []
  if (dice.chance(70))
    query.push([
      'fieldSelector',
      dice.pick([
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
  if (dice.chance(30)) query.push(['labelSelector', dice.pick(['app=a', 'app', '!app', 'app in (a,b)'])])
  if (dice.chance(20)) query.push(['limit', '1'])
  return query
}

/** Makes the schema stricter, so that stored values break it, and updates the objects then. */
function tightened(subject: Subject, dice: Dice): Step[] {
  const definition = structuredClone(subject.definition)
  const version = ((definition['spec'] as Schema)['versions'] as Schema[])[0] as Schema
  const root = (version['schema'] as Schema)['openAPIV3Schema'] as Schema
  const properties = ((root['properties'] as Schema)['spec'] as Schema)['properties'] as Record<string, Schema>
  for (const property of Object.values(properties)) {
    if (property['type'] === 'string')
      Object.assign(property, dice.pick<Schema>([{ pattern: '^z' }, { maxLength: 1, minLength: 1 }, { enum: ['z'] }]))
    else if (property['type'] === 'integer' || property['type'] === 'number') property['minimum'] = 50
    else if (property['type'] === 'array')
      Object.assign(property, dice.pick<Schema>([{ minItems: 2 }, { 'x-kubernetes-validations': [{ rule: 'self.size() > 2' }] }]))
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
      settleMs: establishMs,
    },
  ]
  for (let i = 0; i < 5; i++)
    steps.push({
      id: `ratchet${i}`,
      method: 'PATCH',
      path: `${subject.collection}/o${dice.below(2)}`,
      ...randomPatch(subject, `o${i}`, dice, dice.below(2)),
    })
  return steps
}
