import { setMember } from '@krmkit/meta'
import { compareCodePoints } from '@krmkit/meta/go-text'
import { memberNames, type Work } from '@krmkit/meta/work'
import { minDiscardedBytes } from '../decode/decoded-size.ts'
import type { FieldPlan } from '../decode/field-plan.ts'
import { inOrder } from '../decode/shape.ts'
import { DecodeError } from '../errors.ts'
import type { ValueCodec } from './codec.ts'
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

/** Members of messages: single values, lists and maps. */

export interface MemberPlan {
  readonly number: number
  /** Writes the member with its tag unless it is omitted. `object` is the canonical object of the message. */
  write(writer: WireWriter, object: Record<string, unknown>): void
  /** Reads one occurrence into `slots`, the slots of the outermost struct. */
  read(reader: WireReader, wire: number, slots: unknown[], limit: number, depth: number): void
  /** As `read`, with pauses; absent where the value is never large. Called for length-delimited values only. */
  readSteps?(reader: WireReader, slots: unknown[], limit: number, depth: number): Work
}

export function singleMember(number: number, field: FieldPlan, codec: ValueCodec): MemberPlan {
  const tag = tagOf(number, codec.wire)
  const { json, index, field: facts } = field
  const node = facts.type
  const nullable =
    facts.pointer || node.kind === 'list' || node.kind === 'map' || (node.kind === 'scalar' && node.scalar === 'bytes')
  const schema = node.kind === 'special' && node.struct !== undefined
  const name = facts.goName ?? json
  /** Merges a repeated message into the earlier one; a repeated value of another kind is going to replace it. */
  const mergeRepeated = (reader: WireReader, slots: unknown[], limit: number, depth: number): boolean => {
    const earlier = slots[index]
    if (codec.merge !== undefined && isSet(earlier)) {
      reader.decodedSize.addDiscarded()
      slots[index] = codec.merge(earlier, reader, limit, depth + 1)
      return true
    }
    if (earlier !== undefined) reader.decodedSize.replace(earlier, minDiscardedBytes)
    return false
  }
  return {
    number,
    write(writer, object) {
      const value = object[json]
      if (nullable && (value === undefined || (value === null && !schema))) return
      writer.uint32(tag)
      codec.write(writer, value)
    },
    read(reader, wire, slots, limit, depth) {
      expectWire(wire, codec.wire, name)
      if (mergeRepeated(reader, slots, limit, depth)) return
      const previous = field.countedSeparately && reader.decodedSize.useSeparateCount(true)
      slots[index] = codec.read(reader, limit, depth + 1)
      if (field.countedSeparately) reader.decodedSize.useSeparateCount(previous)
    },
    ...(codec.readSteps !== undefined && {
      *readSteps(reader: WireReader, slots: unknown[], limit: number, depth: number): Work {
        if (mergeRepeated(reader, slots, limit, depth)) return
        const previous = field.countedSeparately && reader.decodedSize.useSeparateCount(true)
        slots[index] = yield* valueSteps(codec, reader, limit, depth + 1)
        if (field.countedSeparately) reader.decodedSize.useSeparateCount(previous)
      },
    }),
  }
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null
}

export function listMember(number: number, field: FieldPlan, codec: ValueCodec): MemberPlan {
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
      expectWire(wire, codec.wire, field.field.goName ?? json)
      const previous = field.countedSeparately && reader.decodedSize.useSeparateCount(true)
      reader.decodedSize.add(frame)
      list.push(codec.read(reader, limit, depth + 1))
      if (field.countedSeparately) reader.decodedSize.useSeparateCount(previous)
    },
    ...(codec.readSteps !== undefined && {
      *readSteps(reader: WireReader, slots: unknown[], limit: number, depth: number): Work {
        const list = (slots[index] ?? []) as unknown[]
        slots[index] = list
        const previous = field.countedSeparately && reader.decodedSize.useSeparateCount(true)
        reader.decodedSize.add(frame)
        list.push(yield* valueSteps(codec, reader, limit, depth + 1))
        if (field.countedSeparately) reader.decodedSize.useSeparateCount(previous)
      },
    }),
  }
}

