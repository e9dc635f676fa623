import type { YamlAsJson } from '@krmkit/schema/yaml'

/**
 * Translates YAML to JSON off the event loop.
 *
 * The YAML reader parses a document in one call, which takes a second for 3 MiB. A server with a translator passes it bodies above
 * 64 KiB that are not JSON; a server without one parses them itself and refuses those above 128 KiB.
 */
export interface YamlTranslator {
  /**
   * @param maxBytes limit of the JSON.
   * @throws DecodeError as `yamlToJson`; `TooLarge` also where the translation exceeds its time or memory.
   * @throws ApiError 429 while too many documents wait, 503 when the translation was aborted.
   */
  toJson(yaml: Uint8Array, options: { readonly maxBytes: number; readonly signal: AbortSignal }): Promise<YamlAsJson>
}
