import fc from 'fast-check'
import type { Field, StructType, TypeNode } from '../src/interfaces.ts'

/** Objects as clients may send them: any subset of the fields in any order, including nulls and empty values. */
export function arbitraryObject(type: StructType, depth = 0): fc.Arbitrary<Record<string, unknown>> {
  const fields = type.fields.filter((field) => depth < 5 || field.type.kind === 'scalar')
  if (fields.length === 0) return fc.constant({})
  const chosen = fc.uniqueArray(fc.nat(fields.length - 1), { maxLength: 4 }).map((indexes) => indexes.map((index) => fields[index] as Field))
  return chosen.chain((list) =>
    fc.tuple(...list.map((field) => orNull(arbitraryNode(field.type, depth + 1)))).map((values) => {
      return Object.fromEntries(list.map((field, index) => [field.json, values[index]]))
    }),
  )
}

const text = fc.oneof(fc.constantFrom('', 'a', 'b', '<x>', 'é', '\u{1f600}', '\uffff', '10', '9', '__proto__'), fc.string({ maxLength: 8 }))

function orNull(arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 9, arbitrary }, { weight: 1, arbitrary: fc.constant(null) })
}

function arbitraryNode(node: TypeNode, depth: number): fc.Arbitrary<unknown> {
  switch (node.kind) {
    case 'scalar':
      return arbitraryScalar(node.scalar)
    case 'struct':
      return fc.constant(null).chain(() => arbitraryObject(node.struct(), depth))
    case 'list':
      return fc.array(arbitraryNode(node.of, depth), { maxLength: 2 })
    case 'map':
      return fc.dictionary(text, arbitraryNode(node.of, depth), { maxKeys: 3 })
    case 'special':
      return arbitrarySpecial(node)
  }
}

function arbitraryScalar(scalar: string): fc.Arbitrary<unknown> {
  switch (scalar) {
    case 'bool':
      return fc.boolean()
    case 'int32':
      return fc.oneof(fc.constant(0), fc.integer())
    case 'int64':
      return fc.oneof(fc.constant(0), fc.maxSafeInteger(), fc.bigInt({ min: 2n ** 60n, max: 2n ** 63n - 1n }))
    case 'float64':
      return fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)
    case 'bytes':
      return fc.uint8Array({ maxLength: 9 }).map((bytes) => btoa(String.fromCharCode(...bytes)))
    case 'any':
      return fc.oneof(text, fc.integer(), fc.boolean(), fc.constant({ a: [null] }))
    default:
      return text
  }
}

function arbitrarySpecial(node: TypeNode & { kind: 'special' }): fc.Arbitrary<unknown> {
  const seconds = fc.integer({ min: -62135596800, max: 253402300799 }).map((value) => new Date(value * 1000).toISOString().slice(0, 19))
  switch (node.special) {
    case 'Time':
      return seconds.map((value) => `${value}Z`)
    case 'MicroTime':
      return fc.tuple(seconds, fc.nat(999999)).map(([value, micros]) => `${value}.${String(micros).padStart(6, '0')}Z`)
    case 'Quantity':
      return fc.tuple(fc.integer(), fc.constantFrom('', 'm', 'k', 'Ki', 'Mi', 'e3', '.5')).map(([value, unit]) => `${value}${unit}`)
    case 'IntOrString':
      return fc.oneof(fc.integer(), text)
    case 'JSONSchemaPropsOrBool':
      return fc.oneof(fc.boolean(), fc.constant({ type: 'string' }))
    case 'JSONSchemaPropsOrArray':
      return fc.oneof(fc.constant({ type: 'string' }), fc.constant([{}, { type: 'a' }]))
    case 'JSONSchemaPropsOrStringArray':
      return fc.oneof(fc.constant({ type: 'string' }), fc.constant(['a', 'b']))
    default:
      return fc.constantFrom<unknown>({}, { b: [true, null, 'x'] }, { c: { d: '<' } })
  }
}
