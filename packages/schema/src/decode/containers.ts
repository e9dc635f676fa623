import { largeMapSize, memberNames, rememberKey, type Work } from '@krmkit/base/work'
import { setMember } from '@krmkit/meta'
import { jsonWeight } from '../json/json-weight.direct.ts'
import { inOrder, isParsedObject, withSortedKeys } from '../json/shape.ts'
import { DecodeError } from '../schema-error.ts'
import type { DecodeContext, MemberSegments } from './context.ts'
import type { NodePlan, StructPlan } from './field-plan.ts'
import { goTypeName } from './go-type.ts'
import { decodeStruct } from './struct.ts'

/** Decodes lists, maps and `JSONSchemaPropsOr…` values. */

/** Plan of a list or map. */
export interface ContainerPlan extends NodePlan {
  readonly of: NodePlan
}

export function* decodeList({ node, of: element }: ContainerPlan, value: unknown, context: DecodeContext): Work<unknown> {
  if (!Array.isArray(value)) return context.recordMismatch(value, goTypeName(node))
  context.size.add(value.length * (1 + element.frameBytes))
  const list: unknown[] = []
  let count = 0
  for (let i = 0; i < value.length; i++) {
    const item: unknown = value[i]
    context.enter(i)
    let decoded: unknown
    if (item !== null && item !== undefined)
      decoded = element.paced === undefined ? element.decode(item, context) : yield* element.paced.decode(item, context)
    context.leave()
    list.push(decoded === undefined ? countedZero(element, context) : decoded)
    if (count++ % elementsPerStep === 0) yield
  }
  return list
}

/** Elements decoded between two yields when each is small. */
const elementsPerStep = 64

function* decodeNode(plan: NodePlan, value: unknown, context: DecodeContext): Work<unknown> {
  return plan.paced === undefined ? plan.decode(value, context) : yield* plan.paced.decode(value, context)
}

/** Returns the zero value of an unset element and counts its size. */
export function countedZero(plan: NodePlan, context: DecodeContext): unknown {
  const zero = plan.zero()
  if (typeof zero === 'object' && zero !== null) context.size.add(Math.max(0, jsonWeight(zero) - plan.frameBytes))
  return zero
}

export function* decodeMap(plan: ContainerPlan, value: unknown, context: DecodeContext): Work<unknown> {
  if (!isParsedObject(value)) return context.recordMismatch(value, goTypeName(plan.node))
  const segments = context.segmentsOf(value)
  if (segments !== undefined) return yield* decodeRepeated(plan, segments, context)
  const holdsTexts = isTextNode(plan.of)
  const map: Record<string, unknown> = {}
  let previous: string | undefined
  let isSorted = true
  let count = 0
  const keys = memberNames(value)
  if (keys.length > largeMapSize) yield true
  for (const key of keys) {
    const member = value[key]
    if (holdsTexts && typeof member === 'string') {
      context.size.add(key.length + 4 + plan.of.frameBytes + member.length)
      setMember(map, key, member)
    } else setMember(map, key, yield* decodeMember(plan.of, key, member, context))
    isSorted &&= previous === undefined || inOrder(previous, key)
    previous = key
    if (count++ % elementsPerStep === 0) yield
  }
  if (!isSorted) return yield* withSortedKeys(map, keys)
  rememberKey(map, keys)
  return map
}

export function isTextNode({ node }: NodePlan): boolean {
  return node.kind === 'scalar' && node.scalar === 'string'
}

function* decodeMember(element: NodePlan, key: string, value: unknown, context: DecodeContext): Work<unknown> {
  context.size.add(key.length + 4 + element.frameBytes)
  if (value === null || value === undefined) return countedZero(element, context)
  context.enterKey(key)
  const decoded = yield* decodeNode(element, value, context)
  context.leave()
  return decoded === undefined ? countedZero(element, context) : decoded
}

/** Decodes all repeated members in order, to report their problems; the last value wins. */
function* decodeRepeated({ of }: ContainerPlan, segments: MemberSegments, context: DecodeContext): Work<unknown> {
  const map: Record<string, unknown> = {}
  let count = 0
  for (const members of segments) {
    const seen = new Set<string>()
    for (const [key, value] of members) {
      if (seen.has(key)) context.duplicate(key)
      seen.add(key)
      if (Object.hasOwn(map, key)) context.size.replace(map[key])
      setMember(map, key, yield* decodeMember(of, key, value, context))
      if (count++ % elementsPerStep === 0) yield
    }
  }
  return yield* withSortedKeys(map, memberNames(map))
}

/** A `JSONSchemaPropsOr…` type. */
export interface SchemaForm {
  readonly special: string
  readonly plan: () => StructPlan
  readonly zero: () => unknown
}

/** Decodes a `JSONSchemaPropsOr…` value, a schema or an alternative, in isolation as Go does. */
export function* decodeSchema(form: SchemaForm, value: unknown, context: DecodeContext): Work<unknown> {
  if (isParsedObject(value)) return yield* decodeIsolated(form.plan(), value, context)
  if (form.special === 'JSONSchemaPropsOrBool') {
    if (typeof value === 'boolean') return value
    throw new DecodeError({ code: 'Value', message: 'boolean or JSON schema expected' })
  }
  if (!Array.isArray(value) || value.length === 0) return null
  if (form.special !== 'JSONSchemaPropsOrArray') return decodeTexts(value, context)
  const list: unknown[] = []
  for (const element of value) list.push(element === null ? form.zero() : yield* decodeIsolated(form.plan(), element, context))
  return list
}

function* decodeIsolated(plan: StructPlan, value: unknown, context: DecodeContext): Work<unknown> {
  const inner = context.isolated()
  let result: unknown
  try {
    result = yield* decodeStruct(plan, value, inner)
  } catch (error) {
    throw context.outerError(error)
  }
  context.checkIsolated(inner)
  return result
}

export function decodeTexts(list: readonly unknown[], context: DecodeContext): readonly unknown[] {
  const inner = context.isolated()
  const texts = list.map((element) => (typeof element === 'string' ? element : textElement(element, inner)))
  context.checkIsolated(inner)
  return texts
}

function textElement(element: unknown, context: DecodeContext): unknown {
  return element === null || element === undefined ? '' : context.recordMismatch(element, 'string')
}
