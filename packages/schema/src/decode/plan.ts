import { DecodeError } from '../errors.ts'
import type { Field, ListNode, MapNode, SpecialNode, StructType, TypeNode } from '../interfaces.ts'
import { setMember } from '../json/syntax.ts'
import type { Context, Place, Segments } from './context.ts'
import { goTypeName } from './go-type.ts'
import { scalarDecoder } from './scalars.ts'
import { inOrder, isObject, withSortedKeys } from './shape.ts'
import { specialDecoder, specialZero } from './special.ts'
import { decodeStruct } from './struct.ts'

/**
 * Types prepared for decoding: what every field does with a value, worked out once for each type.
 */

/** A type node as operations. */
export interface NodePlan {
  readonly node: TypeNode
  /** Of the elements of a list or map. */
  readonly of?: NodePlan
  /** Of a struct. */
  readonly struct?: () => StructPlan
  /** A canonical value, or `undefined` after a mismatch. Never given null. */
  decode(value: unknown, context: Context): unknown
  /** A fresh value for an unset list element or map value. */
  zero(): unknown
  /** Whether a value is dropped by `omitempty`. */
  isEmpty(value: unknown): boolean
}

export interface FieldPlan extends Place {
  readonly field: Field
  readonly json: string
  readonly owner: StructType
  readonly index: number
  readonly node: NodePlan
  /** `omitempty` drops zero values here: it does nothing to pointers and structs. */
  readonly dropEmpty: boolean
  /** Fresh form of the unset field; absent when nothing is printed. */
  readonly zero: (() => unknown) | undefined
}

export interface StructPlan {
  readonly type: StructType
  readonly fields: readonly FieldPlan[]
  readonly byName: ReadonlyMap<string, FieldPlan>
  /** How many fields are printed when they are unset. */
  readonly zeroCount: number
  readonly open: boolean
}

/** A memo: what is in it follows from the type alone. */
const plans = new WeakMap<StructType, StructPlan>()

export function planOf(type: StructType): StructPlan {
  const known = plans.get(type)
  if (known !== undefined) return known
  const fields = type.fields.map((field, index) => fieldPlan(field, index, type))
  const plan: StructPlan = {
    type,
    fields,
    byName: new Map(fields.map((field) => [field.json, field])),
    zeroCount: fields.filter((field) => field.zero !== undefined).length,
    open: type.preserveUnknown ?? false,
  }
  plans.set(type, plan)
  return plan
}

/** The object that Go prints for an unset struct. */
export function zeroObject(type: StructType): Record<string, unknown> {
  const object: Record<string, unknown> = {}
  for (const field of planOf(type).fields) if (field.zero !== undefined) setMember(object, field.json, field.zero())
  return object
}

function fieldPlan(field: Field, index: number, owner: StructType): FieldPlan {
  const node = nodePlan(field.type)
  const always = field.type.kind === 'struct' || (field.type.kind === 'special' && field.type.special !== 'Unknown')
  return {
    field,
    json: field.json,
    owner,
    index,
    node,
    dropEmpty: field.omitEmpty && !field.pointer && !always,
    zero: zeroForm(field),
  }
}

function zeroForm(field: Field): (() => unknown) | undefined {
  const { zero, type } = field
  if (zero === undefined) return undefined
  // An unset pointer prints null, an unset struct its zero form.
  if (type.kind === 'struct' && zero !== null) return () => zeroObject(type.struct())
  return typeof zero === 'object' && zero !== null ? () => structuredClone(zero) : () => zero
}

export function nodePlan(node: TypeNode): NodePlan {
  switch (node.kind) {
    case 'scalar':
      return scalarPlan(node)
    case 'struct':
      return {
        node,
        struct: () => planOf(node.struct()),
        decode: (value, context) => decodeStruct(planOf(node.struct()), value, context),
        zero: () => zeroObject(node.struct()),
        isEmpty: () => false,
      }
    case 'special':
      return specialPlan(node)
    case 'list':
      return listPlan(node)
    case 'map':
      return mapPlan(node)
  }
}

