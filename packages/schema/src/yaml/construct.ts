import { setMember } from '@krmkit/meta'
import { goFloat, goQuote, goSyntax } from '@krmkit/meta/go-text'
import { DecodeError } from '../errors.ts'
import { NumberLiteral } from '../json/syntax.ts'
import { shortestFloat, shortestFloat32 } from './go-float.ts'
import type { AliasYaml, MappingYaml, YamlNode } from './nodes.ts'
import { yamlErrorPrefix } from './read-nodes.ts'
import { type Resolved, resolveScalar } from './resolve.ts'

/**
 * Converts a YAML tree to a JSON value: expands aliases within a budget, applies merge keys in place, converts keys to strings, and
 * reports duplicate keys, of which the last wins.
 */

export interface Constructed {
  readonly value: unknown
  /** For example `line 7: key "k" already set in map`, in document order. */
  readonly problems: readonly string[]
}

/** @throws DecodeError `Yaml` for values without a JSON form, `Aliasing` */
export function construct(root: YamlNode, source: string): Constructed {
  const builder = new ValueBuilder(source)
  const value = builder.value(root)
  return { value, problems: builder.problems }
}

/** Maximum number of reported duplicates. Differs: the stock server reports all. */
const maxProblems = 100

/** Maximum characters that aliases may repeat: the JSON form of more would not fit in memory. */
const maxRepeatedText = 32 * 1024 * 1024

class ValueBuilder {
  readonly problems: string[] = []
  readonly #following = new Set<AliasYaml>()
  readonly #lines: LineCounter
  /** Number of visited values, followed by the number of those visited through an alias. */
  #count = 0
  #aliased = 0
  #repeatedText = 0

  constructor(source: string) {
    this.#lines = new LineCounter(source)
  }

  value(node: YamlNode): unknown {
    this.#charge(node)
    switch (node.kind) {
      case 'scalar':
        return jsonValue(resolveScalar(node.text, node.tag, node.plain))
      case 'sequence':
        return node.items.map((item) => this.value(item))
      case 'mapping':
        return this.#mapping(node)
      case 'alias':
        return this.#follow(node, () => this.value(node.target))
    }
  }

  /** As in the stock server, the allowed share of aliased values shrinks as the document grows. */
  #charge(node: YamlNode): void {
    this.#count++
    if (this.#following.size === 0) return
    this.#aliased++
    if (node.kind === 'scalar') this.#repeatedText += node.text.length
    const excessive = this.#aliased > 100 && this.#count > 1000 && this.#aliased / this.#count > allowedShare(this.#count)
    if (excessive || this.#repeatedText > maxRepeatedText)
      throw new DecodeError({ code: 'Aliasing', message: `${yamlErrorPrefix}document contains excessive aliasing` })
  }

  #follow<V>(alias: AliasYaml, read: () => V): V {
    if (this.#following.has(alias))
      throw new DecodeError({ code: 'Yaml', message: `${yamlErrorPrefix}anchor '${alias.name}' value contains itself` })
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
      const id = `${key.type}:${keyText(key, value)}`
      if (seen.has(id) && this.problems.length < maxProblems) {
        this.problems.push(`line ${this.#lines.at(valueNode.start)}: key ${keySyntax(key)} already set in map`)
      }
      seen.add(id)
      setMember(object, keyText(key, value), value)
    }
  }

  #key(node: YamlNode): Resolved {
    this.#charge(node)
    if (node.kind === 'scalar') return resolveScalar(node.text, node.tag, node.plain)
    if (node.kind === 'alias') return this.#follow(node, () => this.#key(node.target))
    throw new DecodeError({
      code: 'Yaml',
      message: `${yamlErrorPrefix}invalid map key: ${goSyntax(this.value(node)).replaceAll('map[string]', 'map[interface {}]')}`,
    })
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
      throw new DecodeError({
        code: 'Yaml',
        message: `${yamlErrorPrefix}map merge requires map or sequence of maps as the value`,
      })
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

function jsonValue(resolved: Resolved): unknown {
  if (resolved.type === 'float' && !Number.isFinite(resolved.value)) {
    throw new DecodeError({
      code: 'Yaml',
      message: `error converting YAML to JSON: json: unsupported value: ${goFloat(resolved.value)}`,
    })
  }
  return resolved.value
}

/** Converts a key to a string as the stock server's converter does: floats with 32-bit precision. */
function keyText(key: Resolved, value: unknown): string {
  if (key.type === 'float') return shortestFloat32(key.value)
  if (key.type === 'null' || key.value instanceof NumberLiteral) {
    const type = key.type === 'null' ? '%!s(<nil>), key: <nil>' : `uint64, key: ${(key.value as NumberLiteral).text}`
    throw new DecodeError({
      code: 'Yaml',
      message: `error converting YAML to JSON: unsupported map key of type: ${type}, value: ${goSyntax(value)}`,
    })
  }
  return String(key.value)
}

function keySyntax(key: Resolved): string {
  if (typeof key.value === 'string') return goQuote(key.value)
  return key.type === 'float' ? shortestFloat(key.value) : String(key.value)
}

/** Line numbers, counted from 1. Optimized for increasing offsets. */
class LineCounter {
  readonly #source: string
  #offset = 0
  #line = 1

  constructor(source: string) {
    this.#source = source
  }

  at(offset: number): number {
    if (offset < this.#offset) {
      this.#offset = 0
      this.#line = 1
    }
    for (
      let next = this.#source.indexOf('\n', this.#offset);
      next >= 0 && next < offset;
      next = this.#source.indexOf('\n', this.#offset)
    ) {
      this.#offset = next + 1
      this.#line++
    }
    return this.#line
  }
}
