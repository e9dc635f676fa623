import { isJsonObject } from '@krmkit/meta'
import type { Field, StructType, TypeNode } from '@krmkit/schema'

/**
 * Objects with one list or map of any length: for every list and map of a type, by path, with elements of several kinds.
 */

/** The elements of a grown list. */
export type Sort = 'distinct' | 'equal' | 'invalid' | 'null'

/** Elements to try: keys of maps are always distinct, and null in a list is the zero value. */
export function sortsOf({ node }: Growable): readonly Sort[] {
  return node.kind === 'map' ? ['distinct', 'invalid', 'null'] : ['distinct', 'equal', 'invalid']
}

/** A list or map of a type: member names, `*` for the first element of an outer list or map. */
export interface Growable {
  readonly path: readonly string[]
  readonly node: TypeNode
  /** The struct and member, which is the same wherever the struct is used. */
  readonly owner: string
}

type Json = Record<string, unknown>

/** All lists and maps of the type. A recursive struct is entered once. */
export function growables(type: StructType): Growable[] {
  const found: Growable[] = []
  const enter = (node: TypeNode, path: readonly string[], within: readonly string[]): void => {
    if (node.kind === 'list' || node.kind === 'map') {
      found.push({ path, node, owner: `${within.at(-1)}.${path.at(-1)}` })
      enter(node.of, [...path, '*'], within)
    } else if (node.kind === 'struct' && !within.includes(node.name)) {
      for (const { json, type: inner } of node.struct().fields) enter(inner, [...path, json], [...within, node.name])
    } else if (node.kind === 'special' && node.struct !== undefined) {
      if (!within.includes(node.struct().name))
        enter({ kind: 'struct', name: node.struct().name, struct: node.struct }, path, within)
    }
  }
  for (const { json, type: inner } of type.fields) enter(inner, [json], [type.name])
  return found
}

/** `base` with `count` elements in the list or map at the path; missing parents are created. */
export function grow(type: StructType, base: Json, growable: Growable, { count, sort }: { count: number; sort: Sort }): Json {
  const copy = structuredClone(base)
  let fields: readonly Field[] = type.fields
  let holder: Json = copy
  let key = ''
  let node: TypeNode | undefined
  const value = () => holder[key]
  for (const step of growable.path) {
    if (step === '*') {
      const made = firstOf(node as TypeNode, value())
      holder = made.holder
      key = made.key
      node = made.node
    } else {
      if (node !== undefined) {
        const struct = structOf(node)
        if (!isJsonObject(value())) holder[key] = plainStruct(struct, 0, 'distinct')
        holder = value() as Json
        fields = struct.fields
      }
      node = fields.find(({ json }) => json === step)?.type as TypeNode
      key = step
      if (node.kind === 'list' && !Array.isArray(value())) holder[key] = []
      if (node.kind === 'map' && !isJsonObject(value())) holder[key] = {}
    }
  }
  holder[key] = elements(growable.node, { count, sort })
  return copy
}

/** The first element of a list or map, created if necessary. */
function firstOf(node: TypeNode, of: unknown): { holder: Json; key: string; node: TypeNode } {
  if (node.kind === 'list') {
    const list = of as unknown[]
    if (list.length === 0) list.push(element(node.of, { name: '', at: 0, sort: 'distinct' }))
    return { holder: list as unknown as Json, key: '0', node: node.of }
  }
  if (node.kind !== 'map') throw new Error('only lists and maps have elements')
  const map = of as Json
  const [key = 'key-0'] = Object.keys(map)
  map[key] ??= element(node.of, { name: '', at: 0, sort: 'distinct' })
  return { holder: map, key, node: node.of }
}

function structOf(node: TypeNode): StructType {
  if ((node.kind === 'struct' || node.kind === 'special') && node.struct !== undefined) return node.struct()
  throw new Error(`no members in ${node.kind}`)
}

function elements(node: TypeNode, { count, sort }: { readonly count: number; readonly sort: Sort }): unknown {
  if (node.kind === 'list') return Array.from({ length: count }, (_, at) => element(node.of, { name: '', at, sort }))
  if (node.kind !== 'map') throw new Error('only lists and maps grow')
  const name = sort === 'invalid' ? '-key!-' : 'key-'
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}${at}`, element(node.of, { name: '', at, sort })]))
}

interface Element {
  /** The name of the member that holds the value. */
  readonly name: string
  readonly at: number
  readonly sort: Sort
}

function element(node: TypeNode, given: Element): unknown {
  const { name, at, sort } = given
  if (sort === 'null') return null
  const number = sort === 'invalid' ? -1 : sort === 'equal' ? 1 : 1 + (at % 60_000)
  switch (node.kind) {
    case 'scalar':
      if (node.scalar === 'string') return node.enum === undefined || sort === 'invalid' ? text(given) : node.enum[0]
      if (node.scalar === 'bool') return true
      if (node.scalar === 'bytes') return 'YQ=='
      return node.scalar === 'any' ? { a: number } : number
    case 'struct':
      return plainStruct(node.struct(), at, sort)
    case 'list':
      return [element(node.of, given)]
    case 'map':
      return { [sort === 'equal' ? 'key' : `key-${at}`]: element(node.of, given) }
  }
  return (
    special(node.special, { name, at, sort, number }) ?? (node.struct === undefined ? {} : plainStruct(node.struct(), at, sort))
  )
}

function special(kind: string, { at, number, sort }: Element & { readonly number: number }): unknown {
  switch (kind) {
    case 'Time':
    case 'Timestamp':
      return '2026-01-01T00:00:00Z'
    case 'MicroTime':
      return '2026-01-01T00:00:00.000000Z'
    case 'Duration':
      return `${number}s`
    case 'Quantity':
    case 'QuantityValue':
      return String(number)
    case 'IntOrString':
      return number
    case 'JSON':
      return sort === 'distinct' ? `value-${at}` : 'value'
    case 'RawExtension':
      return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `a-${at}` } }
    default:
      return undefined
  }
}

/** A struct with its scalar members, without mutually exclusive ones. */
function plainStruct(type: StructType, at: number, sort: Sort): Json {
  const made: Json = {}
  for (const { json, type: node } of type.fields) {
    const isPlain = node.kind === 'scalar' || (node.kind === 'special' && node.struct === undefined)
    if (isPlain && !leftOut.has(json)) made[json] = element(node, { name: json, at, sort })
  }
  return made
}

/** Mutually exclusive members. */
const leftOut = new Set(['generateName', 'subPathExpr', 'deletionTimestamp', 'selfLink', 'prefix'])

function text({ name, at, sort }: Element): string {
  if (sort === 'invalid') return `-invalid!-${at}`
  const i = sort === 'equal' ? 0 : at
  if (/ip$|ips$|address/i.test(name)) return `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`
  if (/cidr/i.test(name)) return `10.${(i >> 8) & 255}.${i & 255}.0/24`
  if (/path$/i.test(name)) return `/path-${i}`
  if (/^apiVersion$/.test(name)) return 'v1'
  return `name-${i}`
}
