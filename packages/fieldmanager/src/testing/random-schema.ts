import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import { typedSchemaFromSmd } from '../typed/from-smd.ts'
import type { TypeRef } from '../typed/types.ts'

/** Random schemas and values; tests only. */

export type Shape =
  | { kind: 'string' | 'numeric' }
  | { kind: 'struct'; fields: Record<string, string>; atomic: boolean }
  | { kind: 'map'; of: string; atomic: boolean }
  | { kind: 'set' }
  | { kind: 'atoms'; of: string }
  | { kind: 'list'; of: string; keys: string[] }

export interface RandomSchema {
  readonly shapes: Record<string, Shape>
  type(name: string): TypeRef
}

/** Types `t0` (a struct) to `t7`; each refers only to later ones, so that values are finite. */
export function randomSchema(random: RandomChoices): RandomSchema {
  const shapes: Record<string, Shape> = {}
  const last = 7
  for (let i = last; i >= 0; i--) shapes[`t${i}`] = i === 0 ? structShape(random, 0, last) : randomShape(random, i, last)
  const types = Object.entries(shapes).map(([name, shape]) => ({ name, ...definition(shape) }))
  const schema = typedSchemaFromSmd({
    types: [...types, { name: 'item', map: { fields: [{ name: 'key', type: { scalar: 'string' } }] } }] as JsonValue,
  })
  return { shapes, type: (name) => schema.type(name) }
}

function randomShape(random: RandomChoices, i: number, last: number): Shape {
  if (i >= last - 1) return { kind: random.chance(70) ? 'string' : 'numeric' }
  const of = `t${i + 1 + random.below(last - i)}`
  switch (random.below(7)) {
    case 0:
      return { kind: 'set' }
    case 1:
      return { kind: 'atoms', of }
    case 2:
    case 3:
      return { kind: 'map', of, atomic: random.chance(20) }
    case 4:
      return { kind: 'list', of, keys: ['key'] }
    default:
      return structShape(random, i, last)
  }
}

function structShape(random: RandomChoices, i: number, last: number): Shape {
  const fields: Record<string, string> = {}
  for (let n = 0; n < 2 + random.below(4); n++) fields[`f${n}`] = `t${i + 1 + random.below(last - i)}`
  return { kind: 'struct', fields, atomic: i > 0 && random.chance(15) }
}

function definition(shape: Shape): JsonObject {
  switch (shape.kind) {
    case 'struct': {
      const fields = Object.entries(shape.fields).map(([name, of]) => ({ name, type: { namedType: of } }))
      return { map: { fields, elementRelationship: shape.atomic ? 'atomic' : 'separable' } }
    }
    case 'map':
      return { map: { elementType: { namedType: shape.of }, elementRelationship: shape.atomic ? 'atomic' : 'separable' } }
    case 'set':
      return { list: { elementType: { scalar: 'string' }, elementRelationship: 'associative' } }
    case 'atoms':
      return { list: { elementType: { namedType: shape.of }, elementRelationship: 'atomic' } }
    case 'list': {
      const fields = [
        { name: 'key', type: { scalar: 'string' } },
        { name: 'v', type: { namedType: shape.of } },
      ]
      return { list: { elementType: { map: { fields } }, elementRelationship: 'associative', keys: shape.keys } }
    }
    default:
      return { scalar: shape.kind }
  }
}

export function randomValue(random: RandomChoices, shapes: Record<string, Shape>, name: string): JsonValue {
  const shape = shapes[name] as Shape
  // Never empty: emptied parts become null, and ownership of empty parts is tested elsewhere.
  const some = (limit: number): string[] => {
    const chosen = ['x', 'y', 'z'].filter(() => random.below(3) < limit)
    return chosen.length === 0 ? [random.pick(['x', 'y', 'z'])] : chosen
  }
  switch (shape.kind) {
    case 'struct': {
      const out: JsonObject = {}
      const first = random.pick(Object.keys(shape.fields))
      for (const [field, of] of Object.entries(shape.fields)) {
        if (field === first || random.chance(60)) out[field] = randomValue(random, shapes, of)
      }
      return out
    }
    case 'map':
      return Object.fromEntries(some(2).map((key) => [key, randomValue(random, shapes, shape.of)]))
    case 'set':
      return some(2)
    case 'atoms':
      return some(1).map(() => randomValue(random, shapes, shape.of))
    case 'list':
      return some(2).map((key) => (random.chance(80) ? { key, v: randomValue(random, shapes, shape.of) } : { key }))
    case 'numeric':
      return random.below(3)
    default:
      return random.pick(['p', 'q', 'r'])
  }
}
