import type { Work } from '@krmkit/base/work'
import type { ParsedJson } from '../json/parse-json.ts'
import { DecodeError } from '../schema-error.ts'
import { construct } from './construct.ts'
import { readNodes } from './read-nodes.ts'
import { yamlErrorPrefix } from './yaml-error.ts'
import { parseAsJson } from './yaml-json.direct.ts'
import * as paced from './yaml-json.ts'
import { decodeYamlText, type YamlText } from './yaml-text.ts'

/** Converts YAML text to a JSON value, as kube-apiserver does before decoding. */

export interface ParsedYaml extends Pick<ParsedJson, 'value'> {
  /** Duplicate keys: `line 7: key "k" already set in map`. */
  readonly problems: readonly string[]
}

export interface ParseYamlOptions {
  /** Integers from 2^63 to 2^64-1 are `NumberLiteral`, for decoding against types; otherwise numbers, as in Go. Default false. */
  readonly literals?: boolean
}

/**
 * Reads the first document and ignores the rest. An empty text is null. Accepts JSON.
 *
 * Times stay strings, keys become strings, and the last of duplicate keys is used.
 *
 * @throws DecodeError `Yaml` (syntax, unknown anchors, non-scalar keys, numbers without a JSON form), `Aliasing`, `Depth`.
 * @example
 * import { parseYaml } from '@krmkit/schema'
 * parseYaml('data:\n  a: "1"\n').value // { data: { a: '1' } }
 */
export function parseYaml(input: Uint8Array | string, { literals = false }: ParseYamlOptions = {}): ParsedYaml {
  const text = decodeYamlText(input)
  // Clients that apply mostly send JSON.
  return parseAsJson(text) ?? parseFull(text, literals)
}

/**
 * Parses YAML text that is JSON, as most applied configurations are, so that large ones need no worker. Pausable.
 *
 * @returns undefined for a text that is not JSON or that YAML reads differently.
 * @example
 * import { runAtOnce } from '@krmkit/base/work'
 * import { parseYamlAsJson } from '@krmkit/schema/yaml'
 * const bytes = new TextEncoder().encode('{"replicas":3}')
 * runAtOnce(parseYamlAsJson(bytes))?.value // { replicas: 3 }
 */
export function* parseYamlAsJson(input: Uint8Array): Work<ParsedYaml | undefined> {
  const text = decodeYamlText(input)
  yield
  return yield* paced.parseAsJson(text)
}

function parseFull({ text, unreadable }: YamlText, literals: boolean): ParsedYaml {
  try {
    const root = readNodes(text, unreadable)
    return root === undefined ? { value: null, problems: [] } : construct(root, { literals })
  } catch (error) {
    if (error instanceof RangeError) throw new DecodeError({ code: 'Depth', message: `${yamlErrorPrefix}exceeded max depth` })
    throw error
  }
}
