import { memberNames, type Work } from '@krmkit/base/work'
import { sortKeys } from './shape.ts'

/**
 * Writes JSON that the engine cannot: 64-bit integers, objects with index-like keys in byte order, and large values in
 * pausable form.
 */

/** Collects parts of a text. Parts are joined in chunks, because joining many parts in one step takes long. */
export class TextParts {
  #parts: string[] = []
  readonly #chunks: string[] = []
  readonly #convert: (text: string) => string

  /** @param convert applied to every joined chunk */
  constructor(convert: (text: string) => string = (text) => text) {
    this.#convert = convert
  }

  push(part: string): void {
    if (this.#parts.push(part) > partsPerChunk) this.#join()
  }

  text(): string {
    this.#join()
    return this.#chunks.join('')
  }

  #join(): void {
    this.#chunks.push(this.#convert(this.#parts.join('')))
    this.#parts = []
  }
}

const partsPerChunk = 4096

/** Writes a value without HTML escapes. Omits `undefined` members. */
export function* writeJson(value: unknown, parts: TextParts): Work {
  if (!isContainer(value)) parts.push(scalarJson(value))
  else if (Array.isArray(value)) yield* writeList(value, parts)
  else yield* writeObject(value, parts)
}

/** Members written between two yields. */
const membersPerStep = 128

function* writeList(list: readonly unknown[], parts: TextParts): Work {
  let separator = '['
  let count = 0
  for (const element of list) {
    if (isContainer(element)) {
      parts.push(separator)
      yield* writeJson(element, parts)
    } else parts.push(separator + scalarJson(element))
    separator = ','
    if (++count % membersPerStep === 0) yield
  }
  parts.push(separator === ',' ? ']' : '[]')
}

function* writeObject(object: Readonly<Record<string, unknown>>, parts: TextParts): Work {
  const keys = memberNames(object)
  if (keys.length > membersPerStep) yield true
  let separator = '{'
  let count = 0
  for (const key of startsWithIndex(object, keys) ? yield* sortKeys([...keys]) : keys) {
    const member = object[key]
    if (member === undefined) continue
    const start = `${separator}${JSON.stringify(key)}:`
    if (isContainer(member)) {
      parts.push(start)
      yield* writeJson(member, parts)
    } else parts.push(start + scalarJson(member))
    separator = ','
    if (++count % membersPerStep === 0) yield
  }
  parts.push(separator === ',' ? '}' : '{}')
}

export function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

export function scalarJson(value: unknown): string {
  return typeof value === 'bigint' ? value.toString() : (JSON.stringify(value) ?? 'null')
}

/** Whether an index-like key is printed. Such keys come first in engine order. */
export function startsWithIndex(object: Readonly<Record<string, unknown>>, keys: readonly string[]): boolean {
  for (const key of keys) {
    if (!isIndex.test(key)) return false
    if (object[key] !== undefined) return true
  }
  return false
}

const isIndex = /^(?:0|[1-9][0-9]{0,9})$/
