import { RandomChoices } from '@krmkit/base/random-choices'
import type { Field, StructType, TypeNode } from '@krmkit/schema'

/**
 * Generates objects of a type as clients may send them, from a seed: any subset of the members, some null or empty, values of
 * every sort that the type allows. Equal seeds give equal objects.
 */

export interface GenerateOptions {
  readonly seed: number
  /** Approximate number of members of the outermost struct; nested ones have fewer. Default 6. */
  readonly breadth?: number
}

export function generateObject(type: StructType, { seed, breadth = 6 }: GenerateOptions): Record<string, unknown> {
  return new Generator(seed, breadth).struct(type, 0)
}

/** Strings that break naive text handling. */
const texts = [
  '',
  'a',
  'b-c',
  'example.com/x',
  '<x>&',
  'é',
  '\u{1f600}',
  '\uffff',
  '10',
  '1e3',
  'null',
  'yes',
  ' ',
  'a: b\n- c',
  '__proto__',
]
const units = ['', 'm', 'k', 'Ki', 'Mi', 'Gi', 'e3', '.5', 'E']

class Generator {
  readonly #random: RandomChoices
  readonly #breadth: number

  constructor(seed: number, breadth: number) {
    this.#random = new RandomChoices(seed)
    this.#breadth = breadth
  }

  struct(type: StructType, depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = {}
    const wanted = Math.max(1, this.#breadth / (depth + 1))
    for (const field of type.fields) {
      if (depth > 7 && field.type.kind !== 'scalar') continue
      if (type.root && (field.json === 'kind' || field.json === 'apiVersion')) {
        // Nested types carry no apiVersion and kind in protobuf.
        if (depth === 0) object[field.json] = field.json === 'kind' ? type.typeName : versionOf(type)
      } else if (depth === 0 || this.#chance(wanted / type.fields.length)) this.#member(object, field, depth)
    }
    return object
  }

  #member(object: Record<string, unknown>, field: Field, depth: number): void {
    if (this.#chance(0.03)) object[field.json] = null
    else object[field.json] = this.#node(field.type, depth + 1, printsNull(field) ? 1 : 0)
  }

  #node(node: TypeNode, depth: number, least = 0): unknown {
    switch (node.kind) {
      case 'scalar':
        return node.enum !== undefined && node.enum.length > 0 && !this.#chance(0.05)
          ? this.#random.pick(node.enum)
          : this.#scalar(node.scalar)
      case 'struct':
        return this.struct(node.struct(), depth)
      case 'list':
        return this.#times(this.#length(depth, least), () => this.#node(node.of, depth + 1))
      case 'map':
        return this.#map(() => this.#node(node.of, depth + 1), this.#length(depth, least))
      case 'special':
        return this.#special(node.special, depth)
    }
  }

  #length(depth: number, least: number): number {
    return Math.max(least, this.#random.below(depth > 4 ? 2 : 3))
  }

  #map(value: () => unknown, size: number): Record<string, unknown> {
    const map: Record<string, unknown> = {}
    for (let i = 0; i < size; i++) {
      Object.defineProperty(map, this.#text(), { value: value(), enumerable: true, configurable: true, writable: true })
    }
    return map
  }

  #scalar(scalar: string): unknown {
    switch (scalar) {
      case 'bool':
        return this.#chance(0.5)
      case 'int32':
        return this.#random.pick([0, 1, -1, 80, 2 ** 31 - 1, -(2 ** 31), this.#random.below(70_000)])
      case 'int64':
        return this.#random.pick<unknown>([
          0,
          1,
          -5,
          3600,
          Number.MAX_SAFE_INTEGER,
          2n ** 62n + 1n,
          -(2n ** 63n),
          this.#random.next(),
        ])
      case 'float64':
        return this.#random.pick([0, 0.5, -1.25e-7, 1e21, this.#random.next() / 7])
      case 'bytes':
        return btoa(String.fromCharCode(...this.#times(this.#random.below(9), () => this.#random.below(256))))
      case 'any':
        return this.#random.pick<unknown>(['x', 1, true, { a: [null] }])
      default:
        return this.#text()
    }
  }

  #special(special: string, depth: number): unknown {
    switch (special) {
      case 'Time':
      case 'Timestamp':
        return `${this.#seconds()}Z`
      case 'MicroTime':
        return `${this.#seconds()}.${String(this.#random.below(1_000_000)).padStart(6, '0')}Z`
      case 'Duration':
        return this.#random.pick(['0s', '1h2m3s', '1.5s', '300ms'])
      case 'Quantity':
      case 'QuantityValue':
        return `${this.#random.pick(['', '-'])}${this.#random.below(5000)}${this.#random.pick(units)}`
      case 'IntOrString':
        return this.#random.pick<unknown>([0, 80, '25%', 'http', this.#text()])
      case 'JSONSchemaPropsOrBool':
        return this.#random.pick<unknown>([true, false, { type: 'string' }])
      case 'JSONSchemaPropsOrArray':
        return this.#random.pick<unknown>([{ type: 'string' }, [{}, { type: 'a' }]])
      case 'JSONSchemaPropsOrStringArray':
        return this.#random.pick<unknown>([{ type: 'string' }, ['a', 'b']])
      case 'GroupVersion':
        return this.#random.pick(['v1', 'apps/v1'])
      case 'RawExtension':
      case 'Unknown':
      case 'RuntimeTypeMeta':
        return this.#random.pick<unknown>([
          { apiVersion: 'b/v1', c: { d: depth }, kind: 'A' },
          { apiVersion: 'v1', kind: 'A', list: [1, 'x', null] },
        ])
      default:
        return this.#random.pick<unknown>([{}, { b: [true, null, 'x'] }, { 'f:c': { '.': {}, 'k:{"a":1}': {} } }])
    }
  }

  /** Years that all encodings can hold. */
  #seconds(): string {
    return new Date(this.#random.next() * 1000).toISOString().slice(0, 19)
  }

  #text(): string {
    if (this.#chance(0.6)) return this.#random.pick(texts)
    return String.fromCodePoint(...this.#times(1 + this.#random.below(6), () => 97 + this.#random.below(26)))
  }

  #times<T>(count: number, make: () => T): T[] {
    return Array.from({ length: count }, make)
  }

  #chance(probability: number): boolean {
    return this.#random.next() / 2 ** 32 < probability
  }
}

function versionOf({ group, version }: StructType): string {
  return group === '' ? version : `${group}/${version}`
}

/** Protobuf decodes an empty list as absent, which JSON shows if the member is always printed. */
function printsNull({ zero }: Field): boolean {
  return zero === null
}
