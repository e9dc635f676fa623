import { parseDuration, parseTime, Quantity } from '@krmkit/meta'
import { parseMicroTime } from '@krmkit/meta/time'
import { z } from 'zod'

/** Schema of a string that one of the server's parsers accepts. */

function text(form: string, parse: (value: string) => unknown): z.ZodType {
  return z.string().refine((value) => succeeds(() => parse(value)), { error: `must be ${form}` })
}

function succeeds(parse: () => unknown): boolean {
  try {
    parse()
    return true
  } catch {
    return false
  }
}

/** Schemas of formatted values. Each call returns a new schema, because callers may attach metadata. */
export const formats = {
  time: () => text('a time of RFC 3339, such as 2006-01-02T15:04:05Z', parseTime),
  microTime: () => text('a time of RFC 3339 with six digits of fraction, such as 2006-01-02T15:04:05.000000Z', parseMicroTime),
  duration: () => text('a duration, such as 1h30m or 10s', parseDuration),
  quantity: () => z.union([text('a quantity, such as 500m, 2 or 128Mi', Quantity.parse), z.number()]),
  intOrString: () => z.union([z.int32(), z.string()]),
  bytes: () => z.base64(),
  int32: () => z.int32(),
  int64: () => z.union([z.int(), z.bigint().min(minInt64).max(maxInt64)]),
} as const satisfies Readonly<Record<string, () => z.ZodType>>

const minInt64 = -(2n ** 63n)
const maxInt64 = 2n ** 63n - 1n

export { z }
