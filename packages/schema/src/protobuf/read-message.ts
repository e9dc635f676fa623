import { memberNames, rememberKey, type Work } from '@krmkit/base/work'
import { maxDepth } from '../decode/context.ts'
import type { StructPlan } from '../decode/field-plan.ts'
import { buildObject } from '../decode/struct.ts'
import type { DecodedSize } from '../json/decoded-size.ts'
import { inOrder, withSortedKeys } from '../json/shape.ts'
import { DecodeError } from '../schema-error.ts'
import type { MemberPlan } from './members.ts'
import { expectWire, lengthDelimited, peekLength, readEnd, readTag, skipValue, type WireReader, wireOf } from './wire.ts'

/** Reads messages. */

export interface MessagePlan {
  readonly name: string
  readonly struct: StructPlan
  readonly members: readonly MemberPlan[]
  readonly byNumber: ReadonlyMap<number, MemberPlan>
}

/**
 * Reads fields up to `limit` and builds the canonical object. Skips unknown fields.
 *
 * @throws DecodeError `Protobuf`, `Value`, `Depth`, `TooLarge`
 */
export function* readMessage(plan: MessagePlan, reader: WireReader, limit: number, depth: number): Work<Record<string, unknown>> {
  if (depth > maxDepth) throw new DecodeError({ code: 'Depth', message: 'exceeded max depth' })
  const slots: unknown[] = new Array(plan.struct.fields.length).fill(undefined)
  yield* readMembers(plan, reader, slots, limit, depth)
  return yield* finishObject(plan.struct, slots, reader.decodedSize)
}

/** Fields read between two yields. */
const fieldsPerStep = 64

/** Values shorter than this are read in one step. */
const shortValue = 4096

export function* readMembers(plan: MessagePlan, reader: WireReader, slots: unknown[], limit: number, depth: number): Work {
  let count = 0
  while (reader.pos < limit) {
    const tag = readTag(reader, plan.name)
    const wire = wireOf(tag)
    const member = plan.byNumber.get(Math.floor(tag / 8))
    if (member === undefined) {
      skipValue(reader, wire, limit)
      reader.decodedSize.addDiscarded()
    } else if (member.paced !== undefined && wire === lengthDelimited && peekLength(reader, limit) > shortValue)
      yield* member.paced.read(reader, wire, slots, limit, depth)
    else member.read(reader, wire, slots, limit, depth)
    if (reader.pos > limit) throw new DecodeError({ code: 'Protobuf', message: 'unexpected EOF' })
    if (++count % fieldsPerStep === 0) yield
  }
}

export interface EmbeddedForm {
  readonly plan: MessagePlan
  /** Name of the field, for errors. */
  readonly name: string
}

/** Reads a message whose fields are members of the enclosing object. */
export function* readEmbedded(
  { plan, name }: EmbeddedForm,
  reader: WireReader,
  wire: number,
  slots: unknown[],
  limit: number,
  depth: number,
): Work {
  expectWire(wire, lengthDelimited, name)
  yield* readMembers(plan, reader, slots, readEnd(reader, limit), depth + 1)
}

/**
 * A message with more than one occurrence. Its object is built at the end of the enclosing message, so that many occurrences
 * take linear time.
 */
export class OpenMessage {
  readonly plan: MessagePlan
  readonly slots: unknown[]

  constructor(plan: MessagePlan, object: object) {
    this.plan = plan
    this.slots = plan.struct.fields.map(({ json }) => (object as Record<string, unknown>)[json])
  }
}

/** Builds the objects of open messages and sorts maps, whose entries are in the order of the sender. */
function* finishObject(struct: StructPlan, slots: unknown[], size: DecodedSize): Work<Record<string, unknown>> {
  for (const { index } of struct.fields) {
    const value = slots[index]
    if (value instanceof OpenMessage) slots[index] = yield* finishObject(value.plan.struct, value.slots, size)
  }
  for (const { index, field } of struct.fields) {
    const value = slots[index]
    // In already built messages, unset fields are null.
    if (field.type.kind === 'map' && value !== undefined && value !== null)
      slots[index] = yield* sortedMap(value as Record<string, unknown>)
  }
  return buildObject(struct, slots, undefined, { size })
}

function* sortedMap(map: Record<string, unknown>): Work<Record<string, unknown>> {
  let previous: string | undefined
  let count = 0
  const keys = memberNames(map)
  if (keys.length > fieldsPerStep) yield true
  for (const key of keys) {
    if (previous !== undefined && !inOrder(previous, key)) return yield* withSortedKeys(map, keys)
    previous = key
    if (++count % fieldsPerStep === 0) yield
  }
  rememberKey(map, keys)
  return map
}
