import type { YamlAsJson } from '@krmkit/schema/yaml'

/**
 * Translates YAML to JSON off the event loop.
 *
 * The YAML reader parses a document in one call, which takes a second for 3 MiB. A server with a translator passes bodies above 64 KiB that
 * are not JSON to it. A server without a translator parses such bodies itself and refuses bodies above 128 KiB.
 */
export interface YamlTranslator {
  /**
   * @param maxBytes limit of the JSON.
   * @throws DecodeError like `yamlToJson`; `TooLarge` also when the translation exceeds its time or memory limit.
   * @throws ApiError 429 while too many documents wait, 503 when the translation was aborted.
   */
  toJson(yaml: Uint8Array, options: { readonly maxBytes: number; readonly signal: AbortSignal }): Promise<YamlAsJson>
}
