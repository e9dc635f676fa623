import { type Pace, runPaced } from '@krmkit/base/work'
import { ApiError } from '@krmkit/meta'
import { type DecodeOptions, parseJson, parseYaml } from '@krmkit/schema'
import type { CborCodec } from '@krmkit/schema/cbor'
import { parseJsonInSlices } from '@krmkit/schema/json'
import { parseYamlAsJson } from '@krmkit/schema/yaml'
import type { ServerScope } from '../request/scope.ts'

/**
 * Parses large bodies in slices. Small bodies, nearly all of them, are parsed at once.
 *
 * @see docs/internals/decisions/0011-bounded-work.md
 */

/** YAML bodies above this size that are not JSON are refused when no YAML translator is configured. */
export const inlineYamlBytes = 128 * 1024

/** The parsed value of a body, and the repeated keys. */
export type ParsedText = { readonly value: unknown } & Pick<DecodeOptions, 'duplicates' | 'problems'>

/** Encodings of a JSON value. */
export type TextEncoding = 'json' | 'yaml' | 'cbor'

export interface BodyText {
  readonly bytes: Uint8Array
  readonly encoding: TextEncoding
  /** Whether to keep the literals of numbers that JavaScript cannot represent, for decoding against types. */
  readonly literals: boolean
  readonly signal: AbortSignal
}

/** Parses a body at once. @param cbor required for CBOR. @throws DecodeError */
export function parseText(
  { bytes, encoding, literals }: Pick<BodyText, 'bytes' | 'encoding' | 'literals'>,
  cbor?: CborCodec,
): ParsedText {
  if (encoding === 'cbor') return { value: cbor?.decode(bytes) }
  return encoding === 'json' ? parseJson(bytes, { literals }) : parseYaml(bytes, { literals })
}

/** Parses a large body in slices. @throws DecodeError; ApiError 413 for YAML without a translator */
export function parseLargeText(scope: ServerScope, text: BodyText, pace: Pace): Promise<ParsedText> {
  const { bytes, encoding, literals } = text
  const { cbor } = scope.responses
  if (encoding === 'cbor' && cbor !== undefined) return runPaced(cbor.paced.decode(bytes), pace).then((value) => ({ value }))
  return encoding === 'json' ? parseJsonInSlices(bytes, { literals }, pace) : parseLargeYaml(scope, text, pace)
}

async function parseLargeYaml(scope: ServerScope, { bytes, literals, signal }: BodyText, pace: Pace): Promise<ParsedText> {
  // Most apply bodies are JSON although their media type is YAML; only other YAML needs the translator.
  const plain = await runPaced(parseYamlAsJson(bytes), pace)
  if (plain !== undefined) return plain
  const { yamlTranslator: translator, limits } = scope
  if (translator === undefined) {
    if (bytes.byteLength > inlineYamlBytes) throw ApiError.requestEntityTooLarge(`limit of YAML is ${inlineYamlBytes}`)
    return parseYaml(bytes, { literals })
  }
  const { json, problems } = await translator.toJson(bytes, { maxBytes: limits.bodyBytes, signal })
  const { value } = await parseJsonInSlices(json, { literals }, pace)
  return { value, problems }
}
