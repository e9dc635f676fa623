import type { Work } from '@krmkit/base/work'
import { jsonWeight } from '../json/json-weight.ts'
import { parseJson } from '../json/parse-json.ts'
import { bytesTag, readBytes, readFields, type WireReader } from './wire.ts'

/** Reads raw JSON, which is text in a message. */

/**
 * Reads JSON; null for an empty message.
 *
 * @throws DecodeError `TooLarge` before parsing when the text itself is too large
 */
export function* readRawJson(reader: WireReader, limit: number): Work<unknown> {
  const raw = rawText(reader, limit)
  if (raw === undefined) return null
  const size = reader.decodedSize
  if (raw.length > largeText) {
    const measure = size.beginMeasure()
    size.add(countNonSpace(raw))
    size.endMeasure(measure)
    yield true
  }
  const { value } = yield* parseJson(raw, { maxDepth: 1000 })
  size.add((yield* jsonWeight(value)) - 1)
  return value
}

export const largeText = 64 * 1024

/** Returns the JSON text; undefined for an empty message. */
export function rawText(reader: WireReader, limit: number): Uint8Array | undefined {
  let raw: Uint8Array | undefined
  readFields(reader, limit, { [bytesTag(1)]: (end) => (raw = readBytes(reader, end)) })
  return raw?.length === 0 ? undefined : raw
}

/** Number of bytes that are not white space: a lower bound of the length of the compact JSON. */
export function countNonSpace(bytes: Uint8Array): number {
  let ink = 0
  for (let i = 0; i < bytes.length; i++) if ((bytes[i] as number) > 0x20) ink++
  return ink
}
