import type { ResourceDefinition } from '@krmkit/kinds'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import type { Dice } from '../../attacks/harness/dice.ts'
import type { Scenario, Step } from '../scenario.ts'
import { collectionPath, createdResources, sampleObject } from './bodies.ts'
import { mutate, randomValue } from './values.ts'

type Draft = Record<string, JsonValue>

/** The object of a scenario of writes, and the paths to it. */
interface Subject {
  readonly definition: ResourceDefinition
  readonly collection: string
  readonly path: string
  readonly object: Draft
  /** Names of subresources of the same kind, such as `status`. */
  readonly subresources: readonly string[]
}

/** The stock server itself writes the status of flow schemas, at times of its own choice. */
const changedResources = createdResources.filter(({ resource }) => resource.name !== 'flowschemas')

function pickSubject(dice: Dice): Subject {
  const definition = dice.pick(changedResources)
  const collection = collectionPath(definition)
  const name = '{id}-a'
  const subresources = definition.subresources
    .filter(({ kind, verbs }) => kind.kind === definition.kind.kind && verbs.includes('patch'))
    .map((subresource) => subresource.name.slice(subresource.name.indexOf('/') + 1))
  return { definition, collection, path: `${collection}/${name}`, object: sampleObject(definition, name, dice), subresources }
}

function scenario(area: string, { definition }: Subject, steps: readonly Step[]): Scenario {
  return { area, ...(definition.resource.namespaced ? {} : { namespace: false as const }), steps }
}

function targetOf({ path, subresources }: Subject, dice: Dice): string {
  return subresources.length > 0 && dice.chance(25) ? `${path}/${dice.pick(subresources)}` : path
}

function writeQuery(dice: Dice): [string, string][] {
  const query: [string, string][] = []
  if (dice.chance(15)) query.push(['dryRun', 'All'])
  if (dice.chance(30)) query.push(['fieldValidation', dice.pick(['Strict', 'Warn', 'Ignore'])])
  if (dice.chance(20)) query.push(['fieldManager', dice.pick(['m1', 'm2', 'a b', 'x'.repeat(129)])])
  return query
}

/** Replacements of an object with mutable and immutable fields changed, of the whole and of subresources. */
export function generateUpdates(dice: Dice): Scenario {
  const subject = pickSubject(dice)
  const { collection, path, object, definition } = subject
  const steps: Step[] = [{ id: 'create', method: 'POST', path: collection, body: { json: structuredClone(object) } }]
  for (let i = 0; i < 7; i++) {
    const next = structuredClone(object)
    for (let changes = dice.pick([0, 1, 1, 1, 2, 3]); changes > 0; changes--) mutate(next, definition.kind.type(), dice)
    const metadata = next['metadata']
    if (typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata)) setPreconditions(metadata as Draft, dice)
    const target = targetOf(subject, dice)
    if (target.endsWith('/status')) next['status'] = randomStatus(definition, dice)
    steps.push({ id: `update${i}`, method: 'PUT', path: target, query: writeQuery(dice), body: { json: next } })
    if (dice.chance(20)) steps.push({ id: `get${i}`, method: 'GET', path })
  }
  return scenario('updates', subject, steps)
}

function setPreconditions(metadata: Draft, dice: Dice): void {
  if (dice.chance(25))
    metadata['resourceVersion'] = dice.pick(['{create.metadata.resourceVersion}', '1', '99999999', 'x', '0', ''])
  if (dice.chance(10)) metadata['uid'] = dice.pick(['{create.metadata.uid}', 'other', ''])
}

function randomStatus(definition: ResourceDefinition, dice: Dice): JsonValue {
  const status = definition.kind.type().field.get('status')
  return status === undefined ? {} : randomValue(status.type, 'status', dice)
}

/** The four patches on an object and its subresources. */
export function generatePatches(dice: Dice): Scenario {
  const subject = pickSubject(dice)
  const { collection, object, path } = subject
  const steps: Step[] = [{ id: 'create', method: 'POST', path: collection, body: { json: structuredClone(object) } }]
  for (let i = 0; i < 7; i++) {
    const target = targetOf(subject, dice)
    steps.push({ id: `patch${i}`, method: 'PATCH', path: target, ...randomPatch(subject, dice) })
    if (dice.chance(20)) steps.push({ id: `get${i}`, method: 'GET', path })
  }
  return scenario('patches', subject, steps)
}

function randomPatch(subject: Subject, dice: Dice): Pick<Step, 'headers' | 'body' | 'query'> {
  const query = writeQuery(dice)
  switch (dice.below(3)) {
    case 0:
      return {
        headers: { 'content-type': 'application/json-patch+json' },
        query,
        body: { json: jsonPatch(subject.object, dice) },
      }
    case 1:
      return { headers: { 'content-type': 'application/merge-patch+json' }, query, body: { json: partial(subject, dice) } }
    default: {
      const body = partial(subject, dice)
      addDirectives(body, dice)
      return { headers: { 'content-type': 'application/strategic-merge-patch+json' }, query, body: { json: body } }
    }
  }
}

