import { setMember } from '@krmkit/meta'
import { goFloat, goQuote, goSyntax, shortestFloat, shortestFloat32 } from '@krmkit/meta/go-text'
import { NumberLiteral } from '../json/syntax.ts'
import { DecodeError } from '../schema-error.ts'
import type { AliasYaml, MappingYaml, YamlNode } from './nodes.ts'
import { type Resolved, resolveScalar } from './resolve.ts'
import { yamlError } from './yaml-error.ts'

/**
 * Converts a YAML tree to a JSON value: expands aliases within a budget, applies merge keys in place, converts keys to
 * strings, and reports duplicate keys; the last value is used.
 */

export interface Constructed {
  readonly value: unknown
  /** For example `line 7: key "k" already set in map`, in document order. */
  readonly problems: readonly string[]
}

/** @throws DecodeError `Yaml` for values without a JSON form, `Aliasing` */
export function construct(root: YamlNode, { literals }: { readonly literals: boolean }): Constructed {
  const builder = new ValueBuilder(literals)
  const value = builder.value(root)
  builder.checkJson(value)
  return { value, problems: builder.problems }
}

/** Maximum number of reported duplicates. Differs: kube-apiserver reports all. */
const maxProblems = 100

/** Maximum number of characters that aliases may repeat, because the expanded JSON must fit in memory. */
const maxRepeatedText = 32 * 1024 * 1024

class ValueBuilder {
  readonly problems: string[] = []
  readonly #following = new Set<AliasYaml>()
  readonly #literals: boolean
  /** Number of visited values, followed by the number of those visited through an alias. */
  #count = 0
  #aliased = 0
  #repeatedText = 0
  /** Whether a number is infinite or not a number. */
  #infinite = false
  /** Errors of objects with keys that JSON cannot express. */
  readonly #badKeys = new Map<unknown, DecodeError>()

  constructor(literals: boolean) {
    this.#literals = literals
  }

  value(node: YamlNode): unknown {
    this.#charge(node)
    switch (node.kind) {
      case 'scalar':
        return this.#scalar(resolveScalar(node.text, node.tag, node.plain))
      case 'sequence':
        return node.items.map((item) => this.value(item))
      case 'mapping':
        return this.#mapping(node)
      case 'alias':
        return this.#follow(node, () => this.value(node.target))
    }
  }

  #scalar({ type, value }: Resolved): unknown {
    if (type === 'float') return this.#float(value)
    return value instanceof NumberLiteral && !this.#literals ? value.value : value
  }

  /** Converts a float. Go writes whole floats to JSON without a fraction, so `1.0`, `-0.0` and `1e18` become integers. */
  #float(value: number): number | bigint {
    if (!Number.isFinite(value)) this.#infinite = true
    if (Number.isSafeInteger(value)) return value + 0
    if (!Number.isInteger(value) || Math.abs(value) > 2 ** 63) return value
    // The shortest digits that identify the float, padded with zeros.
    const integer = BigInt(String(value))
    return BigInt.asIntN(64, integer) === integer ? integer : value
  }

  /**
   * Rejects keys and numbers without a JSON form. Runs last, because a value that a later duplicate replaces need not have a
   * JSON form.
   *
   * @throws DecodeError `Yaml`
   */
  checkJson(value: unknown): void {
    if (this.#badKeys.size > 0) visit(value, (each) => throwIfPresent(this.#badKeys.get(each)))
    if (this.#infinite) visit(value, (each) => throwIfPresent(numberError(each)))
  }

  /** As in kube-apiserver, the allowed share of aliased values shrinks as the document grows. */
  #charge(node: YamlNode): void {
    this.#count++
    if (this.#following.size === 0) return
    this.#aliased++
    if (node.kind === 'scalar') this.#repeatedText += node.text.length
    const excessive = this.#aliased > 100 && this.#count > 1000 && this.#aliased / this.#count > allowedShare(this.#count)
    if (excessive || this.#repeatedText > maxRepeatedText) throw yamlError('document contains excessive aliasing', 'Aliasing')
  }

  #follow<V>(alias: AliasYaml, read: () => V): V {
    if (this.#following.has(alias)) throw yamlError(`anchor '${alias.name}' value contains itself`)
    this.#following.add(alias)
    const result = read()
    this.#following.delete(alias)
    return result
  }

  #mapping(node: MappingYaml): Record<string, unknown> {
    const object: Record<string, unknown> = {}
    this.#fill(node, object, new Set())
    return object
  }

  /** @param seen typed keys: `1` and `"1"` differ until they are converted to strings. */
  #fill(node: MappingYaml, object: Record<string, unknown>, seen: Set<string>): void {
    for (let i = 0; i < node.items.length; i += 2) {
      const keyNode = node.items[i] as YamlNode
      const valueNode = node.items[i + 1] as YamlNode
      if (isMerge(keyNode)) {
        this.#merge(valueNode, object, seen)
        continue
      }
      const key = this.#key(keyNode)
      const value = this.value(valueNode)
      const id = `${key.type}:${String(key.value instanceof NumberLiteral ? key.value.text : key.value)}`
      if (seen.has(id) && !Number.isNaN(key.value) && this.problems.length < maxProblems) {
        this.problems.push(`line ${(valueNode.line ?? 0) + 1}: key ${keySyntax(key)} already set in map`)
      }
      seen.add(id)
      const name = keyText(key)
      // Zeros of both signs are the same key; the last one determines the sign.
      if (key.value === 0 && key.type === 'float') delete object[name === '0' ? '-0' : '0']
      if (name !== undefined) setMember(object, name, value)
      else this.#badKeys.set(object, keyError(key, value))
    }
  }

  #key(node: YamlNode): Resolved {
    this.#charge(node)
    if (node.kind === 'scalar') return resolveScalar(node.text, node.tag, node.plain)
    if (node.kind === 'alias') return this.#follow(node, () => this.#key(node.target))
    throw yamlError(`invalid map key: ${yamlSyntax(this.value(node))}`)
  }

  #merge(node: YamlNode, object: Record<string, unknown>, seen: Set<string>): void {
    // Earlier mappings take precedence, so they are applied last.
    const sources = node.kind === 'sequence' ? node.items.toReversed() : [node]
    for (const source of sources) this.#mergeOne(source, object, seen)
  }

  #mergeOne(node: YamlNode, object: Record<string, unknown>, seen: Set<string>): void {
    this.#charge(node)
    if (node.kind === 'mapping') {
      this.#fill(node, object, seen)
      return
    }
    if (node.kind !== 'alias' || node.target.kind !== 'mapping') {
      throw yamlError('map merge requires map or sequence of maps as the value')
    }
    const { target } = node
    this.#follow(node, () => this.#fill(target, object, seen))
  }
}

