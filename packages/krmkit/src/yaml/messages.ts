import type { DecodeErrorFields } from '@krmkit/schema'
import type { YamlAsJson } from '@krmkit/schema/yaml'

/** Messages between the translator and its worker thread. One task is active at a time. */

export interface YamlTask {
  readonly yaml: Uint8Array
  readonly maxBytes: number
}

export type YamlReply = YamlAsJson | { readonly refused: Omit<DecodeErrorFields, 'cause'> }
