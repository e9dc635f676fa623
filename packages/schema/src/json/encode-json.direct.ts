// Derived from encode-json.ts by `npm run direct`: do not edit.
import { type EncodeJsonOptions, encodeLine, encoder } from './encode-json.ts'
import { engineJson } from './engine.ts'

/**
 * Encodes a value as UTF-8 JSON in the existing member order; pass canonical objects. Omits `undefined` members.
 *
 * @example
 * import { encodeJson } from '@krmkit/schema'
 * const bytes = encodeJson({ a: '<' }, { newline: true })
 * new TextDecoder().decode(bytes) // '{"a":"\\u003c"}\n'
 */
export function encodeJson(value: unknown, options: EncodeJsonOptions = {}): Uint8Array {
  const text = stringifyJson(value)

  return options.newline === true ? encodeLine(text) : encoder.encode(text)
}

/**
 * As `encodeJson`, but returns text.
 *
 * @example
 * import { stringifyJson } from '@krmkit/schema'
 * stringifyJson({ a: '<' }) // '{"a":"\\u003c"}'
 */
export function stringifyJson(value: unknown): string {
  return engineJson.stringify(value)
}
