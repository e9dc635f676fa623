import { DecodeError } from '../errors.ts'
import type { StructType } from '../interfaces.ts'
import { jsonTypeName } from '../json/parse-json.ts'
import { formatPath, Problems } from '../json/problems.ts'
import { type DuplicateMembers, type Member, NumberLiteral } from '../json/syntax.ts'
import { type DecodedSize, unlimitedSize } from './decoded-size.ts'

/**
 * What one decoding carries along: where it is, what it objects to, and the first wrong type it met.
 *
 * As in Go, a wrong type is remembered and decoding goes on; text that does not parse ends it at once and wins.
 */

/** Values nested deeper are refused: everything after decoding may recurse. Differs: the stock server goes to 10 000. */
export const maxDepth = 1000

/** A value of a type that its place cannot hold; turned into a `DecodeError` where the place is known. */
export class TypeMismatch {
  /** `string`, `array`, `number 1.5` */
  readonly found: string
  readonly goType: string

  constructor(found: string, goType: string) {
    this.found = found
    this.goType = goType
  }
}

/** The member that is being decoded. */
export interface Place {
  readonly json: string
  readonly owner: StructType
}

/** A member of a map, as opposed to a field: not shown in type errors. */
class MapKey {
  readonly key: string
  constructor(key: string) {
    this.key = key
  }
}

/** Members of an object in order: one list, or one for each object that was joined into it. */
export type Segments = readonly (readonly Member[])[]

export class Context {
  readonly #duplicates: DuplicateMembers | undefined
  #joined: Map<object, (readonly Member[])[]> | undefined
  /** Whether unknown and repeated fields are collected. */
  collecting: boolean
  #problems: Problems | undefined
  readonly #places: (Place | MapKey | number)[] = []
  #mismatch: DecodeError | undefined
  /** Counts what is built. */
  readonly size: DecodedSize

  constructor(duplicates: DuplicateMembers | undefined, collect: boolean, size: DecodedSize = unlimitedSize()) {
    this.#duplicates = duplicates
    this.collecting = collect
    this.size = size
  }

  /** `undefined` for an object that names every member once. Repetition counts within one segment. */
  segmentsOf(object: object): Segments | undefined {
    if (this.#duplicates === undefined) return undefined
    const members = this.#duplicates.get(object)
    return members === undefined ? this.#joined?.get(object) : [members]
  }

  /** An object that stands for two, the later read into the earlier. */
  join(earlier: Record<string, unknown>, later: Record<string, unknown>): Record<string, unknown> {
    this.#joined ??= new Map()
    const known = this.#joined.get(earlier)
    if (known !== undefined) {
      known.push(...this.#segments(later))
      return earlier
    }
    // Its members are read from the segments alone.
    const object = {}
    this.#joined.set(object, [...this.#segments(earlier), ...this.#segments(later)])
    return object
  }

  #segments(part: Record<string, unknown>): Segments {
    return this.segmentsOf(part) ?? [Object.entries(part)]
  }

  get mayRepeat(): boolean {
    return this.#duplicates !== undefined
  }

  enter(place: Place | number): void {
    if (this.#places.length >= maxDepth) throw new DecodeError('Depth', 'exceeded max depth')
    this.#places.push(place)
  }

  enterKey(key: string): void {
    if (this.#places.length >= maxDepth) throw new DecodeError('Depth', 'exceeded max depth')
    this.#places.push(new MapKey(key))
  }

  leave(): void {
    this.#places.pop()
  }

  get depth(): number {
    return this.#places.length
  }

  get problems(): readonly string[] {
    return this.#problems?.list ?? noProblems
  }

  /** Reports at the place entered last. */
  unknown(key: string): void {
    if (this.collecting && this.#problems?.full !== true) this.#at().unknown(key)
  }

  duplicate(key: string): void {
    if (this.collecting && this.#problems?.full !== true) this.#at().duplicate(key)
  }

  /** Remembers the first mismatch; the value counts as unset. */
  mismatch(value: unknown, goType: string): undefined {
    this.#mismatch ??= this.#describe(new TypeMismatch(describe(value), goType))
    return undefined
  }

  /** Remembers text that does not parse where Go goes on after it (base64). */
  remember(message: string): undefined {
    this.#mismatch ??= new DecodeError('Value', message, { path: this.path })
    return undefined
  }

  /** Ends decoding with a mismatch inside of a value that has its own decoder. */
  abort(value: unknown, goType: string): never {
    throw this.#describe(new TypeMismatch(describe(value), goType))
  }

  /**
   * Decodes a value apart, as Go's own decoders for one value do: strictness does not reach into it, and its first mismatch ends
   * everything, told at the outer place.
   */
  apart<V>(decode: (inner: Context) => V): V {
    const inner = new Context(undefined, false, this.size)
    inner.#places.length = 0
    for (let i = 0; i < this.#places.length; i++) inner.#places.push(0)
    let result: V
    try {
      result = decode(inner)
    } catch (error) {
      if (error instanceof DecodeError && error.code === 'Type') throw this.#moved(error)
      throw error
    }
    const mismatch = inner.#mismatch
    if (mismatch?.code === 'Type') throw this.#moved(mismatch)
    if (mismatch !== undefined) throw new DecodeError(mismatch.code, mismatch.message, { path: this.path })
    return result
  }

  /** @throws DecodeError the first mismatch, if there was any. */
  finish(): void {
    if (this.#mismatch !== undefined) throw this.#mismatch
  }

  #moved(error: DecodeError): DecodeError {
    const { mismatch } = error as MismatchError
    return mismatch === undefined ? error : this.#describe(mismatch)
  }

  #describe(mismatch: TypeMismatch): DecodeError {
    const fields = this.#places.filter((place): place is Place => typeof place === 'object' && !(place instanceof MapKey))
    const last = fields[fields.length - 1]
    const where =
      last === undefined ? 'Go value' : `Go struct field ${last.owner.typeName}.${fields.map((field) => field.json).join('.')}`
    return new MismatchError(
      `json: cannot unmarshal ${mismatch.found} into ${where} of type ${mismatch.goType}`,
      mismatch,
      this.path,
    )
  }

  /** The place entered last, as text. */
  get path(): string {
    return formatPath(this.#steps())
  }

  #at(): Problems {
    this.#problems ??= new Problems()
    const problems = this.#problems
    problems.moveTo(this.#steps())
    return problems
  }

  #steps(): (string | number)[] {
    return this.#places.map((place) => (typeof place === 'number' ? place : place instanceof MapKey ? place.key : place.json))
  }
}

const noProblems: readonly string[] = Object.freeze([])

class MismatchError extends DecodeError {
  readonly mismatch: TypeMismatch | undefined
  constructor(message: string, mismatch: TypeMismatch, path: string) {
    super('Type', message, { path })
    this.mismatch = mismatch
  }
}

/** A number that is too large, or a fraction where an integer belongs, is shown with its text. */
export class BadNumber {
  readonly text: string
  constructor(value: number | bigint | NumberLiteral) {
    this.text = value instanceof NumberLiteral ? value.text : String(value)
  }
}

function describe(value: unknown): string {
  return value instanceof BadNumber ? `number ${value.text}` : jsonTypeName(value)
}
