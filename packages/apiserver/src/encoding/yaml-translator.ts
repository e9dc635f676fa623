import type { YamlAsJson } from '@krmkit/schema'

/**
 * Translates YAML to JSON off the event loop.
 *
 * The YAML library reads a document in one call, which takes a second for 3 MiB. A server that gets a translator hands it the bodies
 * above 64 KiB that are not plain JSON; one that gets none reads them itself and refuses those above 128 KiB.
 */
export interface YamlTranslator {
  /**
   * @param maxBytes bytes that the JSON may have.
   * @throws DecodeError as `yamlToJson`; `TooLarge` also where the document takes too much time or memory.
   * @throws ApiError 429 while too much is waiting, 503 when the translation ended early.
   */
  toJson(yaml: Uint8Array, options: { readonly maxBytes: number; readonly signal: AbortSignal }): Promise<YamlAsJson>
}
