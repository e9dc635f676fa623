import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonValue } from '@krmkit/meta'
import type { StructType, TypeNode } from '@krmkit/schema'
import type { Scenario, Step } from '../scenario.ts'
import { change, type Draft, presentPlaces } from './changes.ts'
import { pickSubject, randomStatus, type Subject, scalePath, scenario, writeQuery } from './subjects.ts'

/** The patches of an object and its subresources: JSON, merge and strategic merge. */
export function generatePatches(random: RandomChoices): Scenario {
  const subject = pickSubject(random)
  const { collection, object, path } = subject
  const create = { id: 'create', method: 'POST', path: collection, body: { json: structuredClone(object) } }
  const steps: Step[] = [create]
  for (let i = 0; i < 8; i++) {
    steps.push({ id: `patch${i}`, method: 'PATCH', query: writeQuery(random), ...randomPatch(subject, random) })
    if (random.chance(20)) steps.push({ id: `get${i}`, method: 'GET', path })
  }
  if (random.chance(10)) steps.push(ownersReset(subject, random))
  return scenario('patches', subject, steps)
}

type Request = Pick<Step, 'path' | 'headers' | 'body'>

const mediaTypes = {
  json: { 'content-type': 'application/json-patch+json' },
  merge: { 'content-type': 'application/merge-patch+json' },
  strategic: { 'content-type': 'application/strategic-merge-patch+json' },
}

function randomPatch(subject: Subject, random: RandomChoices): Request {
  const { path, subresources, definition, object } = subject
  const scale = scalePath(subject)
  if (scale !== undefined && random.chance(15)) return scalePatch(scale, random)
  const subresource = subresources.length > 0 && random.chance(25) ? random.pick(subresources) : ''
  const target = subresource === '' ? path : `${path}/${subresource}`
  const next = structuredClone(object)
  for (let changes = random.pick([1, 1, 2, 3]); changes > 0; changes--) change(next, definition, random)
  if (subresource === 'status' && random.chance(80)) next['status'] = randomStatus(definition, random)
  const type = definition.kind.type()
  switch (random.below(3)) {
    case 0:
      return { path: target, headers: mediaTypes.json, body: { json: jsonPatch(object, next, { type, random }) } }
    case 1:
      return { path: target, headers: mediaTypes.merge, body: { json: partial(next, random) } }
    default: {
      const body = partial(next, random)
      if (random.chance(50)) addDirectives(body, type, random)
      return { path: target, headers: mediaTypes.strategic, body: { json: body } }
    }
  }
}

function scalePatch(path: string, random: RandomChoices): Request {
  const replicas = random.pick<JsonValue>([0, 1, 2, 5, 5, -1, null])
  const type = random.pick(['json', 'merge', 'strategic'] as const)
  const json: JsonValue =
    type === 'json'
      ? [{ op: random.pick(['add', 'replace']), path: '/spec/replicas', value: replicas }]
      : { spec: { replicas }, ...(random.chance(20) ? { metadata: { labels: { a: 'b' } } } : {}) }
  return { path, headers: mediaTypes[type], body: { json } }
}

/** Owners differ from then on, by rule D43 or D44, so the step is the last one. */
function ownersReset({ path }: Subject, random: RandomChoices): Step {
  const managedFields = random.pick<JsonValue>([[], [{}]])
  const metadata = random.chance(50) ? { managedFields } : { managedFields, annotations: { reset: 'yes' } }
  return { id: 'reset', method: 'PATCH', path, headers: mediaTypes.merge, body: { json: { metadata } } }
}

/** Some members of a changed object, at any depth; some are `null`. */
function partial(changed: Draft, random: RandomChoices): Draft {
  const out = structuredClone(changed)
  thin(out, random)
  if (random.chance(80)) for (const key of ['apiVersion', 'kind']) delete out[key]
  const metadata = out['metadata']
  if (typeof metadata === 'object' && metadata !== null && random.chance(80)) delete (metadata as Draft)['name']
  return out
}

const keptMembers = new Set(['name', 'containerPort', 'key', 'port', 'type', 'mountPath', 'ip', 'metadata', 'kind', 'apiVersion'])

/** Removes members at random; lists keep their items, which lose members too. */
export function thin(value: JsonValue, random: RandomChoices): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const item of value) thin(item as JsonValue, random)
    return
  }
  const holder = value as Draft
  for (const key of Object.keys(holder)) {
    if (!keptMembers.has(key) && random.chance(35)) delete holder[key]
    else if (!keptMembers.has(key) && random.chance(4)) holder[key] = null
    else thin(holder[key] ?? null, random)
  }
}

