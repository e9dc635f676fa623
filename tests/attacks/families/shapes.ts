import type { RandomChoices } from '@krmkit/base/random-choices'
import type { StructType, TypeNode } from '@krmkit/schema'
import { type Place, sample, withPlace } from './places.ts'

/** Ways to enlarge an object of any kind. */

type Json = Record<string, unknown>

export interface ShapeInput {
  readonly base: Json
  readonly type: StructType
  readonly places: readonly Place[]
  /** The approximate size in bytes of JSON. */
  readonly bytes: number
  readonly random: RandomChoices
}

/** A placeholder for a value that is too deep to print; replaced in the body text. */
const deepMark = '@deep@'
const deepValue = `${'['.repeat(400_000)}1${']'.repeat(400_000)}`

/** The body text, with deep values in place of their markers. */
export function withDeepValues(text: string): string {
  return text.includes(deepMark) ? text.replace(/["']?@deep@["']?/, deepValue) : text
}

/** Undefined when the shape does not apply to the kind. */
export type Shape = (input: ShapeInput) => Json | undefined

export const shapes: Readonly<Record<string, Shape>> = {
  'controller references': inMetadata(({ bytes }) => ({
    ownerReferences: times(bytes / 110, (i) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: `o${i}`,
      uid: `u${i}`,
      controller: true,
    })),
  })),
  'equal references': inMetadata(({ bytes }) => ({
    ownerReferences: times(bytes / 70, () => ({ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' })),
  })),
  'bad references': inMetadata(({ bytes }) => ({ ownerReferences: times(bytes / 4, () => ({})) })),
  labels: inMetadata(({ bytes }) => ({ labels: members(bytes / 16, (i) => [`k${i}`, 'v']) })),
  'bad labels': inMetadata(({ bytes }) => ({ labels: members(bytes / 16, (i) => [`-${i}!`, '-!-']) })),
  annotations: inMetadata(({ bytes }) => ({ annotations: members(bytes / 16, (i) => [`k${i}`, 'v']) })),
  finalizers: inMetadata(({ bytes }) => ({ finalizers: times(bytes / 20, (i) => `example.com/${i}`) })),
  'equal finalizers': inMetadata(({ bytes }) => ({ finalizers: times(bytes / 16, () => 'example.com/a') })),
  'managed fields': inMetadata(({ bytes }) => ({
    managedFields: times(bytes / 120, (i) => ({
      manager: `m${i}`,
      operation: 'Update',
      apiVersion: 'v1',
      time: '2024-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { [`f:x${i}`]: {} },
    })),
  })),
  'one set of managed fields': inMetadata(({ bytes }) => ({
    managedFields: [
      {
        manager: 'm',
        operation: 'Update',
        apiVersion: 'v1',
        time: '2024-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': members(bytes / 16, (i) => [`f:k${i}`, {}]) },
      },
    ],
  })),
  'long name': inMetadata(({ bytes }) => ({ name: 'n'.repeat(bytes) })),
  'long generated name': inMetadata(({ bytes }) => ({ name: undefined, generateName: 'n'.repeat(bytes) })),
  'a list of distinct elements': inList((of, i) => sample(of, i)),
  'a list of equal elements': inList((of) => sample(of, 0)),
  'a list of empty elements': inList((of) =>
    of.kind === 'struct' ? {} : of.kind === 'scalar' && of.scalar === 'string' ? '' : sample(of, 0),
  ),
  'a map of small keys': inMap((i) => `k${i}`),
  'a map of bad keys': inMap((i) => ` ${i}!`),
  'a long text': ({ base, type, places, bytes, random }) => {
    const texts = places.filter((place) => place.type.kind === 'scalar' && place.type.scalar === 'string')
    return texts.length === 0 ? undefined : withPlace(base, type, { path: random.pick(texts).path, value: 'x'.repeat(bytes) })
  },
  'odd values': ({ base, type, places, bytes, random }) => {
    const special = places.filter((place) => place.type.kind === 'special')
    if (special.length === 0) return undefined
    return withPlace(base, type, {
      path: random.pick(special).path,
      value: random.pick(['9'.repeat(bytes), `1${'0'.repeat(bytes)}m`, deepMark]),
    })
  },
  'unknown fields': ({ base, bytes }) => ({ ...base, ...members(bytes / 14, (i) => [`u${i}`, null]) }),
  'a deep unknown field': ({ base }) => ({ ...base, unknown: deepMark }),
  'numbers in an unknown field': ({ base, bytes }) => ({ ...base, unknown: times(bytes / 20, (i) => 1e300 + i) }),
  'empty lists in an unknown field': ({ base, bytes }) => ({ ...base, unknown: times(bytes / 3, () => []) }),
}

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: Math.floor(count) }, (_, i) => make(i))
}

function members(count: number, make: (index: number) => readonly [string, unknown]): Json {
  return Object.fromEntries(times(count, make))
}

function inMetadata(make: (input: ShapeInput) => Json): Shape {
  return (input) => ({ ...input.base, metadata: { ...(input.base['metadata'] as Json), ...make(input) } })
}

function inList(element: (of: TypeNode, index: number) => unknown): Shape {
  return ({ base, type, places, bytes, random }) => {
    const lists = places.filter((place) => place.type.kind === 'list')
    return lists.length === 0 ? undefined : listAt(random.pick(lists), { base, type, bytes, element })
  }
}

/** One list, grown long. */
export function listAt(
  place: Place,
  {
    base,
    type,
    bytes,
    element,
  }: Pick<ShapeInput, 'base' | 'type' | 'bytes'> & { element: (of: TypeNode, index: number) => unknown },
): Json | undefined {
  if (place.type.kind !== 'list') return undefined
  const { of } = place.type
  const size = JSON.stringify(element(of, 1000) ?? {}).length + 1
  return withPlace(base, type, { path: place.path, value: times(bytes / size, (i) => element(of, i)) })
}

function inMap(key: (index: number) => string): Shape {
  return ({ base, type, places, bytes, random }) => {
    const maps = places.filter((place) => place.type.kind === 'map')
    if (maps.length === 0) return undefined
    const { path, type: map } = random.pick(maps)
    const value = map.kind === 'map' ? sample(map.of, 0) : ''
    const size = JSON.stringify(value).length + 12
    return withPlace(base, type, { path, value: members(bytes / size, (i) => [key(i), value]) })
  }
}
