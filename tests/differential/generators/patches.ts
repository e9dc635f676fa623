import type { JsonValue } from '@krmkit/meta'
import type { StructType, TypeNode } from '@krmkit/schema'
import type { Dice } from '../../attacks/harness/dice.ts'
import type { Scenario, Step } from '../scenario.ts'
import { change, type Draft, presentPlaces } from './changes.ts'
import { pickSubject, randomStatus, type Subject, scalePath, scenario, writeQuery } from './subjects.ts'

/** The patches of an object and its subresources: JSON, merge and strategic merge. */
export function generatePatches(dice: Dice): Scenario {
  const subject = pickSubject(dice)
  const { collection, object, path } = subject
  const create = { id: 'create', method: 'POST', path: collection, body: { json: structuredClone(object) } }
  const steps: Step[] = [create]
  for (let i = 0; i < 8; i++) {
    steps.push({ id: `patch${i}`, method: 'PATCH', query: writeQuery(dice), ...randomPatch(subject, dice) })
    if (dice.chance(20)) steps.push({ id: `get${i}`, method: 'GET', path })
  }
  if (dice.chance(10)) steps.push(ownersReset(subject, dice))
  return scenario('patches', subject, steps)
}

type Request = Pick<Step, 'path' | 'headers' | 'body'>

const mediaTypes = {
  json: { 'content-type': 'application/json-patch+json' },
  merge: { 'content-type': 'application/merge-patch+json' },
  strategic: { 'content-type': 'application/strategic-merge-patch+json' },
}

function randomPatch(subject: Subject, dice: Dice): Request {
  const { path, subresources, definition, object } = subject
  const scale = scalePath(subject)
  if (scale !== undefined && dice.chance(15)) return scalePatch(scale, dice)
  const subresource = subresources.length > 0 && dice.chance(25) ? dice.pick(subresources) : ''
  const target = subresource === '' ? path : `${path}/${subresource}`
  const next = structuredClone(object)
  for (let changes = dice.pick([1, 1, 2, 3]); changes > 0; changes--) change(next, definition, dice)
  if (subresource === 'status' && dice.chance(80)) next['status'] = randomStatus(definition, dice)
  const type = definition.kind.type()
  switch (dice.below(3)) {
    case 0:
      return { path: target, headers: mediaTypes.json, body: { json: jsonPatch(object, next, { type, dice }) } }
    case 1:
      return { path: target, headers: mediaTypes.merge, body: { json: partial(next, dice) } }
    default: {
      const body = partial(next, dice)
      if (dice.chance(50)) addDirectives(body, type, dice)
      return { path: target, headers: mediaTypes.strategic, body: { json: body } }
    }
  }
}

function scalePatch(path: string, dice: Dice): Request {
  const replicas = dice.pick<JsonValue>([0, 1, 2, 5, 5, -1, null])
  const type = dice.pick(['json', 'merge', 'strategic'] as const)
  const json: JsonValue =
    type === 'json'
      ? [{ op: dice.pick(['add', 'replace']), path: '/spec/replicas', value: replicas }]
      : { spec: { replicas }, ...(dice.chance(20) ? { metadata: { labels: { a: 'b' } } } : {}) }
  return { path, headers: mediaTypes[type], body: { json } }
}

/** Owners differ from then on, by rule D43 or D44, so the step is the last one. */
function ownersReset({ path }: Subject, dice: Dice): Step {
  const managedFields = dice.pick<JsonValue>([[], [{}]])
  const metadata = dice.chance(50) ? { managedFields } : { managedFields, annotations: { reset: 'yes' } }
  return { id: 'reset', method: 'PATCH', path, headers: mediaTypes.merge, body: { json: { metadata } } }
}

/** Some members of a changed object, at any depth; some are `null`. */
function partial(changed: Draft, dice: Dice): Draft {
  const out = structuredClone(changed)
  thin(out, dice)
  if (dice.chance(80)) for (const key of ['apiVersion', 'kind']) delete out[key]
  const metadata = out['metadata']
  if (typeof metadata === 'object' && metadata !== null && dice.chance(80)) delete (metadata as Draft)['name']
  return out
}

const keptMembers = new Set(['name', 'containerPort', 'key', 'port', 'type', 'mountPath', 'ip', 'metadata', 'kind', 'apiVersion'])

/** Removes members at random; lists keep their items, which lose members too. */
export function thin(value: JsonValue, dice: Dice): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const item of value) thin(item as JsonValue, dice)
    return
  }
  const holder = value as Draft
  for (const key of Object.keys(holder)) {
    if (!keptMembers.has(key) && dice.chance(35)) delete holder[key]
    else if (!keptMembers.has(key) && dice.chance(4)) holder[key] = null
    else thin(holder[key] ?? null, dice)
  }
}

