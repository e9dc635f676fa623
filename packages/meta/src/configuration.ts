import { goQuote } from './go-text.ts'
import { isJsonObject } from './json.ts'
/** Strict parsing of configuration files: unknown members and wrong types are errors. */

import { parseDuration } from './time/duration.ts'

/** The type of a value in a configuration. Durations are written as `1m30s` and parsed as nanoseconds; integers have 32 bits. */
export type ConfigurationSchema = 'string' | 'boolean' | 'integer' | 'duration' | ListSchema | ObjectSchema

export interface ListSchema {
  readonly list: ConfigurationSchema
}

export interface ObjectSchema {
  readonly members: Readonly<Record<string, ConfigurationSchema>>
}

/** The parsed value of a schema; absent and null members are omitted. */
export type ConfigurationValue<S> = S extends 'string'
  ? string
  : S extends 'boolean'
    ? boolean
    : S extends 'integer'
      ? number
      : S extends 'duration'
        ? bigint
        : S extends { readonly list: infer I }
          ? readonly ConfigurationValue<I>[]
          : S extends { readonly members: infer M }
            ? { readonly [K in keyof M]?: ConfigurationValue<M[K]> }
            : never

export interface ConfigurationKind<S extends ObjectSchema> {
  readonly kind: string
  /** The accepted versions. */
  readonly apiVersions: readonly string[]
  /** Members besides `apiVersion` and `kind`. */
  readonly schema: S
}

export type ConfigurationResult<S> =
  | { readonly ok: true; readonly value: ConfigurationValue<S> }
  | { readonly ok: false; readonly message: string }

const maxDepth = 64

/**
 * Parses a configuration of one kind.
 *
 * @param value Parsed JSON or YAML.
 * @param repeated Duplicate key errors of the parser.
 * @example
 * import { parseConfiguration } from '@krmkit/meta/configuration'
 * const value = { apiVersion: 'example.com/v1', kind: 'Widget', timeout: '1m30s' }
 * const schema = { members: { timeout: 'duration' } } as const
 * const result = parseConfiguration(value, { kind: 'Widget', apiVersions: ['example.com/v1'], schema })
 * if (result.ok) console.log(result.value.timeout) // 90000000000n
 */
export function parseConfiguration<const S extends ObjectSchema>(
  value: unknown,
  { kind, apiVersions, schema }: ConfigurationKind<S>,
  repeated: readonly string[] = [],
): ConfigurationResult<S> {
  if (!isJsonObject(value)) return failure('not an object')
  const { apiVersion: version, kind: given, ...rest } = value as Record<string, unknown>
  if (typeof given !== 'string' || given === '') return failure("Object 'Kind' is missing")
  if (typeof version !== 'string' || version === '') return failure("Object 'apiVersion' is missing")
  if (given !== kind || !apiVersions.includes(version))
    return failure(`no kind ${goQuote(given)} is registered for version ${goQuote(version)}`)
  const reader = new ConfigurationParser()
  const read = reader.read(rest, schema, '')
  if (reader.mistakes.length > 0) return failure(reader.mistakes.join(', '))
  const keys = repeated.length === 0 ? [] : [`yaml: unmarshal errors:${repeated.map((line) => `\n  ${line}`).join('')}`]
  const strict = [...keys, ...reader.unknown.map((path) => `unknown field ${JSON.stringify(path)}`)]
  if (strict.length > 0) return failure(`strict decoding error: ${strict.join(', ')}`)
  return { ok: true, value: read as ConfigurationValue<S> }
}

function failure(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message }
}

class ConfigurationParser {
  readonly mistakes: string[] = []
  readonly unknown: string[] = []

  read(value: unknown, shape: ConfigurationSchema, path: string, depth = 0): unknown {
    if (depth > maxDepth) return this.#mistake(path, 'is nested too deeply')
    if (shape === 'string' || shape === 'boolean') {
      return typeof value === shape ? value : this.#mistake(path, `must be a ${shape}`)
    }
    if (shape === 'duration') return this.#duration(value, path)
    if (shape === 'integer') return isInt32(value) ? value : this.#mistake(path, 'must be a 32-bit integer')
    if ('list' in shape) {
      if (!Array.isArray(value)) return this.#mistake(path, 'must be a list')
      return value.map((item, i) => this.read(item ?? zero(shape.list), shape.list, `${path}[${i}]`, depth + 1))
    }
    if (!isJsonObject(value)) return this.#mistake(path, 'must be an object')
    return this.#members(value, shape, { path, depth })
  }

  #members(value: object, { members }: ObjectSchema, place: { readonly path: string; readonly depth: number }): unknown {
    const read: [string, unknown][] = []
    for (const [name, member] of Object.entries(value)) {
      const path = place.path === '' ? name : `${place.path}.${name}`
      const shape = Object.hasOwn(members, name) ? members[name] : undefined
      if (shape === undefined) this.unknown.push(path)
      else if (member !== null && member !== undefined) read.push([name, this.read(member, shape, path, place.depth + 1)])
    }
    return Object.fromEntries(read)
  }

  #duration(value: unknown, path: string): unknown {
    if (typeof value !== 'string') return this.#mistake(path, 'must be a duration such as 30s')
    try {
      return parseDuration(value)
    } catch (error) {
      return this.#mistake(path, (error as Error).message)
    }
  }

  #mistake(path: string, what: string): undefined {
    this.mistakes.push(`${path === '' ? 'configuration' : path}: ${what}`)
    return undefined
  }
}

function isInt32(value: unknown): boolean {
  return typeof value === 'number' && (value | 0) === value
}

const zeros = { string: '', boolean: false, integer: 0, duration: '0s' } as const

/** The value of null items in a list. */
function zero(shape: ConfigurationSchema): unknown {
  if (typeof shape === 'string') return zeros[shape]
  return 'list' in shape ? [] : {}
}