/** Some members of a changed object, at any depth; some are `null`. */
function partial({ object, definition }: Subject, dice: Dice): Draft {
  const changed = structuredClone(object)
  for (let changes = dice.pick([1, 1, 2, 3]); changes > 0; changes--) mutate(changed, definition.kind.type(), dice)
  thin(changed, dice)
  if (dice.chance(70)) for (const key of ['apiVersion', 'kind']) delete changed[key]
  const metadata = changed['metadata']
  if (dice.chance(70) && typeof metadata === 'object' && metadata !== null) delete (metadata as Draft)['name']
  return changed
}

/** Removes members at random; lists keep their items, which lose members too. */
function thin(value: JsonValue, dice: Dice): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const item of value) thin(item as JsonValue, dice)
    return
  }
  const holder = value as Draft
  for (const key of Object.keys(holder)) {
    if (key === 'name' || key === 'containerPort' || key === 'key') continue
    if (dice.chance(35)) delete holder[key]
    else if (dice.chance(4)) holder[key] = null
    else thin(holder[key] ?? null, dice)
  }
}

/** Adds directives of strategic merge patches to maps and keyed lists. */
function addDirectives(value: JsonValue, dice: Dice): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const item of value) addDirectives(item as JsonValue, dice)
    if (dice.chance(10)) (value as JsonValue[]).push({ $patch: dice.pick(['replace', 'delete', 'merge', 'x']) })
    return
  }
  const holder = value as Draft
  for (const [key, item] of Object.entries(holder)) {
    addDirectives(item, dice)
    if (!Array.isArray(item) || !dice.chance(15)) continue
    const items = item as JsonValue[]
    const order = items.map((each) =>
      typeof each === 'object' && each !== null && 'name' in each ? { name: (each as Draft)['name'] ?? '' } : each,
    )
    holder[dice.pick([`$setElementOrder/${key}`, `$deleteFromPrimitiveList/${key}`, '$retainKeys'])] = dice.pick<JsonValue>([
      order.toReversed(),
      order,
      [],
      ['a'],
    ])
  }
  if (dice.chance(6)) holder['$patch'] = dice.pick(['replace', 'delete', 'merge', 'x'])
}

function jsonPatch(object: Draft, dice: Dice): JsonValue {
  const pointers = [...pointersOf(object, '')]
  const pointer = () =>
    dice.pick([...pointers, '', '/x', '/metadata/labels/x', '/metadata/labels', '/spec/-', '/metadata/finalizers/-', '/a/b', 'a'])
  return Array.from({ length: dice.pick([0, 1, 1, 1, 2, 3]) }, () => {
    const op = dice.pick(['add', 'add', 'replace', 'replace', 'remove', 'test', 'move', 'copy', 'x'])
    const at = dice.chance(10) ? `${pointer()}/-` : pointer()
    const entry: Draft = { op, path: at }
    if (op === 'move' || op === 'copy') entry['from'] = pointer()
    else if (op !== 'remove')
      entry['value'] = dice.pick<JsonValue>(['a', 1, true, null, {}, [], { a: 'b' }, ['a'], '1', 'x'.repeat(300)])
    return entry
  })
}

function* pointersOf(value: JsonValue, at: string): Generator<string> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, item] of Object.entries(value)) {
    const here = `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
    yield here
    yield* pointersOf(item as JsonValue, here)
  }
}

/** Server-side apply by several managers, with updates in between. */
export function generateApplies(dice: Dice): Scenario {
  const subject = pickSubject(dice)
  const { definition, collection, path, object } = subject
  const steps: Step[] = []
  if (dice.chance(40))
    steps.push({
      id: 'create',
      method: 'POST',
      path: collection,
      query: [['fieldManager', 'creator']],
      body: { json: structuredClone(object) },
    })
  const managers = ['m1', 'm2', 'm3', 'm4'].slice(0, 2 + dice.below(3))
  for (let i = 0; i < 8; i++) {
    const body = structuredClone(object)
    if (dice.chance(60)) mutate(body, definition.kind.type(), dice)
    if (dice.chance(60)) thin(body['spec'] ?? null, dice)
    const target = targetOf(subject, dice)
    const query: [string, string][] = dice.chance(96) ? [['fieldManager', dice.pick(managers)]] : []
    if (dice.chance(35)) query.push(['force', dice.pick(['true', 'true', 'true', 'false', '1', 'x'])])
    if (dice.chance(10)) query.push(['dryRun', 'All'])
    if (dice.chance(20)) query.push(['fieldValidation', dice.pick(['Strict', 'Warn', 'Ignore'])])
    if (target.endsWith('/status')) body['status'] = randomStatus(definition, dice)
    if (dice.chance(5)) editMetadata(body, dice)
    const headers = { 'content-type': dice.chance(50) ? 'application/apply-patch+yaml' : 'application/apply-patch+json' }
    if (dice.chance(18))
      steps.push({ id: `update${i}`, method: 'PUT', path, query: [['fieldManager', dice.pick(managers)]], body: { json: body } })
    else steps.push({ id: `apply${i}`, method: 'PATCH', path: target, query, headers, body: { json: body } })
  }
  return scenario('applies', subject, steps)
}

function editMetadata(body: Draft, dice: Dice): void {
  const metadata = body['metadata'] as JsonObject & Draft
  metadata[dice.pick(['managedFields', 'resourceVersion', 'uid', 'name', 'namespace', 'generateName'])] = dice.pick<JsonValue>([
    [],
    '1',
    'x',
    null,
    [{}],
  ])
}
