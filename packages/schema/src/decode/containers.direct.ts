// Derived from containers.ts by `npm run direct`: do not edit.

import { memberNames } from '@krmkit/base/work'
import { setMember } from '@krmkit/meta'
import { withSortedKeys } from '../json/shape.direct.ts'
import { inOrder, isParsedObject } from '../json/shape.ts'
import { DecodeError } from '../schema-error.ts'
import { type ContainerPlan, countedZero, decodeTexts, isTextNode, type SchemaForm } from './containers.ts'
import type { DecodeContext, MemberSegments } from './context.ts'
import type { NodePlan, StructPlan } from './field-plan.ts'
import { goTypeName } from './go-type.ts'
import { decodeStruct } from './struct.direct.ts'

export function decodeList({ node, of: element }: ContainerPlan, value: unknown, context: DecodeContext): unknown {
  if (!Array.isArray(value)) return context.recordMismatch(value, goTypeName(node))
  context.size.add(value.length * (1 + element.frameBytes))
  const list: unknown[] = []

  for (let i = 0; i < value.length; i++) {
    const item: unknown = value[i]
    context.enter(i)
    let decoded: unknown
    if (item !== null && item !== undefined) decoded = element.decode(item, context)
    context.leave()
    list.push(decoded === undefined ? countedZero(element, context) : decoded)
  }
  return list
}

function decodeNode(plan: NodePlan, value: unknown, context: DecodeContext): unknown {
  return plan.decode(value, context)
}

export function decodeMap(plan: ContainerPlan, value: unknown, context: DecodeContext): unknown {
  if (!isParsedObject(value)) return context.recordMismatch(value, goTypeName(plan.node))
  const segments = context.segmentsOf(value)
  if (segments !== undefined) return decodeRepeated(plan, segments, context)
  const holdsTexts = isTextNode(plan.of)
  const map: Record<string, unknown> = {}
  let previous: string | undefined
  let isSorted = true

  for (const key in value) {
    const member = value[key]
    if (holdsTexts && typeof member === 'string') {
      context.size.add(key.length + 4 + plan.of.frameBytes + member.length)
      setMember(map, key, member)
    } else setMember(map, key, decodeMember(plan.of, key, member, context))
    isSorted &&= previous === undefined || inOrder(previous, key)
    previous = key
  }
  if (!isSorted) return withSortedKeys(map, memberNames(value))

  return map
}

function decodeMember(element: NodePlan, key: string, value: unknown, context: DecodeContext): unknown {
  context.size.add(key.length + 4 + element.frameBytes)
  if (value === null || value === undefined) return countedZero(element, context)
  context.enterKey(key)
  const decoded = decodeNode(element, value, context)
  context.leave()
  return decoded === undefined ? countedZero(element, context) : decoded
}

/** Decodes all repeated members in order, to report their problems; the last value wins. */
function decodeRepeated({ of }: ContainerPlan, segments: MemberSegments, context: DecodeContext): unknown {
  const map: Record<string, unknown> = {}

  for (const members of segments) {
    const seen = new Set<string>()
    for (const [key, value] of members) {
      if (seen.has(key)) context.duplicate(key)
      seen.add(key)
      if (Object.hasOwn(map, key)) context.size.replace(map[key])
      setMember(map, key, decodeMember(of, key, value, context))
    }
  }
  return withSortedKeys(map, memberNames(map))
}

/** Decodes a `JSONSchemaPropsOr…` value, a schema or an alternative, in isolation as Go does. */
export function decodeSchema(form: SchemaForm, value: unknown, context: DecodeContext): unknown {
  if (isParsedObject(value)) return decodeIsolated(form.plan(), value, context)
  if (form.special === 'JSONSchemaPropsOrBool') {
    if (typeof value === 'boolean') return value
    throw new DecodeError({ code: 'Value', message: 'boolean or JSON schema expected' })
  }
  if (!Array.isArray(value) || value.length === 0) return null
  if (form.special !== 'JSONSchemaPropsOrArray') return decodeTexts(value, context)
  const list: unknown[] = []
  for (const element of value) list.push(element === null ? form.zero() : decodeIsolated(form.plan(), element, context))
  return list
}

function decodeIsolated(plan: StructPlan, value: unknown, context: DecodeContext): unknown {
  const inner = context.isolated()
  let result: unknown
  try {
    result = decodeStruct(plan, value, inner)
  } catch (error) {
    throw context.outerError(error)
  }
  context.checkIsolated(inner)
  return result
}
