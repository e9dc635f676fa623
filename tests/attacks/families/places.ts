import { isJsonObject } from '@krmkit/meta'
import type { Field, StructType, TypeNode } from '@krmkit/schema'

/** Locations at which a kind can grow, found in the type model, so that new fields are covered automatically. */

export type Path = readonly (string | number)[]

export interface Place {
  /** Members from the root; 0 is the only element of a list on the path. */
  readonly path: Path
  readonly type: TypeNode
}

type Json = Record<string, unknown>

const maxDepth = 7

/** All lists, maps and open values of a struct, and the first strings; recursion ends at repeated types. */
export function placesOf(root: StructType): readonly Place[] {
  const found: Place[] = []
  const visit = (struct: StructType, path: Path, seen: readonly string[]) => {
    if (path.length > maxDepth || seen.includes(struct.name)) return
    for (const field of struct.fields) {
      if (path.length === 0 && (field.json === 'metadata' || field.json === 'kind' || field.json === 'apiVersion')) continue
      visitNode(field.type, [...path, field.json], [...seen, struct.name])
    }
  }
  const visitNode = (type: TypeNode, path: Path, seen: readonly string[]) => {
    if (type.kind === 'struct') visit(type.struct(), path, seen)
    else if (type.kind === 'list') {
      found.push({ path, type })
      if (type.of.kind === 'struct') visit(type.of.struct(), [...path, 0], seen)
    } else if (type.kind === 'map' || type.kind === 'special' || type.scalar === 'string' || type.scalar === 'any')
      found.push({ path, type })
  }
  visit(root, [], [])
  return found
}

/** A copy of `object` with `value` at a location; missing parents are created with their required members. */
export function withPlace(object: Json, root: StructType, { path, value }: { path: Path; value: unknown }): Json {
  const set = (at: unknown, type: TypeNode | undefined, rest: Path): unknown => {
    const [head, ...tail] = rest
    if (head === undefined) return value
    if (head === 0) {
      const list = Array.isArray(at) && at.length > 0 ? at : [type === undefined ? {} : sample(elementOf(type), 0)]
      return [set(list[0], type === undefined ? undefined : elementOf(type), tail), ...list.slice(1)]
    }
    const known = isJsonObject(at) ? at : type === undefined ? {} : sample(type, 0)
    const struct = type?.kind === 'struct' ? type.struct() : undefined
    const made = isJsonObject(known) ? known : {}
    return { ...made, [head]: set(made[head], struct?.field.get(String(head))?.type, tail) }
  }
  return set(object, { kind: 'struct', name: root.name, struct: () => root }, path) as Json
}

function elementOf(type: TypeNode): TypeNode {
  return type.kind === 'list' || type.kind === 'map' ? type.of : type
}

/** A value of a type with its required members; `index` makes names and keys unique. */
export function sample(type: TypeNode, index: number, depth = 0): unknown {
  if (type.kind === 'list') return depth > 3 ? [] : [sample(type.of, index, depth + 1)]
  if (type.kind === 'map') return { [`k${index}`]: sample(type.of, index, depth + 1) }
  if (type.kind === 'special') return specialSample(type.special, index)
  if (type.kind === 'struct') {
    const made: Json = {}
    if (depth > 4) return made
    for (const field of type.struct().fields) if (isNeeded(field)) made[field.json] = sample(field.type, index, depth + 1)
    return made
  }
  if (type.scalar === 'string') return type.enum?.[0] ?? `n${index}`
  if (type.scalar === 'bool') return false
  if (type.scalar === 'bytes') return 'eA=='
  return type.scalar === 'any' ? {} : (index % 60_000) + 1
}

function isNeeded(field: Field): boolean {
  return field.required || (!field.optional && !field.omitEmpty && !field.pointer)
}

function specialSample(special: string, index: number): unknown {
  if (special === 'Time' || special === 'MicroTime' || special === 'Timestamp') return '2024-01-01T00:00:00Z'
  if (special === 'Duration') return '1s'
  if (special === 'Quantity' || special === 'QuantityValue') return `${index + 1}m`
  if (special === 'IntOrString') return (index % 60_000) + 1
  return {}
}
