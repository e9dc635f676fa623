import type { DecodeErrorCode, DecodeErrorLocation, YamlAsJson } from '@krmkit/schema'

/** What the translator and its thread send each other. One task is under way at a time. */

export interface YamlTask {
  readonly yaml: Uint8Array
  readonly maxBytes: number
}

export type YamlReply =
  | YamlAsJson
  | { readonly refused: { readonly code: DecodeErrorCode; readonly message: string; readonly place: DecodeErrorLocation } }
