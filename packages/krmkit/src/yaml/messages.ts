import type { DecodeErrorCode, DecodeErrorLocation, YamlAsJson } from '@krmkit/schema'

/** Messages between the translator and its worker thread. One task is active at a time. */

export interface YamlTask {
  readonly yaml: Uint8Array
  readonly maxBytes: number
}

export type YamlReply =
  | YamlAsJson
  | { readonly refused: { readonly code: DecodeErrorCode; readonly message: string; readonly place: DecodeErrorLocation } }