const smallDocument = 400_000
const largeDocument = 4_000_000

function allowedShare(count: number): number {
  if (count <= smallDocument) return 0.99
  if (count >= largeDocument) return 0.1
  return 0.99 - 0.89 * ((count - smallDocument) / (largeDocument - smallDocument))
}

function isMerge(node: YamlNode): boolean {
  return (
    node.kind === 'scalar' &&
    node.text === '<<' &&
    (node.tag === 'tag:yaml.org,2002:merge' || (node.tag === '' && node.plain) || node.tag === '!')
  )
}

/** Calls a function for every value, in the order in which Go writes JSON. */
function visit(value: unknown, check: (value: unknown) => void): void {
  check(value)
  if (typeof value !== 'object' || value === null || value instanceof NumberLiteral) return
  if (Array.isArray(value)) for (const item of value) visit(item, check)
  else for (const key of Object.keys(value).sort()) visit((value as Record<string, unknown>)[key], check)
}

function throwIfPresent(error: DecodeError | undefined): void {
  if (error !== undefined) throw error
}

function numberError(value: unknown): DecodeError | undefined {
  if (typeof value !== 'number' || Number.isFinite(value)) return undefined
  return jsonError(`json: unsupported value: ${goFloat(value)}`)
}

function jsonError(problem: string): DecodeError {
  return new DecodeError({ code: 'Yaml', message: `error converting YAML to JSON: ${problem}` })
}

/** Converts a key to a string as kube-apiserver does: floats with 32-bit precision. @returns undefined for null and large integers */
function keyText(key: Resolved): string | undefined {
  if (key.type === 'float') return shortestFloat32(key.value)
  return key.type === 'null' || key.value instanceof NumberLiteral ? undefined : String(key.value)
}

function keyError({ value: key }: Resolved, value: unknown): DecodeError {
  const type = key instanceof NumberLiteral ? `uint64, key: 0x${BigInt(key.text).toString(16)}` : '%!s(<nil>), key: <nil>'
  return jsonError(`unsupported map key of type: ${type}, value: ${yamlSyntax(value)}`)
}

/** A value in Go syntax, as its YAML reader represents it. */
function yamlSyntax(value: unknown): string {
  return value === null ? '<nil>' : goSyntax(value).replaceAll('map[string]', 'map[interface {}]')
}

function keySyntax(key: Resolved): string {
  if (typeof key.value === 'string') return goQuote(key.value)
  if (key.value === null) return '<nil>'
  return key.type === 'float' ? shortestFloat(key.value) : String(key.value)
}
