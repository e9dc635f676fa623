import { runAtOnce } from '@krmkit/meta'
import { DecodeError } from '../errors.ts'
import type { Field, ListNode, MapNode, SpecialNode, StructType, TypeNode } from '../interfaces.ts'
import { copyJson } from '../json/copy.ts'
import { setMember } from '../json/syntax.ts'
import type { Context, Place, Segments } from './context.ts'
import { jsonWeight } from './decoded-size.ts'
import { goTypeName } from './go-type.ts'
import { scalarDecoder } from './scalars.ts'
import { inOrder, isObject, sortedKeysSteps, withSortedKeys } from './shape.ts'
import { specialDecoder, specialZero } from './special.ts'
import { decodeStruct, structSteps } from './struct.ts'

/** Decode plans: the operations of every field, computed once per type. */

/** Operations of a type node. */
export interface NodePlan {
  readonly node: TypeNode
  /** Plan of the elements of a list or map. */
  readonly of?: NodePlan
  /** Plan of a struct. */
  readonly struct?: () => StructPlan
  /** Returns a canonical value, or `undefined` after a mismatch. Never receives null. */
  decode(value: unknown, context: Context): unknown
  /** As `decode`, with interruption points; absent for values that are never large. */
  steps?(value: unknown, context: Context): Generator<void, unknown>
  /** A new value for an unset list element or map value. */
  zero(): unknown
  /** Whether `omitempty` drops the value. */
  isEmpty(value: unknown): boolean
  /** Lower bound of the bytes of JSON, excluding what decoding the value counts itself. */
  readonly frame: number
}

export interface FieldPlan extends Place {
  readonly field: Field
  readonly json: string
  readonly owner: StructType
  readonly index: number
  readonly node: NodePlan
  /** Whether `omitempty` drops zero values of this field: it has no effect on pointers and structs. */
  readonly dropEmpty: boolean
  /** Creates the printed value of the unset field; absent when nothing is printed. */
  readonly zero: (() => unknown) | undefined
  /** Bytes of JSON of the member, excluding what decoding its value counts. */
  readonly weight: number
  /** Additional bytes of the unset field. Computed on first use: structs may be recursive. */
  readonly zeroWeight: () => number
  /** Not stored as sent, so counted separately. @see DecodedSize */
  readonly apart: boolean
}

export interface StructPlan {
  readonly type: StructType
  readonly fields: readonly FieldPlan[]
  readonly byName: ReadonlyMap<string, FieldPlan>
  /** Number of fields that are printed when unset. */
  readonly zeroCount: number
  readonly open: boolean
}

/** A cache: entries depend on the type only. */
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
  const zero = zeroForm(field)
  const apart = isApart(field, owner)
  return {
    field,
    json: field.json,
    owner,
    index,
    node,
    dropEmpty: field.omitEmpty && !field.pointer && !always,
    zero,
    weight: apart ? 0 : field.json.length + 4 + node.frame,
    zeroWeight: once(() => (zero === undefined ? 0 : Math.max(0, jsonWeight(zero()) - node.frame))),
    apart,
  }
}

/** The server owns `status` and `managedFields`: most writes drop what the client sent. */
function isApart({ json }: Field, owner: StructType): boolean {
  return (json === 'status' && owner.root) || (json === 'managedFields' && owner.typeName === 'ObjectMeta')
}

function once(work: () => number): () => number {
  let known: number | undefined
  return () => (known ??= work())
}

function zeroForm(field: Field): (() => unknown) | undefined {
  const { zero, type } = field
  if (zero === undefined) return undefined
  // An unset pointer prints null, an unset struct its zero object.
  if (type.kind === 'struct' && zero !== null) return () => zeroObject(type.struct())
  return typeof zero === 'object' && zero !== null ? () => copyJson(zero) : () => zero
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
        steps: (value, context) => structSteps(planOf(node.struct()), value, context),
        zero: () => zeroObject(node.struct()),
        isEmpty: () => false,
        frame: 1,
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
    frame: text ? 2 : scalar === 'bool' ? 4 : 1,
    decode: scalarDecoder(scalar, () => goTypeName(node)),
    zero: () => zero,
    isEmpty: text ? (value) => value === '' : scalar === 'any' ? () => false : (value) => value === zero || value === 0n,
  }
}

function specialPlan(node: SpecialNode): NodePlan {
  const { special, struct } = node
  const decode = struct === undefined ? specialDecoder(special) : schemaDecoder(special, struct)
  return { node, decode, zero: () => specialZero(special), isEmpty: () => false, frame: 1 }
}

