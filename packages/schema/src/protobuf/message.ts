import type { Work } from '@krmkit/meta/work'
import { maxDepth } from '../decode/context.ts'
import type { DecodedSize } from '../decode/decoded-size.ts'
import type { StructPlan } from '../decode/field-plan.ts'
import { planOf } from '../decode/plan.ts'
import { inOrder, sortedKeysSteps, withSortedKeys } from '../decode/shape.ts'
import { buildObject } from '../decode/struct.ts'
import { DecodeError, SchemaError } from '../errors.ts'
import type { ProtoMember, StructType, TypeNode } from '../interfaces.ts'

import { scalarCodec, type ValueCodec } from './codec.ts'
import { expectWire, listMember, type MemberPlan, mapMember, singleMember, wrappedListCodec } from './members.ts'
import { specialCodec } from './special.ts'
import {
  bytesTag,
  lengthDelimited,
  peekLength,
  readEnd,
  readTag,
  skipValue,
  type WireReader,
  type WireWriter,
  wireOf,
} from './wire.ts'

/**
 * Messages by field number, as Go's generated code writes them: ascending numbers, maps sorted by key, non-pointer fields always
 * present.
 */

interface MessagePlan {
  readonly name: string
  readonly struct: StructPlan
  readonly members: readonly MemberPlan[]
  readonly byNumber: ReadonlyMap<number, MemberPlan>
}

/** A cache: entries depend on the type only. */
const plans = new WeakMap<StructType, MessagePlan>()

function messageOf(type: StructType): MessagePlan {
  const known = plans.get(type)
  if (known !== undefined) return known
  if (type.proto === undefined) throw new SchemaError({ code: 'NoProtobuf', message: `${type.name} has no protobuf form` })
  const plan = messagePlan(type, type.proto, planOf(type))
  plans.set(type, plan)
  return plan
}

function messagePlan(type: StructType, members: readonly ProtoMember[], struct: StructPlan): MessagePlan {
  const made = members.map((member) =>
    member.kind === 'embedded' ? embeddedMember(member, struct) : fieldMember(member, type, struct),
  )
  return { name: type.typeName, struct, members: made, byNumber: new Map(made.map((member) => [member.number, member])) }
}

/**
 * Writes the fields of a canonical object.
 *
 * @throws SchemaError `NoProtobuf` for types without protobuf.
 */
export function writeMessage(type: StructType, object: Record<string, unknown>, writer: WireWriter): void {
  for (const member of messageOf(type).members) member.write(writer, object)
}

/**
 * Reads fields up to `limit` and builds the canonical object. Skips unknown fields.
 *
 * @throws DecodeError `Protobuf`, `Value`, `Depth`, `TooLarge`
 */
export function readMessage(type: StructType, reader: WireReader, limit: number, depth: number): Record<string, unknown> {
  if (depth > maxDepth) throw new DecodeError({ code: 'Depth', message: 'exceeded max depth' })
  const plan = messageOf(type)
  const slots: unknown[] = new Array(plan.struct.fields.length).fill(undefined)
  readMembers(plan, reader, slots, limit, depth)
  return finishObject(plan.struct, slots, reader.decodedSize)
}

function readMembers(plan: MessagePlan, reader: WireReader, slots: unknown[], limit: number, depth: number): void {
  while (reader.pos < limit) {
    const tag = readTag(reader, plan.name)
    const member = plan.byNumber.get(Math.floor(tag / 8))
    if (member === undefined) {
      skipValue(reader, wireOf(tag), limit)
      reader.decodedSize.addDiscarded()
    } else member.read(reader, wireOf(tag), slots, limit, depth)
    if (reader.pos > limit) throw new DecodeError({ code: 'Protobuf', message: 'unexpected EOF' })
  }
}

/**
 * As `readMessage`, with pauses.
 *
 * @throws DecodeError as `readMessage`
 */
export function* readMessageSteps(
  type: StructType,
  reader: WireReader,
  limit: number,
  depth: number,
): Work<Record<string, unknown>> {
  if (depth > maxDepth) throw new DecodeError({ code: 'Depth', message: 'exceeded max depth' })
  const plan = messageOf(type)
  const slots: unknown[] = new Array(plan.struct.fields.length).fill(undefined)
  yield* readMembersSteps(plan, reader, slots, limit, depth)
  closeMessages(plan.struct, slots, reader.decodedSize)
  for (const field of plan.struct.fields) {
    const value = slots[field.index]
    if (field.field.type.kind !== 'map' || value === undefined) continue
    slots[field.index] = yield* sortedKeysSteps(value as Record<string, unknown>)
  }
  return buildObject(plan.struct, slots, undefined, { size: reader.decodedSize })
}

/** Fields read between two yields. */
const fieldsPerStep = 64

/** Shorter messages are read in one step. */
const shortMessage = 4096

