import { ApiError, type Slices } from '@krmkit/meta'
import { DecodeError, type DecodeOptions, type ParsedJson, parseJson, parseJsonInSlices, parseYaml } from '@krmkit/schema'
import type { ServerScope } from '../request-scope.ts'

/**
 * Bodies that take long to read. Smaller ones, nearly all of them, are read in one go.
 *
 * @see docs/decisions/0011-bounded-work.md
 */

/** Larger bodies are read in slices. */
export const largeBodyBytes = 64 * 1024

/** Larger bodies in YAML that are not plain JSON are refused where there is no translator. */
export const inlineYamlBytes = 128 * 1024

/** What a text holds: a value, and what was repeated in it. */
export type ParsedText = { readonly value: unknown } & Pick<DecodeOptions, 'duplicates' | 'problems'>

export interface BodyText {
  readonly bytes: Uint8Array
  readonly encoding: 'json' | 'yaml'
  /** Keep how odd numbers are written; for decoding against types. */
  readonly literals: boolean
  readonly signal: AbortSignal
}

/** A body in one go. @throws DecodeError */
export function parseText({ bytes, encoding, literals }: Pick<BodyText, 'bytes' | 'encoding' | 'literals'>): ParsedText {
  return encoding === 'json' ? parseJson(bytes, { literals }) : parseYaml(bytes)
}

/** The same of a large body, in slices. @throws DecodeError; ApiError 413 for YAML that cannot be read */
export function parseLargeText(scope: ServerScope, text: BodyText, slices: Slices): Promise<ParsedText> {
  const { bytes, encoding, literals } = text
  return encoding === 'json' ? parseJsonInSlices(bytes, { literals }, slices) : parseLargeYaml(scope, text, slices)
}

async function parseLargeYaml(scope: ServerScope, { bytes, literals, signal }: BodyText, slices: Slices): Promise<ParsedText> {
  const plain = await plainJson(bytes, slices)
  if (plain !== undefined) return plain
  const { yamlTranslator: translator, limits } = scope
  if (translator === undefined) {
    if (bytes.byteLength > inlineYamlBytes) throw ApiError.requestEntityTooLarge(`limit of YAML is ${inlineYamlBytes}`)
    return parseYaml(bytes)
  }
  const { json, problems } = await translator.toJson(bytes, { maxBytes: limits.bodyBytes, signal })
  const { value } = await parseJsonInSlices(json, { literals }, slices)
  return { value, problems }
}

/** Clients that apply send JSON most of the time. Whatever is not plain JSON goes the long way, as `parseYaml` does it. */
async function plainJson(bytes: Uint8Array, slices: Slices): Promise<ParsedJson | undefined> {
  if (!opensJson(bytes)) return undefined
  try {
    const parsed = await parseJsonInSlices(bytes, { maxDepth: 400 }, slices)
    return parsed.duplicates === undefined ? parsed : undefined
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

function opensJson(bytes: Uint8Array): boolean {
  for (const byte of bytes) {
    if (byte === 0x7b || byte === 0x5b) return true
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return false
  }
  return false
}