function listPlan(node: ListNode): NodePlan {
  const element = nodePlan(node.of)
  return {
    node,
    of: element,
    frame: 1,
    zero: () => null,
    isEmpty: (value) => Array.isArray(value) && value.length === 0,
    decode(value, context) {
      if (!Array.isArray(value)) return context.mismatch(value, goTypeName(node))
      context.size.add(value.length * (1 + element.frame))
      const list: unknown[] = []
      for (let i = 0; i < value.length; i++) {
        const item = value[i]
        context.enter(i)
        const decoded = item === null || item === undefined ? undefined : element.decode(item, context)
        context.leave()
        list.push(decoded === undefined ? countedZero(element, context) : decoded)
      }
      return list
    },
    *steps(value, context) {
      if (!Array.isArray(value)) return context.mismatch(value, goTypeName(node))
      context.size.add(value.length * (1 + element.frame))
      const list: unknown[] = []
      for (let i = 0; i < value.length; i++) {
        const item = value[i]
        context.enter(i)
        const decoded = item === null || item === undefined ? undefined : yield* stepsOf(element, item, context)
        context.leave()
        list.push(decoded === undefined ? countedZero(element, context) : decoded)
        if (i % elementsPerStep === 0) yield
      }
      return list
    },
  }
}

function mapPlan(node: MapNode): NodePlan {
  const element = nodePlan(node.of)
  const texts = node.of.kind === 'scalar' && node.of.scalar === 'string'
  const decodeMember: MemberDecoder = (key, value, context) => {
    context.size.add(key.length + 4 + element.frame)
    if (value === null || value === undefined) return countedZero(element, context)
    if (texts && typeof value === 'string') {
      context.size.add(value.length)
      return value
    }
    context.enterKey(key)
    const decoded = element.decode(value, context)
    context.leave()
    return decoded === undefined ? countedZero(element, context) : decoded
  }
  return {
    node,
    of: element,
    frame: 1,
    zero: () => null,
    isEmpty(value) {
      const key = knownKeys.get(value as object)
      if (key !== undefined && Object.hasOwn(value as object, key)) return false
      for (const _ in value as object) return false
      return true
    },
    decode(value, context) {
      if (!isObject(value)) return context.mismatch(value, goTypeName(node))
      const segments = context.segmentsOf(value)
      if (segments !== undefined) return withSortedKeys(runAtOnce(repeatedSteps(segments, decodeMember, context)))
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
    *steps(value, context) {
      if (!isObject(value)) return context.mismatch(value, goTypeName(node))
      const segments = context.segmentsOf(value)
      if (segments !== undefined) return yield* sortedKeysSteps(yield* repeatedSteps(segments, decodeMember, context))
      const map: Record<string, unknown> = {}
      let count = 0
      let last = ''
      for (const key in value) {
        last = key
        setMember(map, key, decodeMember(key, value[key], context))
        if (++count % elementsPerStep === 0) yield
      }
      const sorted = yield* sortedKeysSteps(map)
      if (count > wide) knownKeys.set(sorted, last)
      return sorted
    },
  }
}

/** Size above which a key of a map is remembered. */
const wide = 1000

/** One key of each large map. Enumerating even one key of an object makes the engine collect all of them. */
const knownKeys = new WeakMap<object, string>()

/** Elements decoded between two yields when each is small. */
const elementsPerStep = 64

/** Decodes with interruption points where a value may be large. */
export function* stepsOf(plan: NodePlan, value: unknown, context: Context): Generator<void, unknown> {
  return plan.steps === undefined ? plan.decode(value, context) : yield* plan.steps(value, context)
}

/** Zero value of an unset element, counted. */
function countedZero(element: NodePlan, context: Context): unknown {
  const zero = element.zero()
  if (typeof zero === 'object' && zero !== null) context.size.add(Math.max(0, jsonWeight(zero) - element.frame))
  return zero
}

type MemberDecoder = (key: string, value: unknown, context: Context) => unknown

/** Decodes all repeated members in order, to report their problems; the last value wins. */
function* repeatedSteps(segments: Segments, decode: MemberDecoder, context: Context): Generator<void, Record<string, unknown>> {
  const map: Record<string, unknown> = {}
  let count = 0
  for (const members of segments) {
    const seen = new Set<string>()
    for (const [key, value] of members) {
      if (seen.has(key)) context.duplicate(key)
      seen.add(key)
      if (Object.hasOwn(map, key)) context.size.replace(map[key])
      setMember(map, key, decode(key, value, context))
      if (++count % elementsPerStep === 0) yield
    }
  }
  return map
}

/** Decodes `JSONSchemaPropsOr…` values, a schema or an alternative, in isolation as Go does. */
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
