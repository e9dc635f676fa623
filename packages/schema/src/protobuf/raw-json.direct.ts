// Derived from raw-json.ts by `npm run direct`: do not edit.

import { jsonWeight } from '../json/json-weight.direct.ts'
import { parseJson } from '../json/parse-json.direct.ts'
import { countNonSpace, largeText, rawText } from './raw-json.ts'
import type { WireReader } from './wire.ts'

/**
 * Reads JSON; null for an empty message.
 *
 * @throws DecodeError `TooLarge` before parsing when the text itself is too large
 */
export function readRawJson(reader: WireReader, limit: number): unknown {
  const raw = rawText(reader, limit)
  if (raw === undefined) return null
  const size = reader.decodedSize
  if (raw.length > largeText) {
    const measure = size.beginMeasure()
    size.add(countNonSpace(raw))
    size.endMeasure(measure)
  }
  const { value } = parseJson(raw, { maxDepth: 1000 })
  size.add(jsonWeight(value) - 1)
  return value
}
