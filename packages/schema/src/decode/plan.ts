import { setMember } from '@krmkit/meta'
import { isEmptyObject, largeMapSize, memberNames, runAtOnce, type Work } from '@krmkit/meta/work'
import { DecodeError } from '../errors.ts'
import type { Field, ListNode, MapNode, SpecialNode, StructType, TypeNode } from '../interfaces.ts'
import { copyJson } from '../json/copy.ts'
import type { DecodeContext, MemberSegments } from './context.ts'
import { jsonWeight } from './decoded-size.ts'
import { type FieldPlan, type NodePlan, type StructPlan, stepsOf } from './field-plan.ts'
import { goTypeName } from './go-type.ts'
import { scalarDecoder } from './scalars.ts'
import { inOrder, isParsedObject, sortedKeysSteps, withSortedKeys } from './shape.ts'
import { specialDecoder, specialSteps, specialZero } from './special.ts'
import { decodeStruct, structSteps } from './struct.ts'

/** Decode plans: the operations of every field, computed once per type. */

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
  const { kind } = field.type
  const always = kind === 'struct' || (kind === 'special' && field.type.special !== 'Unknown')
  const zero = zeroForm(field)
  const countedSeparately = isCountedSeparately(field, owner)
  return {
    field,
    json: field.json,
    owner,
    index,
    node,
    dropEmpty: field.omitEmpty && !field.pointer && !always,
    distinctEmpty: kind === 'list' || kind === 'map',
    zero,
    memberBytes: countedSeparately ? 0 : field.json.length + 4 + node.frameBytes,
    zeroBytes: memoize(() => (zero === undefined ? 0 : Math.max(0, jsonWeight(zero()) - node.frameBytes))),
    countedSeparately,
  }
}

/** The server owns `status` and `managedFields`: most writes drop what the client sent. */
function isCountedSeparately({ json }: Field, owner: StructType): boolean {
  return (json === 'status' && owner.root) || (json === 'managedFields' && owner.typeName === 'ObjectMeta')
}

function memoize<T extends object | number>(work: () => T): () => T {
  let known: T | undefined
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
    case 'struct': {
      // Computed on first use, since structs may be recursive, and then kept: every write asks several times.
      const struct = memoize(() => planOf(node.struct()))
      return {
        node,
        struct,
        decode: (value, context) => decodeStruct(struct(), value, context),
        steps: (value, context) => structSteps(struct(), value, context),
        zero: () => zeroObject(node.struct()),
        isEmpty: () => false,
        frameBytes: 1,
      }
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
    frameBytes: text ? 2 : scalar === 'bool' ? 4 : 1,
    decode: scalarDecoder(scalar, () => goTypeName(node)),
    zero: () => zero,
    isEmpty: text ? (value) => value === '' : scalar === 'any' ? () => false : (value) => value === zero || value === 0n,
  }
}

function specialPlan(node: SpecialNode): NodePlan {
  const { special, struct } = node
  const plan = { node, zero: () => specialZero(special), isEmpty: () => false, frameBytes: 1 }
  if (struct !== undefined) return { ...plan, decode: schemaDecoder(special, struct), steps: schemaSteps(special, struct) }
  const steps = specialSteps(special)
  return { ...plan, decode: specialDecoder(special), ...(steps === undefined ? {} : { steps }) }
}

function listPlan(node: ListNode): NodePlan {
  const element = nodePlan(node.of)
  return {
    node,
    of: element,
    frameBytes: 1,
    zero: () => null,
    isEmpty: (value) => Array.isArray(value) && value.length === 0,
    decode(value, context) {
      if (!Array.isArray(value)) return context.recordMismatch(value, goTypeName(node))
      context.size.add(value.length * (1 + element.frameBytes))
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
      if (!Array.isArray(value)) return context.recordMismatch(value, goTypeName(node))
      context.size.add(value.length * (1 + element.frameBytes))
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
    context.size.add(key.length + 4 + element.frameBytes)
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
  /** As `decodeMember`, for objects and lists. */
  function* memberSteps(key: string, value: object, context: DecodeContext): Work<unknown> {
    context.size.add(key.length + 4 + element.frameBytes)
    context.enterKey(key)
    const decoded = yield* stepsOf(element, value, context)
    context.leave()
    return decoded === undefined ? countedZero(element, context) : decoded
  }
  return {
    node,
    of: element,
    frameBytes: 1,
    zero: () => null,
    isEmpty: (value) => isEmptyObject(value as object),
    decode(value, context) {
      if (!isParsedObject(value)) return context.recordMismatch(value, goTypeName(node))
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
      if (!isParsedObject(value)) return context.recordMismatch(value, goTypeName(node))
      const segments = context.segmentsOf(value)
      if (segments !== undefined) return yield* sortedKeysSteps(yield* repeatedSteps(segments, decodeMember, context))
      const map: Record<string, unknown> = {}
      const keys = memberNames(value)
      if (keys.length > largeMapSize) yield true
      for (let i = 0; i < keys.length; i++) {
        const key = keys[i] as string
        const member = value[key]
        const isOpen = typeof member === 'object' && member !== null && element.steps !== undefined
        setMember(map, key, isOpen ? yield* memberSteps(key, member, context) : decodeMember(key, member, context))
        if (i % elementsPerStep === 0) yield
      }
      return yield* sortedKeysSteps(map, keys)
    },
  }
}

/** Elements decoded between two yields when each is small. */
const elementsPerStep = 64

/** Zero value of an unset element, counted. */
function countedZero(element: NodePlan, context: DecodeContext): unknown {
  const zero = element.zero()
  if (typeof zero === 'object' && zero !== null) context.size.add(Math.max(0, jsonWeight(zero) - element.frameBytes))
  return zero
}

type MemberDecoder = (key: string, value: unknown, context: DecodeContext) => unknown

/** Decodes all repeated members in order, to report their problems; the last value wins. */
function* repeatedSteps(segments: MemberSegments, decode: MemberDecoder, context: DecodeContext): Work<Record<string, unknown>> {
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
  const schema = (value: unknown, context: DecodeContext) =>
    context.isolated((inner) => decodeStruct(planOf(struct()), value, inner))
  return (value, context) => {
    if (isParsedObject(value)) return schema(value, context)
    if (special === 'JSONSchemaPropsOrBool') {
      if (typeof value === 'boolean') return value
      throw new DecodeError({ code: 'Value', message: 'boolean or JSON schema expected' })
    }
    if (!Array.isArray(value) || value.length === 0) return null
    if (special === 'JSONSchemaPropsOrArray')
      return value.map((element) => (element === null ? zeroObject(struct()) : schema(element, context)))
    return context.isolated((inner) => value.map((element) => element ?? '').map((element) => textElement(element, inner)))
  }
}

/** As `schemaDecoder`, with pauses inside a single schema. */
function schemaSteps(special: string, struct: () => StructType): NonNullable<NodePlan['steps']> {
  const decode = schemaDecoder(special, struct)
  return function* (value, context) {
    if (!isParsedObject(value)) return decode(value, context)
    return yield* context.isolatedSteps((inner) => structSteps(planOf(struct()), value, inner))
  }
}

function textElement(element: unknown, context: DecodeContext): unknown {
  return typeof element === 'string' ? element : context.recordMismatch(element, 'string')
}
