import { compareCodePoints } from '@krmkit/meta/go-text'
import { maxDepth } from '../decode/context.ts'
import { type DecodedSize, minDiscardedBytes } from '../decode/decoded-size.ts'
import type { FieldPlan, StructPlan } from '../decode/field-plan.ts'
import { planOf } from '../decode/plan.ts'
import { inOrder, withSortedKeys } from '../decode/shape.ts'
import { buildObject } from '../decode/struct.ts'
import { DecodeError, SchemaError } from '../errors.ts'
import type { ProtoMember, StructType, TypeNode } from '../interfaces.ts'
import { setMember } from '../json/syntax.ts'
import { scalarCodec, type ValueCodec } from './codec.ts'
import { specialCodec } from './special.ts'
import {
  bytesTag,
  lengthDelimited,
  readEnd,
  readTag,
  readText,
  skipValue,
  tagOf,
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

interface MemberPlan {
  readonly number: number
  /** Writes the member with its tag unless it is omitted. `object` is the canonical object of the message. */
  write(writer: WireWriter, object: Record<string, unknown>): void
  /** Reads one occurrence into `slots`, the slots of the outermost struct. */
  read(reader: WireReader, wire: number, slots: unknown[], limit: number, depth: number): void
}

/** A cache: entries depend on the type only. */
const plans = new WeakMap<StructType, MessagePlan>()

function messageOf(type: StructType): MessagePlan {
  const known = plans.get(type)
  if (known !== undefined) return known
  if (type.proto === undefined) throw new SchemaError('NoProtobuf', `${type.name} has no protobuf form`)
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
  if (depth > maxDepth) throw new DecodeError('Depth', 'exceeded max depth')
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
    if (reader.pos > limit) throw new DecodeError('Protobuf', 'unexpected EOF')
  }
}

/** Sorts maps: their entries arrive in the order of the sender. */
function finishObject(struct: StructPlan, slots: unknown[], size: DecodedSize): Record<string, unknown> {
  for (const field of struct.fields) {
    const value = slots[field.index]
    if (field.field.type.kind === 'map' && value !== undefined) slots[field.index] = sorted(value as Record<string, unknown>)
  }
  return buildObject(struct, slots, undefined, size)
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
  }
}

function fieldMember(member: ProtoMember & { kind: 'field' }, type: StructType, struct: StructPlan): MemberPlan {
  const field = struct.byName.get(member.field.json)
  if (field === undefined) throw new SchemaError('BadFacts', `${type.name} lacks its field ${member.field.json}`)
  const node = member.field.type
  if (node.kind === 'list' && !node.protoWrapped) return listMember(member.number, field, valueCodec(node.of))
  if (node.kind === 'map' && !node.protoWrapped) return mapMember(member.number, field, valueCodec(node.of))
  return singleMember(member.number, field, valueCodec(node))
}

function singleMember(number: number, field: FieldPlan, codec: ValueCodec): MemberPlan {
  const tag = tagOf(number, codec.wire)
  const { json, index, field: facts } = field
  const node = facts.type
  const nullable =
    facts.pointer || node.kind === 'list' || node.kind === 'map' || (node.kind === 'scalar' && node.scalar === 'bytes')
  const schema = node.kind === 'special' && node.struct !== undefined
  return {
    number,
    write(writer, object) {
      const value = object[json]
      if (nullable && (value === undefined || (value === null && !schema))) return
      writer.uint32(tag)
      codec.write(writer, value)
    },
    read(reader, wire, slots, limit, depth) {
      expectWire(wire, codec.wire, json)
      if (slots[index] !== undefined) reader.decodedSize.replace(slots[index], minDiscardedBytes)
      const previous = field.countedSeparately && reader.decodedSize.useSeparateCount(true)
      slots[index] = codec.read(reader, limit, depth + 1)
      if (field.countedSeparately) reader.decodedSize.useSeparateCount(previous)
    },
  }
}

function listMember(number: number, field: FieldPlan, codec: ValueCodec): MemberPlan {
  const tag = tagOf(number, codec.wire)
  const { json, index } = field
  const frame = 1 + elementFrame(field)
  return {
    number,
    write(writer, object) {
      const list = object[json] as unknown[] | null | undefined
      if (list === undefined || list === null) return
      for (const element of list) {
        writer.uint32(tag)
        codec.write(writer, element)
      }
    },
    read(reader, wire, slots, limit, depth) {
      const list = (slots[index] ?? []) as unknown[]
      slots[index] = list
      if (wire === lengthDelimited && codec.packable) {
        const end = readEnd(reader, limit)
        while (reader.pos < end) {
          reader.decodedSize.add(frame)
          list.push(codec.read(reader, end, depth + 1))
        }
        return
      }
      expectWire(wire, codec.wire, json)
      const previous = field.countedSeparately && reader.decodedSize.useSeparateCount(true)
      reader.decodedSize.add(frame)
      list.push(codec.read(reader, limit, depth + 1))
      if (field.countedSeparately) reader.decodedSize.useSeparateCount(previous)
    },
  }
}

