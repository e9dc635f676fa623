import { NumberLiteral } from '../json/syntax.ts'
import { DecodeError } from '../schema-error.ts'
import { parseYaml } from './parse-yaml.ts'

/**
 * Converts YAML to JSON text, for programs that parse YAML in a worker thread: text is cheap to transfer and can be parsed in
 * slices.
 */

export interface YamlAsJson {
  /** JSON text: `parseJson` with `literals` gives the same value as `parseYaml` with `literals`. */
  readonly json: Uint8Array
  /** Problems, as in `parseYaml`. */
  readonly problems: readonly string[]
}

/**
 * Converts the first document to JSON.
 *
 * @throws DecodeError as `parseYaml`; `TooLarge` when aliases expand to more than `maxBytes` of JSON.
 * @example
 * import { parseJson } from '@krmkit/schema'
 * import { yamlToJson } from '@krmkit/schema/yaml'
 * const { json } = yamlToJson(new TextEncoder().encode('replicas: 3\n'), { maxBytes: 3_000_000 })
 * parseJson(json).value // { replicas: 3 }
 */
export function yamlToJson(input: Uint8Array, { maxBytes }: { readonly maxBytes: number }): YamlAsJson {
  const { value, problems } = parseYaml(input, { literals: true })
  const writer = new JsonWriter(maxBytes)
  writer.write(value)
  return { json: new TextEncoder().encode(writer.text()), problems }
}

class JsonWriter {
  readonly #parts: string[] = []
  readonly #maxLength: number
  #length = 0

  constructor(maxLength: number) {
    this.#maxLength = maxLength
  }

  text(): string {
    return this.#parts.join('')
  }

  write(value: unknown): void {
    if (typeof value === 'bigint') this.#add(value.toString())
    else if (typeof value !== 'object' || value === null) this.#add(JSON.stringify(value) ?? 'null')
    else if (value instanceof NumberLiteral) this.#add(value.text)
    else if (Array.isArray(value)) this.#list(value)
    else this.#object(value as Record<string, unknown>)
  }

  #list(list: readonly unknown[]): void {
    this.#add('[')
    for (let i = 0; i < list.length; i++) {
      if (i > 0) this.#add(',')
      this.write(list[i])
    }
    this.#add(']')
  }

  #object(object: Record<string, unknown>): void {
    this.#add('{')
    let separator = ''
    for (const key in object) {
      this.#add(`${separator}${JSON.stringify(key)}:`)
      this.write(object[key])
      separator = ','
    }
    this.#add('}')
  }

  #add(text: string): void {
    this.#parts.push(text)
    this.#length += text.length
    if (this.#length > this.#maxLength)
      throw new DecodeError({ code: 'TooLarge', message: `more than ${this.#maxLength} bytes of JSON` })
  }
}
