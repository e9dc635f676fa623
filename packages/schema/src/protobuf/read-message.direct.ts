// Derived from read-message.ts by `npm run direct`: do not edit.

import { memberNames } from '@krmkit/base/work'
import { maxDepth } from '../decode/context.ts'
import type { StructPlan } from '../decode/field-plan.ts'
import { buildObject } from '../decode/struct.ts'
import type { DecodedSize } from '../json/decoded-size.ts'
import { withSortedKeys } from '../json/shape.direct.ts'
import { inOrder } from '../json/shape.ts'
import { DecodeError } from '../schema-error.ts'
import { type EmbeddedForm, type MessagePlan, OpenMessage } from './read-message.ts'
import { expectWire, lengthDelimited, readEnd, readTag, skipValue, type WireReader, wireOf } from './wire.ts'

/**
 * Reads fields up to `limit` and builds the canonical object. Skips unknown fields.
 *
 * @throws DecodeError `Protobuf`, `Value`, `Depth`, `TooLarge`
 */
export function readMessage(plan: MessagePlan, reader: WireReader, limit: number, depth: number): Record<string, unknown> {
  if (depth > maxDepth) throw new DecodeError({ code: 'Depth', message: 'exceeded max depth' })
  const slots: unknown[] = new Array(plan.struct.fields.length).fill(undefined)
  readMembers(plan, reader, slots, limit, depth)
  return finishObject(plan.struct, slots, reader.decodedSize)
}

export function readMembers(plan: MessagePlan, reader: WireReader, slots: unknown[], limit: number, depth: number): void {
  while (reader.pos < limit) {
    const tag = readTag(reader, plan.name)
    const wire = wireOf(tag)
    const member = plan.byNumber.get(Math.floor(tag / 8))
    if (member === undefined) {
      skipValue(reader, wire, limit)
      reader.decodedSize.addDiscarded()
    } else member.read(reader, wire, slots, limit, depth)
    if (reader.pos > limit) throw new DecodeError({ code: 'Protobuf', message: 'unexpected EOF' })
  }
}

/** Reads a message whose fields are members of the enclosing object. */
export function readEmbedded(
  { plan, name }: EmbeddedForm,
  reader: WireReader,
  wire: number,
  slots: unknown[],
  limit: number,
  depth: number,
): void {
  expectWire(wire, lengthDelimited, name)
  readMembers(plan, reader, slots, readEnd(reader, limit), depth + 1)
}

/** Builds the objects of open messages and sorts maps, whose entries are in the order of the sender. */
function finishObject(struct: StructPlan, slots: unknown[], size: DecodedSize): Record<string, unknown> {
  for (const { index } of struct.fields) {
    const value = slots[index]
    if (value instanceof OpenMessage) slots[index] = finishObject(value.plan.struct, value.slots, size)
  }
  for (const { index, field } of struct.fields) {
    const value = slots[index]
    // In already built messages, unset fields are null.
    if (field.type.kind === 'map' && value !== undefined && value !== null)
      slots[index] = sortedMap(value as Record<string, unknown>)
  }
  return buildObject(struct, slots, undefined, { size })
}

function sortedMap(map: Record<string, unknown>): Record<string, unknown> {
  let previous: string | undefined

  for (const key in map) {
    if (previous !== undefined && !inOrder(previous, key)) return withSortedKeys(map, memberNames(map))
    previous = key
  }

  return map
}
