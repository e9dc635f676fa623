import type { ResourceDefinition } from '@krmkit/kinds'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import { isJsonObject } from '@krmkit/meta'
import type { RandomChoices } from '@krmkit/meta/random-choices'
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

function pickSubject(random: RandomChoices): Subject {
  const definition = random.pick(createdResources)
  const collection = collectionPath(definition)
  const name = '{id}-a'
  const subresources = definition.subresources
    .filter(({ kind, verbs }) => kind.kind === definition.kind.kind && verbs.includes('patch'))
    .map((subresource) => subresource.name.slice(subresource.name.indexOf('/') + 1))
  return { definition, collection, path: `${collection}/${name}`, object: sampleObject(definition, name, random), subresources }
}

function scenario(area: string, { definition }: Subject, steps: readonly Step[]): Scenario {
  return { area, ...(definition.resource.namespaced ? {} : { namespace: false as const }), steps }
}

function targetOf({ path, subresources }: Subject, random: RandomChoices): string {
  return subresources.length > 0 && random.chance(25) ? `${path}/${random.pick(subresources)}` : path
}

function writeQuery(random: RandomChoices): [string, string][] {
  const query: [string, string][] = []
  if (random.chance(15)) query.push(['dryRun', 'All'])
  if (random.chance(30)) query.push(['fieldValidation', random.pick(['Strict', 'Warn', 'Ignore'])])
  if (random.chance(20)) query.push(['fieldManager', random.pick(['m1', 'm2', 'a b', 'x'.repeat(129)])])
  return query
}

/** Replacements of an object with mutable and immutable fields changed, of the whole and of subresources. */
export function generateUpdates(random: RandomChoices): Scenario {
  const subject = pickSubject(random)
  const { collection, path, object, definition } = subject
  const steps: Step[] = [{ id: 'create', method: 'POST', path: collection, body: { json: structuredClone(object) } }]
  for (let i = 0; i < 7; i++) {
    const next = structuredClone(object)
    for (let changes = random.pick([0, 1, 1, 1, 2, 3]); changes > 0; changes--) mutate(next, definition.kind.type(), random)
    const metadata = next['metadata']
    if (isJsonObject(metadata)) setPreconditions(metadata as Draft, random)
    const target = targetOf(subject, random)
    if (target.endsWith('/status')) next['status'] = randomStatus(definition, random)
    steps.push({ id: `update${i}`, method: 'PUT', path: target, query: writeQuery(random), body: { json: next } })
    if (random.chance(20)) steps.push({ id: `get${i}`, method: 'GET', path })
  }
  return scenario('updates', subject, steps)
}

function setPreconditions(metadata: Draft, random: RandomChoices): void {
  if (random.chance(25))
    metadata['resourceVersion'] = random.pick(['{create.metadata.resourceVersion}', '1', '99999999', 'x', '0', ''])
  if (random.chance(10)) metadata['uid'] = random.pick(['{create.metadata.uid}', 'other', ''])
}

function randomStatus(definition: ResourceDefinition, random: RandomChoices): JsonValue {
  const status = definition.kind.type().field.get('status')
  return status === undefined ? {} : randomValue(status.type, 'status', random)
}

/** The four patches on an object and its subresources. */
export function generatePatches(random: RandomChoices): Scenario {
  const subject = pickSubject(random)
  const { collection, object, path } = subject
  const steps: Step[] = [{ id: 'create', method: 'POST', path: collection, body: { json: structuredClone(object) } }]
  for (let i = 0; i < 7; i++) {
    const target = targetOf(subject, random)
    steps.push({ id: `patch${i}`, method: 'PATCH', path: target, ...randomPatch(subject, random) })
    if (random.chance(20)) steps.push({ id: `get${i}`, method: 'GET', path })
  }
  return scenario('patches', subject, steps)
}

function randomPatch(subject: Subject, random: RandomChoices): Pick<Step, 'headers' | 'body' | 'query'> {
  const query = writeQuery(random)
  switch (random.below(3)) {
    case 0:
      return {
        headers: { 'content-type': 'application/json-patch+json' },
        query,
        body: { json: jsonPatch(subject.object, random) },
      }
    case 1:
      return { headers: { 'content-type': 'application/merge-patch+json' }, query, body: { json: partial(subject, random) } }
    default: {
      const body = partial(subject, random)
      addDirectives(body, random)
      return { headers: { 'content-type': 'application/strategic-merge-patch+json' }, query, body: { json: body } }
    }
  }
}

/** Some members of a changed object, at any depth; some are `null`. */
function partial({ object, definition }: Subject, random: RandomChoices): Draft {
  const changed = structuredClone(object)
  for (let changes = random.pick([1, 1, 2, 3]); changes > 0; changes--) mutate(changed, definition.kind.type(), random)
  thin(changed, random)
  if (random.chance(70)) for (const key of ['apiVersion', 'kind']) delete changed[key]
  const metadata = changed['metadata']
  if (random.chance(70) && typeof metadata === 'object' && metadata !== null) delete (metadata as Draft)['name']
  return changed
}