/** Adds directives of strategic merge patches where the type allows them; now and then elsewhere. */
function addDirectives(value: JsonValue, type: StructType, random: RandomChoices): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return
  const holder = value as Draft
  for (const { json, type: member, patchMergeKey, patchStrategy = '' } of type.fields) {
    const item = holder[json]
    if (item === undefined || item === null) continue
    into(item, member, random)
    const strategies = patchStrategy.split(',')
    if (Array.isArray(item) && (strategies.includes('merge') || random.chance(4)))
      directList(holder, json, { mergeKey: patchMergeKey ?? '', random })
    if (!Array.isArray(item) && typeof item === 'object' && (strategies.includes('retainKeys') || random.chance(3)))
      (item as Draft)['$retainKeys'] = random.chance(85) ? Object.keys(item) : random.pick<JsonValue>([[], ['a'], 'a'])
  }
  if (isLarger(holder) && random.chance(5)) holder['$patch'] = random.pick(['replace', 'replace', 'delete', 'merge', 'x'])
}

/** Whether a map has more than its identity. */
function isLarger(holder: Draft): boolean {
  return !('name' in holder) || Object.keys(holder).length > 2
}

function into(value: JsonValue, type: TypeNode, random: RandomChoices): void {
  if (type.kind === 'struct') addDirectives(value, type.struct(), random)
  else if (type.kind === 'list' && Array.isArray(value)) for (const item of value) into(item as JsonValue, type.of, random)
}

function directList(
  holder: Draft,
  name: string,
  { mergeKey, random }: { readonly mergeKey: string; readonly random: RandomChoices },
): void {
  const items = holder[name] as JsonValue[]
  const identityOf = (item: JsonValue): JsonValue =>
    mergeKey !== '' && typeof item === 'object' && item !== null ? { [mergeKey]: (item as Draft)[mergeKey] ?? 'x' } : item
  const identities = items.map(identityOf)
  switch (random.below(7)) {
    case 0:
    case 1:
      holder[`$setElementOrder/${name}`] = random.pick<JsonValue>([identities, identities, identities.toReversed(), []])
      return
    case 2:
      if (mergeKey === '') deleteItems(holder, name, random)
      else items.push({ ...(identities[0] as object), $patch: 'delete' })
      return
    case 3:
      if (mergeKey !== '') items.push({ $patch: random.pick(['replace', 'replace', 'merge', 'x']) })
      return
    case 4:
      if (mergeKey !== '' && identities.length > 0) items.splice(0, 1, { ...(identities[0] as object), $patch: 'delete' })
      return
  }
}

/** kube-apiserver deletes and adds in the order of a Go map, so no item is both deleted and added. */
function deleteItems(holder: Draft, name: string, random: RandomChoices): void {
  const items = holder[name] as JsonValue[]
  const deleted = random.pick([items, items.slice(0, 1), ['a']])
  holder[`$deleteFromPrimitiveList/${name}`] = deleted
  holder[name] = items.filter((item) => !deleted.includes(item))
}

interface JsonPatchContext {
  readonly type: StructType
  readonly random: RandomChoices
}

/** Operations that lead from the object to the changed one, and some at random. */
function jsonPatch(object: Draft, next: Draft, { type, random }: JsonPatchContext): JsonValue {
  const places = [...presentPlaces(next, type)]
  const own = [...presentPlaces(object, type)]
  const pointers = own.map(({ pointer }) => pointer)
  const odd = ['', '/x', '/metadata/labels/x', '/metadata/labels', '/spec/-', '/metadata/finalizers/-', '/a/b', 'a']
  const pointer = () => (pointers.length > 0 && random.chance(85) ? random.pick(pointers) : random.pick(odd))
  return Array.from({ length: random.pick([0, 1, 1, 1, 2, 3]) }, (): JsonValue => {
    if (places.length > 0 && random.chance(70)) {
      const { pointer: path, holder, field } = random.pick(places)
      const value = holder[field.json] ?? null
      if (Array.isArray(value) && value.length > 0 && random.chance(40))
        return { op: 'add', path: `${path}/${random.pick(['-', '0', String(value.length), '-1'])}`, value: value.at(-1) ?? null }
      if (random.chance(15)) return { op: 'test', path, value }
      if (random.chance(15)) return { op: 'remove', path }
      return { op: random.pick(['add', 'replace']), path, value }
    }
    const op = random.pick(['add', 'replace', 'remove', 'test', 'move', 'copy', 'x'])
    const entry: Draft = { op, path: random.chance(10) ? `${pointer()}/-` : pointer() }
    if (op === 'move' || op === 'copy') entry['from'] = pointer()
    else if (op !== 'remove') entry['value'] = random.pick<JsonValue>(['a', 1, true, null, {}, [], { a: 'b' }, ['a'], '1'])
    return entry
  })
}