function* readMembersSteps(plan: MessagePlan, reader: WireReader, slots: unknown[], limit: number, depth: number): Work {
  for (let count = 1; reader.pos < limit; count++) {
    const tag = readTag(reader, plan.name)
    const member = plan.byNumber.get(Math.floor(tag / 8))
    if (member === undefined) {
      skipValue(reader, wireOf(tag), limit)
      reader.decodedSize.addDiscarded()
    } else if (member.readSteps !== undefined && wireOf(tag) === lengthDelimited && peekLength(reader, limit) > shortMessage) {
      yield* member.readSteps(reader, slots, limit, depth)
    } else member.read(reader, wireOf(tag), slots, limit, depth)
    if (reader.pos > limit) throw new DecodeError({ code: 'Protobuf', message: 'unexpected EOF' })
    if (count % fieldsPerStep === 0) yield
  }
}

/**
 * A message of which more than one occurrence was read. Its object is built when the enclosing message ends, so that many occurrences
 * take linear time.
 */
class OpenMessage {
  readonly plan: MessagePlan
  readonly slots: unknown[]

  constructor(type: StructType, object: Record<string, unknown>) {
    this.plan = messageOf(type)
    this.slots = this.plan.struct.fields.map(({ json }) => object[json])
  }
}

/** Builds the objects of the open messages among the fields. */
function closeMessages(struct: StructPlan, slots: unknown[], size: DecodedSize): void {
  for (const { index } of struct.fields) {
    const value = slots[index]
    if (value instanceof OpenMessage) slots[index] = finishObject(value.plan.struct, value.slots, size)
  }
}

/** Sorts maps: their entries arrive in the order of the sender. */
function finishObject(struct: StructPlan, slots: unknown[], size: DecodedSize): Record<string, unknown> {
  closeMessages(struct, slots, size)
  for (const field of struct.fields) {
    const value = slots[field.index]
    if (field.field.type.kind === 'map' && isMap(value)) slots[field.index] = sorted(value as Record<string, unknown>)
  }
  return buildObject(struct, slots, undefined, { size })
}

/** Fields of messages that were built before hold null where they are unset. */
function isMap(value: unknown): boolean {
  return value !== undefined && value !== null
}

function sorted(map: Record<string, unknown>): Record<string, unknown> {
  let previous: string | undefined
  for (const key in map) {
    if (previous !== undefined && !inOrder(previous, key)) return withSortedKeys(map)
    previous = key
  }
  return map
}

/** An inline struct: part of the same JSON object, but a separate message. */
function embeddedMember(member: ProtoMember & { kind: 'embedded' }, struct: StructPlan): MemberPlan {
  const inner = member.struct()
  const plan = messagePlan(inner, inner.proto ?? [], struct)
  const tag = bytesTag(member.number)
  return {
    number: member.number,
    write(writer, object) {
      writer.uint32(tag).fork()
      for (const part of plan.members) part.write(writer, object)
      writer.ldelim()
    },
    read(reader, wire, slots, limit, depth) {
      expectWire(wire, lengthDelimited, member.name)
      readMembers(plan, reader, slots, readEnd(reader, limit), depth + 1)
    },
    readSteps: (reader, slots, limit, depth) => readMembersSteps(plan, reader, slots, readEnd(reader, limit), depth + 1),
  }
}

function fieldMember(member: ProtoMember & { kind: 'field' }, type: StructType, struct: StructPlan): MemberPlan {
  const field = struct.byName.get(member.field.json)
  if (field === undefined)
    throw new SchemaError({ code: 'BadFacts', message: `${type.name} lacks its field ${member.field.json}` })
  const node = member.field.type
  if (node.kind === 'list' && !node.protoWrapped) return listMember(member.number, field, valueCodec(node.of))
  if (node.kind === 'map' && !node.protoWrapped) return mapMember(member.number, field, valueCodec(node.of))
  return singleMember(member.number, field, valueCodec(node))
}

function valueCodec(node: TypeNode): ValueCodec {
  switch (node.kind) {
    case 'scalar': {
      const codec = scalarCodec(node.scalar)
      if (codec === undefined)
        throw new SchemaError({ code: 'NoProtobuf', message: `a value of type ${node.scalar} has no protobuf form` })
      return codec
    }
    case 'struct':
      return structCodec(node.struct)
    case 'special':
      return specialCodec(node, structCodec)
    case 'list':
      return wrappedListCodec(valueCodec(node.of))
    case 'map':
      throw new SchemaError({ code: 'NoProtobuf', message: 'a map of maps has no protobuf form' })
  }
}

function structCodec(struct: () => StructType): ValueCodec {
  return {
    wire: lengthDelimited,
    write(writer, value) {
      writer.fork()
      writeMessage(struct(), (value ?? {}) as Record<string, unknown>, writer)
      writer.ldelim()
    },
    read(reader, limit, depth) {
      return readMessage(struct(), reader, readEnd(reader, limit), depth)
    },
    readSteps: (reader, limit, depth) => readMessageSteps(struct(), reader, readEnd(reader, limit), depth),
    merge(previous, reader, limit, depth) {
      if (depth > maxDepth) throw new DecodeError({ code: 'Depth', message: 'exceeded max depth' })
      const open = previous instanceof OpenMessage ? previous : new OpenMessage(struct(), previous as Record<string, unknown>)
      readMembers(open.plan, reader, open.slots, readEnd(reader, limit), depth)
      return open
    },
    zero: () => buildObject(planOf(struct()), []),
  }
}