/** Adds directives of strategic merge patches where the type allows them; now and then elsewhere. */
function addDirectives(value: JsonValue, type: StructType, dice: Dice): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return
  const holder = value as Draft
  for (const { json, type: member, patchMergeKey, patchStrategy = '' } of type.fields) {
    const item = holder[json]
    if (item === undefined || item === null) continue
    into(item, member, dice)
    const strategies = patchStrategy.split(',')
    if (Array.isArray(item) && (strategies.includes('merge') || dice.chance(4)))
      directList(holder, json, { mergeKey: patchMergeKey ?? '', dice })
    if (!Array.isArray(item) && typeof item === 'object' && (strategies.includes('retainKeys') || dice.chance(3)))
      (item as Draft)['$retainKeys'] = dice.chance(85) ? Object.keys(item) : dice.pick<JsonValue>([[], ['a'], 'a'])
  }
  if (isLarger(holder) && dice.chance(5)) holder['$patch'] = dice.pick(['replace', 'replace', 'delete', 'merge', 'x'])
}

/** Whether a map has more than its identity. */
function isLarger(holder: Draft): boolean {
  return !('name' in holder) || Object.keys(holder).length > 2
}

function into(value: JsonValue, type: TypeNode, dice: Dice): void {
  if (type.kind === 'struct') addDirectives(value, type.struct(), dice)
  else if (type.kind === 'list' && Array.isArray(value)) for (const item of value) into(item as JsonValue, type.of, dice)
}

function directList(holder: Draft, name: string, { mergeKey, dice }: { readonly mergeKey: string; readonly dice: Dice }): void {
  const items = holder[name] as JsonValue[]
  const identityOf = (item: JsonValue): JsonValue =>
    mergeKey !== '' && typeof item === 'object' && item !== null ? { [mergeKey]: (item as Draft)[mergeKey] ?? 'x' } : item
  const identities = items.map(identityOf)
  switch (dice.below(7)) {
    case 0:
    case 1:
      holder[`$setElementOrder/${name}`] = dice.pick<JsonValue>([identities, identities, identities.toReversed(), []])
      return
    case 2:
      if (mergeKey === '') holder[`$deleteFromPrimitiveList/${name}`] = dice.pick<JsonValue>([items, items.slice(0, 1), ['a']])
      else items.push({ ...(identities[0] as object), $patch: 'delete' })
      return
    case 3:
      if (mergeKey !== '') items.push({ $patch: dice.pick(['replace', 'replace', 'merge', 'x']) })
      return
    case 4:
      if (mergeKey !== '' && identities.length > 0) items.splice(0, 1, { ...(identities[0] as object), $patch: 'delete' })
      return
  }
}

interface JsonPatchContext {
  readonly type: StructType
  readonly dice: Dice
}

/** Operations that lead from the object to the changed one, and some at random. */
function jsonPatch(object: Draft, next: Draft, { type, dice }: JsonPatchContext): JsonValue {
  const places = [...presentPlaces(next, type)]
  const own = [...presentPlaces(object, type)]
  const pointers = own.map(({ pointer }) => pointer)
  const odd = ['', '/x', '/metadata/labels/x', '/metadata/labels', '/spec/-', '/metadata/finalizers/-', '/a/b', 'a']
  const pointer = () => (pointers.length > 0 && dice.chance(85) ? dice.pick(pointers) : dice.pick(odd))
  return Array.from({ length: dice.pick([0, 1, 1, 1, 2, 3]) }, (): JsonValue => {
    if (places.length > 0 && dice.chance(70)) {
      const { pointer: path, holder, field } = dice.pick(places)
      const value = holder[field.json] ?? null
      if (Array.isArray(value) && value.length > 0 && dice.chance(40))
        return { op: 'add', path: `${path}/${dice.pick(['-', '0', String(value.length), '-1'])}`, value: value.at(-1) ?? null }
      if (dice.chance(15)) return { op: 'test', path, value }
      if (dice.chance(15)) return { op: 'remove', path }
      return { op: dice.pick(['add', 'replace']), path, value }
    }
    const op = dice.pick(['add', 'replace', 'remove', 'test', 'move', 'copy', 'x'])
    const entry: Draft = { op, path: dice.chance(10) ? `${pointer()}/-` : pointer() }
    if (op === 'move' || op === 'copy') entry['from'] = pointer()
    else if (op !== 'remove') entry['value'] = dice.pick<JsonValue>(['a', 1, true, null, {}, [], { a: 'b' }, ['a'], '1'])
    return entry
  })
}