function mapMember(number: number, field: FieldPlan, codec: ValueCodec): MemberPlan {
  const tag = bytesTag(number)
  const keyTag = bytesTag(1)
  const valueTag = tagOf(2, codec.wire)
  const { json, index } = field
  const frame = 4 + elementFrame(field)
  const readEntry = (reader: WireReader, limit: number, depth: number): { key: string; value: unknown } => {
    const end = readEnd(reader, limit)
    const entry = { key: '', value: undefined as unknown }
    while (reader.pos < end) {
      const entryTag = readTag(reader, field.owner.typeName)
      if (entryTag === keyTag) entry.key = readText(reader, end)
      else if (entryTag === valueTag) entry.value = codec.read(reader, end, depth + 1)
      else skipValue(reader, wireOf(entryTag), end)
      if (reader.pos > end) throw new DecodeError('Protobuf', 'unexpected EOF')
    }
    return entry
  }
  return {
    number,
    write(writer, object) {
      const map = object[json] as Record<string, unknown> | null | undefined
      if (map === undefined || map === null) return
      for (const key of sortedKeys(map)) {
        writer.uint32(tag).fork()
        writer.uint32(keyTag).string(key)
        const value = map[key]
        if (value !== null || codec.omitsNull !== true) {
          writer.uint32(valueTag)
          codec.write(writer, value)
        }
        writer.ldelim()
      }
    },
    read(reader, wire, slots, limit, depth) {
      expectWire(wire, lengthDelimited, json)
      const { decodedSize: size } = reader
      const { value: entry, bytes } = size.measure(() => readEntry(reader, limit, depth))
      const { key, value = codec.zero() } = entry
      const map = (slots[index] ?? {}) as Record<string, unknown>
      slots[index] = map
      if (Object.hasOwn(map, key)) size.replace(map[key], minDiscardedBytes)
      size.add(key.length + frame + bytes)
      setMember(map, key, value)
    },
  }
}

function elementFrame(field: FieldPlan): number {
  return field.node.of?.frameBytes ?? 1
}

/** The engine moves index-like keys to the front of an object. */
function sortedKeys(map: Record<string, unknown>): string[] {
  const keys = Object.keys(map)
  for (let i = 1; i < keys.length; i++) {
    if (!inOrder(keys[i - 1] as string, keys[i] as string)) return keys.sort(compareCodePoints)
  }
  return keys
}

function valueCodec(node: TypeNode): ValueCodec {
  switch (node.kind) {
    case 'scalar': {
      const codec = scalarCodec(node.scalar)
      if (codec === undefined) throw new SchemaError('NoProtobuf', `a value of type ${node.scalar} has no protobuf form`)
      return codec
    }
    case 'struct':
      return structCodec(node.struct)
    case 'special':
      return specialCodec(node, structCodec)
    case 'list':
      return wrappedListCodec(valueCodec(node.of))
    case 'map':
      throw new SchemaError('NoProtobuf', 'a map of maps has no protobuf form')
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
    zero: () => buildObject(planOf(struct()), []),
  }
}

/** A list in a separate message, whose field 1 holds the elements. */
function wrappedListCodec(element: ValueCodec): ValueCodec {
  const tag = tagOf(1, element.wire)
  return {
    wire: lengthDelimited,
    write(writer, value) {
      writer.fork()
      for (const item of (value ?? []) as unknown[]) {
        writer.uint32(tag)
        element.write(writer, item)
      }
      writer.ldelim()
    },
    read(reader, limit, depth) {
      const end = readEnd(reader, limit)
      const list: unknown[] = []
      while (reader.pos < end) {
        const next = readTag(reader, 'list')
        if (next === tag) {
          reader.decodedSize.add(2)
          list.push(element.read(reader, end, depth + 1))
        } else {
          skipValue(reader, wireOf(next), end)
          reader.decodedSize.addDiscarded()
        }
        if (reader.pos > end) throw new DecodeError('Protobuf', 'unexpected EOF')
      }
      return list
    },
    zero: () => [],
  }
}

function expectWire(wire: number, expected: number, name: string): void {
  if (wire === expected) return
  throw new DecodeError('Protobuf', `proto: wrong wireType = ${wire} for field ${name.charAt(0).toUpperCase()}${name.slice(1)}`)
}
