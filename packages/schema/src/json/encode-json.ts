import type { Work } from '@krmkit/base/work'
import { engineJson } from './engine.ts'

/** Encodes values as JSON the way Go prints it: no spaces; `<`, `>`, `&` and the two line separators escaped. */

export interface EncodeJsonOptions {
  /** End with a newline, as responses of kube-apiserver do. Default false. */
  readonly newline?: boolean
}

/**
 * Encodes a value as UTF-8 JSON in the existing member order; pass canonical objects. Omits `undefined` members.
 *
 * @example
 * import { encodeJson } from '@krmkit/schema'
 * const bytes = encodeJson({ a: '<' }, { newline: true })
 * new TextDecoder().decode(bytes) // '{"a":"\\u003c"}\n'
 */
export function* encodeJson(value: unknown, options: EncodeJsonOptions = {}): Work<Uint8Array> {
  const text = yield* stringifyJson(value)
  yield true
  return options.newline === true ? encodeLine(text) : encoder.encode(text)
}

/** Text and a newline in UTF-8. Avoids a copy for ASCII text, which nearly all JSON is. */
export function encodeLine(text: string): Uint8Array {
  const { length } = text
  const bytes = new Uint8Array(length + 1)
  const { read, written } = encoder.encodeInto(text, bytes)
  if (read !== length || written !== length) return encoder.encode(`${text}\n`)
  bytes[length] = 0x0a
  return bytes
}

export const encoder = new TextEncoder()

/**
 * As `encodeJson`, but returns text.
 *
 * @example
 * import { stringifyJson } from '@krmkit/schema'
 * stringifyJson({ a: '<' }) // '{"a":"\\u003c"}'
 */
export function* stringifyJson(value: unknown): Work<string> {
  return yield* engineJson.paced.stringify(value)
}
