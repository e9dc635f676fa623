import type { JsonValue } from '@krmkit/meta'

/** The scalar types of the generated modules. */

/** RFC 3339, whole seconds, UTC: `2001-02-03T04:05:06Z`. */
export type Time = string
/** RFC 3339, microseconds, UTC: `2001-02-03T04:05:06.000007Z`. */
export type MicroTime = string
/** As Go prints durations: `1h2m3.5s`. */
export type Duration = string
/** A number with a suffix: `100m`, `1.5Gi`, `2e3`. A string after decoding. */
export type Quantity = string
/** A number, or a percentage or name. */
export type IntOrString = number | string
/** Standard base64 with padding. */
export type Base64 = string
/** An object of any kind, or any JSON object. */
export type RawObject = { [member: string]: unknown }
/** Any JSON value. */
export type AnyValue = JsonValue
