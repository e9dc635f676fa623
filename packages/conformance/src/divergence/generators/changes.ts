import type { RandomChoices } from '@krmkit/base/random-choices'
import type { ResourceDefinition } from '@krmkit/kinds'
import type { JsonValue } from '@krmkit/meta'
import type { Field, StructType, TypeNode } from '@krmkit/schema'
import { sampleObject } from './bodies.ts'
import { mutate, randomValue } from './values.ts'

/** Changes of objects that mostly leave them valid: values of other samples, neighbours of the present value, metadata. */

export type Draft = Record<string, JsonValue>

/** A member of a struct in an object. */
export interface Place {
  readonly holder: Draft
  readonly field: Field
  /** JSON pointer of the member. */
  readonly pointer: string
}

const protectedFields = new Set(['kind', 'apiVersion', 'managedFields', 'resourceVersion', 'uid', 'namespace', 'generateName'])

/** All members of structs that the object has. */
export function presentPlaces(object: Draft, type: StructType): Place[] {
  return allPlaces(object, type).filter(({ holder, field }) => Object.hasOwn(holder, field.json))
}

/** Present and absent members of the structs that the object has. */
export function allPlaces(object: Draft, type: StructType): Place[] {
  const places: Place[] = []
  collect(object, type, { pointer: '', places })
  return places.filter(({ pointer }) => pointer !== '/metadata/name' && pointer !== '/metadata')
}

interface Walk {
  readonly pointer: string
  readonly places: Place[]
}

function collect(holder: Draft, type: StructType, { pointer, places }: Walk): void {
  for (const field of type.fields) {
    if (protectedFields.has(field.json)) continue
    const at = `${pointer}/${field.json}`
    places.push({ holder, field, pointer: at })
    if (Object.hasOwn(holder, field.json)) enter(holder[field.json] ?? null, field.type, { pointer: at, places })
  }
}

function enter(value: JsonValue, type: TypeNode, { pointer, places }: Walk): void {
  if (typeof value !== 'object' || value === null) return
  if (type.kind === 'list' && Array.isArray(value)) {
    for (const [i, item] of value.entries()) enter(item as JsonValue, type.of, { pointer: `${pointer}/${i}`, places })
  } else if (type.kind === 'struct' && !Array.isArray(value)) collect(value as Draft, type.struct(), { pointer, places })
}

/** Changes an object in place, mostly to another valid one. */
export function change(object: Draft, definition: ResourceDefinition, random: RandomChoices): void {
  const type = definition.kind.type()
  if (random.chance(25)) {
    changeMetadata(object, random)
    return
  }
  if (random.chance(8)) {
    mutate(object, type, random)
    return
  }
  const donor = sampleObject(definition, '{id}-a', random)
  const donated = presentPlaces(donor, type)
  const given = random.pick(donated.length > 0 ? donated : presentPlaces(object, type))
  const own = allPlaces(object, type).find(({ pointer }) => pointer === given?.pointer)
  if (given !== undefined && own !== undefined && random.chance(45)) {
    own.holder[own.field.json] = structuredClone(given.holder[given.field.json] ?? null)
    return
  }
  const present = presentPlaces(object, type)
  if (present.length === 0) return
  const place = random.pick(present)
  if (!place.field.required && random.chance(12)) delete place.holder[place.field.json]
  else place.holder[place.field.json] = neighbour(place.holder[place.field.json] ?? null, place.field, random)
}

/** Labels, annotations, finalizers and owners, which every object may change. */
function changeMetadata(object: Draft, random: RandomChoices): void {
  const metadata = { ...(object['metadata'] as Draft | undefined) }
  object['metadata'] = metadata
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: random.pick(['o1', 'o2']), uid: random.pick(['u-1', 'u-2']) }
  switch (random.below(6)) {
    case 0:
    case 1:
      metadata['labels'] = {
        ...(metadata['labels'] as object),
        [random.pick(['a', 'b', 'example.com/c'])]: random.pick(['', '1', 'x']),
      }
      return
    case 2:
    case 3:
      metadata['annotations'] = {
        ...(metadata['annotations'] as object),
        [random.pick(['a', 'b', 'c.d/e'])]: random.pick(['', '1', '{}']),
      }
      return
    case 4:
      metadata['finalizers'] = random.pick<JsonValue>([
        ['example.com/f'],
        ['example.com/g', 'example.com/f'],
        [],
        ['example.com/f', 'example.com/f'],
      ])
      return
    default:
      metadata['ownerReferences'] = random.pick<JsonValue>([[owner], [{ ...owner, controller: true }], [owner, owner], []])
  }
}

/** A value close to `value`. */
function neighbour(value: JsonValue, { type, json }: Field, random: RandomChoices): JsonValue {
  if (type.kind === 'scalar' && type.scalar === 'string' && type.enum !== undefined) return random.pick(type.enum)
  if (typeof value === 'number') return random.pick([value + 1, value + 1, Math.max(0, value - 1), value * 2, 0])
  if (typeof value === 'boolean') return !value
  if (typeof value === 'string') return neighbourText(value, type, random)
  if (Array.isArray(value)) return neighbourList(value as JsonValue[], random)
  if (type.kind === 'map' && typeof value === 'object' && value !== null) return neighbourMap(value as Draft, random)
  return random.chance(50) ? value : randomValue(type, json, random)
}

function neighbourText(value: string, type: TypeNode, random: RandomChoices): string {
  if (type.kind === 'scalar' && type.scalar === 'bytes') return random.pick(['', 'YQ==', 'AAEC'])
  if (type.kind !== 'scalar') return value.replace(/\d/, (digit) => String((Number(digit) + 1) % 10))
  if (/^[A-Z]/.test(value)) return value
  return random.pick([`${value}x`, `${value}1`, value.slice(0, -1), value])
}

/** Lists with one more item, one less, in another order. Items keep unique names, keys and ports. */
function neighbourList(items: JsonValue[], random: RandomChoices): JsonValue {
  const last = items.at(-1)
  switch (random.below(5)) {
    case 0:
      return items.slice(0, -1)
    case 1:
      return items.toReversed()
    case 2:
      return last === undefined ? items : [...items, structuredClone(last)]
    default:
      return last === undefined ? items : [...items, renamed(structuredClone(last), random)]
  }
}

const identities = ['name', 'key', 'type', 'mountPath', 'devicePath', 'ip', 'uid', 'path', 'topologyKey', 'host']

function renamed(item: JsonValue, random: RandomChoices): JsonValue {
  if (typeof item === 'string') return `${item}x`
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return item
  const holder = item as Draft
  for (const key of identities) {
    const own = holder[key]
    if (typeof own === 'string') holder[key] = random.chance(50) ? `${own}x` : `a${own}`
  }
  for (const key of ['containerPort', 'port']) {
    const own = holder[key]
    if (typeof own === 'number') holder[key] = own + 1
  }
  return holder
}

function neighbourMap(value: Draft, random: RandomChoices): JsonValue {
  const keys = Object.keys(value)
  const key = keys.length > 0 ? random.pick(keys) : 'a'
  if (random.chance(30)) return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key))
  return { ...value, [random.pick(['added', `${key}x`])]: structuredClone(value[key] ?? 'x') }
}