export function mapMember(number: number, field: FieldPlan, codec: ValueCodec): MemberPlan {
  const tag = bytesTag(number)
  const keyTag = bytesTag(1)
  const valueTag = tagOf(2, codec.wire)
  const { json, index } = field
  const frame = 4 + elementFrame(field)
  const readPart = (reader: WireReader, tag: number, entry: MapEntry, end: number, depth: number): void => {
    if (tag === keyTag) entry.key = readText(reader, end)
    else if (tag === valueTag) entry.value = codec.read(reader, end, depth + 1)
    else skipValue(reader, wireOf(tag), end)
    if (reader.pos > end) throw new DecodeError({ code: 'Protobuf', message: 'unexpected EOF' })
  }
  const readEntry = (reader: WireReader, limit: number, depth: number): MapEntry => {
    const end = readEnd(reader, limit)
    const entry: MapEntry = { key: '', value: undefined }
    while (reader.pos < end) readPart(reader, readTag(reader, field.owner.typeName), entry, end, depth)
    return entry
  }
  function* readEntrySteps(reader: WireReader, limit: number, depth: number): Work<MapEntry> {
    const end = readEnd(reader, limit)
    const entry: MapEntry = { key: '', value: undefined }
    while (reader.pos < end) {
      const entryTag = readTag(reader, field.owner.typeName)
      if (entryTag === valueTag) entry.value = yield* valueSteps(codec, reader, end, depth + 1)
      else readPart(reader, entryTag, entry, end, depth)
      if (reader.pos > end) throw new DecodeError({ code: 'Protobuf', message: 'unexpected EOF' })
    }
    return entry
  }
  const addEntry = (reader: WireReader, slots: unknown[], { value: entry, bytes }: { value: MapEntry; bytes: number }): void => {
    const { key, value = codec.zero() } = entry
    const map = (slots[index] ?? {}) as Record<string, unknown>
    slots[index] = map
    if (Object.hasOwn(map, key)) reader.decodedSize.replace(map[key], minDiscardedBytes)
    reader.decodedSize.add(key.length + frame + bytes)
    setMember(map, key, value)
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
      addEntry(
        reader,
        slots,
        reader.decodedSize.measure(() => readEntry(reader, limit, depth)),
      )
    },
    ...(codec.readSteps !== undefined && {
      *readSteps(reader: WireReader, slots: unknown[], limit: number, depth: number): Work {
        addEntry(reader, slots, yield* reader.decodedSize.measureSteps(readEntrySteps(reader, limit, depth)))
      },
    }),
  }
}

interface MapEntry {
  key: string
  value: unknown
}

function* valueSteps(codec: ValueCodec, reader: WireReader, limit: number, depth: number): Work<unknown> {
  return codec.readSteps === undefined ? codec.read(reader, limit, depth) : yield* codec.readSteps(reader, limit, depth)
}

function elementFrame(field: FieldPlan): number {
  return field.node.of?.frameBytes ?? 1
}

/** The engine moves index-like keys to the front of an object. */
function sortedKeys(map: Record<string, unknown>): readonly string[] {
  const keys = memberNames(map)
  for (let i = 1; i < keys.length; i++) {
    if (!inOrder(keys[i - 1] as string, keys[i] as string)) return [...keys].sort(compareCodePoints)
  }
  return keys
}

/** A list in a separate message, whose field 1 holds the elements. */
export function wrappedListCodec(element: ValueCodec): ValueCodec {
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
        if (reader.pos > end) throw new DecodeError({ code: 'Protobuf', message: 'unexpected EOF' })
      }
      return list
    },
    zero: () => [],
  }
}

export function expectWire(wire: number, expected: number, name: string): void {
  if (wire === expected) return
  throw new DecodeError({
    code: 'Protobuf',
    message: `proto: wrong wireType = ${wire} for field ${name.charAt(0).toUpperCase()}${name.slice(1)}`,
  })
}