/** Removes members at random; lists keep their items, which lose members too. */
function thin(value: JsonValue, random: RandomChoices): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const item of value) thin(item as JsonValue, random)
    return
  }
  const holder = value as Draft
  for (const key of Object.keys(holder)) {
    if (key === 'name' || key === 'containerPort' || key === 'key') continue
    if (random.chance(35)) delete holder[key]
    else if (random.chance(4)) holder[key] = null
    else thin(holder[key] ?? null, random)
  }
}

/** Adds directives of strategic merge patches to maps and keyed lists. */
function addDirectives(value: JsonValue, random: RandomChoices): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const item of value) addDirectives(item as JsonValue, random)
    if (random.chance(10)) (value as JsonValue[]).push({ $patch: random.pick(['replace', 'delete', 'merge', 'x']) })
    return
  }
  const holder = value as Draft
  for (const [key, item] of Object.entries(holder)) {
    addDirectives(item, random)
    if (!Array.isArray(item) || !random.chance(15)) continue
    const items = item as JsonValue[]
    const order = items.map((each) =>
      typeof each === 'object' && each !== null && 'name' in each ? { name: (each as Draft)['name'] ?? '' } : each,
    )
    holder[random.pick([`$setElementOrder/${key}`, `$deleteFromPrimitiveList/${key}`, '$retainKeys'])] = random.pick<JsonValue>([
      order.toReversed(),
      order,
      [],
      ['a'],
    ])
  }
  if (random.chance(6)) holder['$patch'] = random.pick(['replace', 'delete', 'merge', 'x'])
}

function jsonPatch(object: Draft, random: RandomChoices): JsonValue {
  const pointers = [...pointersOf(object, '')]
  const pointer = () =>
    random.pick([
      ...pointers,
      '',
      '/x',
      '/metadata/labels/x',
      '/metadata/labels',
      '/spec/-',
      '/metadata/finalizers/-',
      '/a/b',
      'a',
    ])
  return Array.from({ length: random.pick([0, 1, 1, 1, 2, 3]) }, () => {
    const op = random.pick(['add', 'add', 'replace', 'replace', 'remove', 'test', 'move', 'copy', 'x'])
    const at = random.chance(10) ? `${pointer()}/-` : pointer()
    const entry: Draft = { op, path: at }
    if (op === 'move' || op === 'copy') entry['from'] = pointer()
    else if (op !== 'remove')
      entry['value'] = random.pick<JsonValue>(['a', 1, true, null, {}, [], { a: 'b' }, ['a'], '1', 'x'.repeat(300)])
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
export function generateApplies(random: RandomChoices): Scenario {
  const subject = pickSubject(random)
  const { definition, collection, path, object } = subject
  const steps: Step[] = []
  if (random.chance(40))
    steps.push({
      id: 'create',
      method: 'POST',
      path: collection,
      query: [['fieldManager', 'creator']],
      body: { json: structuredClone(object) },
    })
  const managers = ['m1', 'm2', 'm3', 'm4'].slice(0, 2 + random.below(3))
  for (let i = 0; i < 8; i++) {
    const body = structuredClone(object)
    if (random.chance(60)) mutate(body, definition.kind.type(), random)
    if (random.chance(60)) thin(body['spec'] ?? null, random)
    const target = targetOf(subject, random)
    const query: [string, string][] = random.chance(96) ? [['fieldManager', random.pick(managers)]] : []
    if (random.chance(35)) query.push(['force', random.pick(['true', 'true', 'true', 'false', '1', 'x'])])
    if (random.chance(10)) query.push(['dryRun', 'All'])
    if (random.chance(20)) query.push(['fieldValidation', random.pick(['Strict', 'Warn', 'Ignore'])])
    if (target.endsWith('/status')) body['status'] = randomStatus(definition, random)
    if (random.chance(5)) editMetadata(body, random)
    const headers = { 'content-type': random.chance(50) ? 'application/apply-patch+yaml' : 'application/apply-patch+json' }
    if (random.chance(18))
      steps.push({
        id: `update${i}`,
        method: 'PUT',
        path,
        query: [['fieldManager', random.pick(managers)]],
        body: { json: body },
      })
    else steps.push({ id: `apply${i}`, method: 'PATCH', path: target, query, headers, body: { json: body } })
  }
  return scenario('applies', subject, steps)
}

function editMetadata(body: Draft, random: RandomChoices): void {
  const metadata = body['metadata'] as JsonObject & Draft
  metadata[random.pick(['managedFields', 'resourceVersion', 'uid', 'name', 'namespace', 'generateName'])] =
    random.pick<JsonValue>([[], '1', 'x', null, [{}]])
}