function scalarPlan(node: TypeNode & { kind: 'scalar' }): NodePlan {
  const { scalar } = node
  const text = scalar === 'string' || scalar === 'bytes'
  const zero = scalar === 'string' ? '' : scalar === 'bool' ? false : scalar === 'bytes' || scalar === 'any' ? null : 0
  return {
    node,
    decode: scalarDecoder(scalar, () => goTypeName(node)),
    zero: () => zero,
    isEmpty: text ? (value) => value === '' : scalar === 'any' ? () => false : (value) => value === zero || value === 0n,
  }
}

function specialPlan(node: SpecialNode): NodePlan {
  const { special, struct } = node
  const decode = struct === undefined ? specialDecoder(special) : schemaDecoder(special, struct)
  return { node, decode, zero: () => specialZero(special), isEmpty: () => false }
}

function listPlan(node: ListNode): NodePlan {
  const element = nodePlan(node.of)
  return {
    node,
    of: element,
    zero: () => null,
    isEmpty: (value) => Array.isArray(value) && value.length === 0,
    decode(value, context) {
      if (!Array.isArray(value)) return context.mismatch(value, goTypeName(node))
      const list: unknown[] = []
      for (let i = 0; i < value.length; i++) {
        const item = value[i]
        context.enter(i)
        const decoded = item === null || item === undefined ? undefined : element.decode(item, context)
        context.leave()
        list.push(decoded === undefined ? element.zero() : decoded)
      }
      return list
    },
  }
}

function mapPlan(node: MapNode): NodePlan {
  const element = nodePlan(node.of)
  const texts = node.of.kind === 'scalar' && node.of.scalar === 'string'
  const decodeMember: MemberDecoder = (key, value, context) => {
    if (value === null || value === undefined) return element.zero()
    if (texts && typeof value === 'string') return value
    context.enterKey(key)
    const decoded = element.decode(value, context)
    context.leave()
    return decoded === undefined ? element.zero() : decoded
  }
  return {
    node,
    of: element,
    zero: () => null,
    isEmpty(value) {
      for (const _ in value as object) return false
      return true
    },
    decode(value, context) {
      if (!isObject(value)) return context.mismatch(value, goTypeName(node))
      const segments = context.segmentsOf(value)
      if (segments !== undefined) return withSortedKeys(decodeRepeated(segments, decodeMember, context))
      const map: Record<string, unknown> = {}
      let previous: string | undefined
      let sorted = true
      for (const key in value) {
        setMember(map, key, decodeMember(key, value[key], context))
        sorted &&= previous === undefined || inOrder(previous, key)
        previous = key
      }
      return sorted ? map : withSortedKeys(map)
    },
  }
}

type MemberDecoder = (key: string, value: unknown, context: Context) => unknown

/** Decodes all of repeated members in order, for what there is to object to; the last ones stay. */
function decodeRepeated(segments: Segments, decode: MemberDecoder, context: Context): Record<string, unknown> {
  const map: Record<string, unknown> = {}
  for (const members of segments) {
    const seen = new Set<string>()
    for (const [key, value] of members) {
      if (seen.has(key)) context.duplicate(key)
      seen.add(key)
      setMember(map, key, decode(key, value, context))
    }
  }
  return map
}

/** Values that hold a schema or something else; Go decodes them apart. */
function schemaDecoder(special: string, struct: () => StructType): NodePlan['decode'] {
  const schema = (value: unknown, context: Context) => context.apart((inner) => decodeStruct(planOf(struct()), value, inner))
  return (value, context) => {
    if (isObject(value)) return schema(value, context)
    if (special === 'JSONSchemaPropsOrBool') {
      if (typeof value === 'boolean') return value
      throw new DecodeError('Value', 'boolean or JSON schema expected')
    }
    if (!Array.isArray(value) || value.length === 0) return null
    if (special === 'JSONSchemaPropsOrArray')
      return value.map((element) => (element === null ? zeroObject(struct()) : schema(element, context)))
    return context.apart((inner) => value.map((element) => element ?? '').map((element) => textElement(element, inner)))
  }
}

function textElement(element: unknown, context: Context): unknown {
  return typeof element === 'string' ? element : context.mismatch(element, 'string')
}
