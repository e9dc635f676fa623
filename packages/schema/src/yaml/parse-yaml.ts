import { runAtOnce, type Work } from '@krmkit/meta/work'
import { DecodeError } from '../errors.ts'
import { type ParsedJson, parseJson, parseJsonSteps } from '../json/parse-json.ts'
import { construct } from './construct.ts'
import { readNodes } from './read-nodes.ts'
import { yamlErrorPrefix } from './yaml-error.ts'
import { isYamlJsonSteps } from './yaml-json.ts'
import { decodeYamlText, type YamlText } from './yaml-text.ts'

/** Converts YAML text to a JSON value, as the stock server does before decoding. */

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
 * Times stay text, keys become strings, and the last of duplicate keys wins.
 *
 * @throws DecodeError `Yaml` (syntax, unknown anchors, non-scalar keys, numbers without a JSON form), `Aliasing`, `Depth`.
 * @example
 * import { parseYaml } from '@krmkit/schema'
 * parseYaml('data:\n  a: "1"\n').value // { data: { a: '1' } }
 */
export function parseYaml(input: Uint8Array | string, { literals = false }: ParseYamlOptions = {}): ParsedYaml {
  const text = decodeYamlText(input)
  return parseAsJson(text) ?? parseFull(text, literals)
}

/**
 * The value of a text of YAML that is JSON, as most configurations are: large ones need no worker. As a generator, which can be
 * interrupted at each yield.
 *
 * @returns undefined for a text that is not JSON or that YAML reads in another way.
 * @example
 * import { runAtOnce } from '@krmkit/meta/work'
 * import { yamlAsJsonSteps } from '@krmkit/schema/yaml'
 * const bytes = new TextEncoder().encode('{"replicas":3}')
 * runAtOnce(yamlAsJsonSteps(bytes))?.value // { replicas: 3 }
 */
export function* yamlAsJsonSteps(input: Uint8Array): Work<ParsedYaml | undefined> {
  const { text, unreadable } = decodeYamlText(input)
  yield
  if (unreadable !== undefined || !(yield* isYamlJsonSteps(text))) return undefined
  try {
    const { value, duplicates } = yield* parseJsonSteps(input, { maxDepth: maxJsonDepth })
    return duplicates === undefined ? { value, problems: noProblems } : undefined
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

/** Fast path: appliers mostly send JSON. */
function parseAsJson({ text, unreadable }: YamlText): ParsedYaml | undefined {
  if (unreadable !== undefined || !runAtOnce(isYamlJsonSteps(text))) return undefined
  try {
    const { value, duplicates } = parseJson(text, { maxDepth: maxJsonDepth })
    return duplicates === undefined ? { value, problems: noProblems } : undefined
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

/** Deeper texts are left to the YAML reader. */
const maxJsonDepth = 400

function parseFull({ text, unreadable }: YamlText, literals: boolean): ParsedYaml {
  try {
    const root = readNodes(text, unreadable)
    return root === undefined ? { value: null, problems: noProblems } : construct(root, { literals })
  } catch (error) {
    if (error instanceof RangeError) throw new DecodeError({ code: 'Depth', message: `${yamlErrorPrefix}exceeded max depth` })
    throw error
  }
}

const noProblems: readonly string[] = Object.freeze([])
