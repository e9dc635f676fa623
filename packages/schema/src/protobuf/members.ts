import { memberNames, type Work } from '@krmkit/base/work'
import { compareCodePoints } from '@krmkit/meta/go-text'
import type { FieldPlan } from '../decode/field-plan.ts'
import { inOrder } from '../json/shape.ts'
import { DecodeError } from '../schema-error.ts'
import type { ValueCodec } from './codec.ts'
import { readElement, readEntry, readSingle } from './read-members.direct.ts'
import * as paced from './read-members.ts'
import { keyTag, type MemberForm } from './read-members.ts'
import {
  bytesTag,
  lengthDelimited,
  readEnd,
  readTag,
  skipValue,
  tagOf,
  type WireReader,
  type WireWriter,
  wireOf,
} from './wire.ts'

/** Members of messages: single values, lists and maps. */

/** Reads one occurrence into `slots`, the slots of the outermost struct. */
type ReadMember<R> = (reader: WireReader, wire: number, slots: unknown[], limit: number, depth: number) => R

export interface MemberPlan {
  readonly number: number
  /** Writes the member with its tag unless it is omitted. `object` is the canonical object of the message. */
  write(writer: WireWriter, object: Record<string, unknown>): void
  readonly read: ReadMember<void>
  /** The pausable form; absent for values that are never large. */
  readonly paced?: { readonly read: ReadMember<Work> }
}

export function singleMember(number: number, field: FieldPlan, codec: ValueCodec): MemberPlan {
  const tag = tagOf(number, codec.wire)
  const { json, field: facts } = field
  const node = facts.type
  const nullable =
    facts.pointer || node.kind === 'list' || node.kind === 'map' || (node.kind === 'scalar' && node.scalar === 'bytes')
  const schema = node.kind === 'special' && node.struct !== undefined
  const form: MemberForm = { field, codec, name: facts.goName ?? json, frame: 0, valueTag: 0 }
  return {
    number,
    write(writer, object) {
      const value = object[json]
      if (nullable && (value === undefined || (value === null && !schema))) return
      writer.uint32(tag)
      codec.write(writer, value)
    },
    read: (reader, wire, slots, limit, depth) => readSingle(form, reader, wire, slots, limit, depth),
    ...(codec.paced !== undefined && {
      paced: { read: (reader, wire, slots, limit, depth) => paced.readSingle(form, reader, wire, slots, limit, depth) },
    }),
  }
}

export function listMember(number: number, field: FieldPlan, codec: ValueCodec): MemberPlan {
  const tag = tagOf(number, codec.wire)
  const { json } = field
  const form: MemberForm = { field, codec, name: field.field.goName ?? json, frame: 1 + elementFrame(field), valueTag: 0 }
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
    read: (reader, wire, slots, limit, depth) => readElement(form, reader, wire, slots, limit, depth),
    ...(codec.paced !== undefined && {
      paced: { read: (reader, wire, slots, limit, depth) => paced.readElement(form, reader, wire, slots, limit, depth) },
    }),
  }
}

export function mapMember(number: number, field: FieldPlan, codec: ValueCodec): MemberPlan {
  const tag = bytesTag(number)
  const valueTag = tagOf(2, codec.wire)
  const { json } = field
  const form: MemberForm = { field, codec, name: json, frame: 4 + elementFrame(field), valueTag }
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
    read: (reader, wire, slots, limit, depth) => readEntry(form, reader, wire, slots, limit, depth),
    ...(codec.paced !== undefined && {
      paced: { read: (reader, wire, slots, limit, depth) => paced.readEntry(form, reader, wire, slots, limit, depth) },
    }),
  }
}

function elementFrame(field: FieldPlan): number {
  return field.node.of?.frameBytes ?? 1
}

/** Returns sorted keys, because JavaScript moves index-like keys to the front of an object. */
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
