import type { Work } from '@krmkit/base/work'
import { setMember } from '@krmkit/meta'
import type { FieldPlan } from '../decode/field-plan.ts'
import { minDiscardedBytes } from '../json/decoded-size.ts'
import { DecodeError } from '../schema-error.ts'
import type { ValueCodec } from './codec.ts'
import { bytesTag, expectWire, lengthDelimited, readEnd, readTag, readText, skipValue, type WireReader, wireOf } from './wire.ts'

/** Reads one occurrence of a member of a message into `slots`, the slots of the outermost struct. */

/** The properties of a member that reading it needs. */
export interface MemberForm {
  readonly field: FieldPlan
  readonly codec: ValueCodec
  /** Name for errors. */
  readonly name: string
  /** Size of the frame of a list element or of a map entry without its key. */
  readonly frame: number
  /** Tag of the value in a map entry. */
  readonly valueTag: number
}

export function* readSingle(
  { field, codec, name }: MemberForm,
  reader: WireReader,
  wire: number,
  slots: unknown[],
  limit: number,
  depth: number,
): Work {
  expectWire(wire, codec.wire, name)
  const { index } = field
  const earlier = slots[index]
  if (codec.merge !== undefined && isSet(earlier)) {
    reader.decodedSize.addDiscarded()
    slots[index] = codec.merge(earlier, reader, limit, depth + 1)
    return
  }
  // A repeated scalar replaces the earlier value.
  if (earlier !== undefined) reader.decodedSize.replace(earlier, minDiscardedBytes)
  const previous = field.countedSeparately && reader.decodedSize.useSeparateCount(true)
  slots[index] = yield* readValue(codec, reader, limit, depth + 1)
  if (field.countedSeparately) reader.decodedSize.useSeparateCount(previous)
}

export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null
}

function* readValue(codec: ValueCodec, reader: WireReader, limit: number, depth: number): Work<unknown> {
  return codec.paced === undefined ? codec.read(reader, limit, depth) : yield* codec.paced.read(reader, limit, depth)
}

/** Reads one element of a list, or several packed ones. */
export function* readElement(
  { field, codec, name, frame }: MemberForm,
  reader: WireReader,
  wire: number,
  slots: unknown[],
  limit: number,
  depth: number,
): Work {
  const list = (slots[field.index] ?? []) as unknown[]
  slots[field.index] = list
  if (wire === lengthDelimited && codec.packable) {
    const end = readEnd(reader, limit)
    while (reader.pos < end) {
      reader.decodedSize.add(frame)
      list.push(codec.read(reader, end, depth + 1))
    }
    return
  }
  expectWire(wire, codec.wire, name)
  const previous = field.countedSeparately && reader.decodedSize.useSeparateCount(true)
  reader.decodedSize.add(frame)
  list.push(yield* readValue(codec, reader, limit, depth + 1))
  if (field.countedSeparately) reader.decodedSize.useSeparateCount(previous)
}

/** Reads one entry of a map. */
export function* readEntry(
  form: MemberForm,
  reader: WireReader,
  wire: number,
  slots: unknown[],
  limit: number,
  depth: number,
): Work {
  expectWire(wire, lengthDelimited, form.name)
  const size = reader.decodedSize
  const measure = size.beginMeasure()
  const { key, value = form.codec.zero() } = yield* readParts(form, reader, readEnd(reader, limit), depth)
  const bytes = size.endMeasure(measure)
  const { index } = form.field
  const map = (slots[index] ?? {}) as Record<string, unknown>
  slots[index] = map
  if (Object.hasOwn(map, key)) size.replace(map[key], minDiscardedBytes)
  size.add(key.length + form.frame + bytes)
  setMember(map, key, value)
}

export interface MapEntry {
  key: string
  value: unknown
}

function* readParts({ field, codec, valueTag }: MemberForm, reader: WireReader, end: number, depth: number): Work<MapEntry> {
  const entry: MapEntry = { key: '', value: undefined }
  while (reader.pos < end) {
    const tag = readTag(reader, field.owner.typeName)
    if (tag === keyTag) entry.key = readText(reader, end)
    else if (tag === valueTag) entry.value = yield* readValue(codec, reader, end, depth + 1)
    else skipValue(reader, wireOf(tag), end)
    if (reader.pos > end) throw new DecodeError({ code: 'Protobuf', message: 'unexpected EOF' })
  }
  return entry
}

/** Tag of the key in a map entry. */
export const keyTag = bytesTag(1)
