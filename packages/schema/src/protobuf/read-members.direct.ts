// Derived from read-members.ts by `npm run direct`: do not edit.

import { setMember } from '@krmkit/meta'
import { minDiscardedBytes } from '../json/decoded-size.ts'
import { DecodeError } from '../schema-error.ts'
import type { ValueCodec } from './codec.ts'
import { isSet, keyTag, type MapEntry, type MemberForm } from './read-members.ts'
import { expectWire, lengthDelimited, readEnd, readTag, readText, skipValue, type WireReader, wireOf } from './wire.ts'

export function readSingle(
  { field, codec, name }: MemberForm,
  reader: WireReader,
  wire: number,
  slots: unknown[],
  limit: number,
  depth: number,
): void {
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
  slots[index] = readValue(codec, reader, limit, depth + 1)
  if (field.countedSeparately) reader.decodedSize.useSeparateCount(previous)
}

function readValue(codec: ValueCodec, reader: WireReader, limit: number, depth: number): unknown {
  return codec.read(reader, limit, depth)
}

/** Reads one element of a list, or several packed ones. */
export function readElement(
  { field, codec, name, frame }: MemberForm,
  reader: WireReader,
  wire: number,
  slots: unknown[],
  limit: number,
  depth: number,
): void {
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
  list.push(readValue(codec, reader, limit, depth + 1))
  if (field.countedSeparately) reader.decodedSize.useSeparateCount(previous)
}

/** Reads one entry of a map. */
export function readEntry(
  form: MemberForm,
  reader: WireReader,
  wire: number,
  slots: unknown[],
  limit: number,
  depth: number,
): void {
  expectWire(wire, lengthDelimited, form.name)
  const size = reader.decodedSize
  const measure = size.beginMeasure()
  const { key, value = form.codec.zero() } = readParts(form, reader, readEnd(reader, limit), depth)
  const bytes = size.endMeasure(measure)
  const { index } = form.field
  const map = (slots[index] ?? {}) as Record<string, unknown>
  slots[index] = map
  if (Object.hasOwn(map, key)) size.replace(map[key], minDiscardedBytes)
  size.add(key.length + form.frame + bytes)
  setMember(map, key, value)
}

function readParts({ field, codec, valueTag }: MemberForm, reader: WireReader, end: number, depth: number): MapEntry {
  const entry: MapEntry = { key: '', value: undefined }
  while (reader.pos < end) {
    const tag = readTag(reader, field.owner.typeName)
    if (tag === keyTag) entry.key = readText(reader, end)
    else if (tag === valueTag) entry.value = readValue(codec, reader, end, depth + 1)
    else skipValue(reader, wireOf(tag), end)
    if (reader.pos > end) throw new DecodeError({ code: 'Protobuf', message: 'unexpected EOF' })
  }
  return entry
}
