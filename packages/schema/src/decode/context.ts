import type { Field, StructType } from '../interfaces.ts'
import { type DecodedSize, unlimitedSize } from '../json/decoded-size.ts'
import { jsonTypeName } from '../json/parse-json.ts'
import { formatPath, ProblemCollector } from '../json/problems.ts'
import { type DuplicateMembers, type Member, NumberLiteral } from '../json/syntax.ts'
import { DecodeError } from '../schema-error.ts'

/**
 * State of one decoding: the current path, strict problems, and the first type mismatch.
 *
 * As in Go, decoding continues after a mismatch; text that cannot be parsed ends decoding and takes precedence.
 */

/** Maximum nesting of decoded values; later stages may recurse. Differs: kube-apiserver allows 10 000. */
export const maxDepth = 1000

/** A value whose type does not fit its field; becomes a `DecodeError` once the path is known. */
export class TypeMismatch {
  /** For example `string`, `array`, `number 1.5`. */
  readonly found: string
  readonly goType: string

  constructor(found: string, goType: string) {
    this.found = found
    this.goType = goType
  }
}

/** The field being decoded. */
export interface FieldStep {
  readonly json: string
  readonly owner: StructType
  /** `promotedFrom`: the embedded struct that has the field. */
  readonly field?: Pick<Field, 'promotedFrom'>
}

/** A map key in the path; unlike fields, type errors do not show it. */
class MapKey {
  readonly key: string
  constructor(key: string) {
    this.key = key
  }
}

/** Members of an object in order: one list per source object that was merged into it. */
export type MemberSegments = readonly (readonly Member[])[]

export class DecodeContext {
  readonly #duplicates: DuplicateMembers | undefined
  #joined: Map<object, (readonly Member[])[]> | undefined
  /** Whether unknown and duplicate fields are collected. */
  collecting: boolean
  /** Whether to sort the keys of raw JSON members. */
  sortsRaw = false
  /** Keys of large objects in an untyped copy, which are expensive to enumerate. */
  copiedKeys: Map<object, readonly string[]> | undefined
  /** Paths at and below which empty values are kept. @see DecodeOptions.keepEmpties */
  keptEmpties: readonly (readonly string[])[] = []
  /** Whether a path of `keptEmpties` leads to the struct in which an isolated decoding began. */
  #keepsAll = false
  #problems: ProblemCollector | undefined
  readonly #stack: (FieldStep | MapKey | number)[] = []
  #mismatch: DecodeError | undefined
  /** Whether errors name embedded structs. */
  namesEmbedded = false
  /** Size of the object built so far. */
  readonly size: DecodedSize

  constructor(duplicates: DuplicateMembers | undefined, collect: boolean, size: DecodedSize = unlimitedSize()) {
    this.#duplicates = duplicates
    this.collecting = collect
    this.size = size
  }

  /** `undefined` for an object without repeated members. Repetitions count within one segment. */
  segmentsOf(object: object): MemberSegments | undefined {
    if (this.#duplicates === undefined) return undefined
    const members = this.#duplicates.get(object)
    return members === undefined ? this.#joined?.get(object) : [members]
  }

  /** Merges two values of a repeated member; returns the object that represents both. */
  join(earlier: Record<string, unknown>, later: Record<string, unknown>): Record<string, unknown> {
    this.#joined ??= new Map()
    const known = this.#joined.get(earlier)
    if (known !== undefined) {
      known.push(...this.#segments(later))
      return earlier
    }
    // The members are read from the segments only.
    const object = {}
    this.#joined.set(object, [...this.#segments(earlier), ...this.#segments(later)])
    return object
  }

  #segments(part: Record<string, unknown>): MemberSegments {
    return this.segmentsOf(part) ?? [Object.entries(part)]
  }

  get hasDuplicates(): boolean {
    return this.#duplicates !== undefined
  }

  enter(step: FieldStep | number): void {
    if (this.#stack.length >= maxDepth) throw new DecodeError({ code: 'Depth', message: 'exceeded max depth' })
    this.#stack.push(step)
  }

  enterKey(key: string): void {
    if (this.#stack.length >= maxDepth) throw new DecodeError({ code: 'Depth', message: 'exceeded max depth' })
    this.#stack.push(new MapKey(key))
  }

  leave(): void {
    this.#stack.pop()
  }

  /** Whether an empty list or map of the current struct is kept. */
  keepsEmpty(name: string): boolean {
    if (this.keptEmpties.length === 0) return false
    return this.#keepsAll || this.#isKept([...this.#fieldNames(), name])
  }

  get depth(): number {
    return this.#stack.length
  }

  get problems(): readonly string[] {
    return this.#problems?.list ?? noProblems
  }

  /** Reports an unknown field at the current path. */
  unknown(key: string): void {
    if (this.collecting && this.#problems?.full !== true) this.#at().unknown(key)
  }

  duplicate(key: string): void {
    if (this.collecting && this.#problems?.full !== true) this.#at().duplicate(key)
  }

  /** Records the first mismatch; the value is treated as unset. */
  recordMismatch(value: unknown, goType: string): undefined {
    this.#mismatch ??= this.#describe(new TypeMismatch(describe(value), goType))
    return undefined
  }

  /** Records a parse error after which Go continues, such as invalid base64. */
  recordError(message: string): undefined {
    this.#mismatch ??= new DecodeError({ code: 'Value', message, path: this.path })
    return undefined
  }

  /** Aborts decoding with a mismatch inside a value that has a custom decoder. */
  failMismatch(value: unknown, goType: string): never {
    throw this.#describe(new TypeMismatch(describe(value), goType))
  }

  /**
   * The context of a value that is decoded in isolation, as Go's custom unmarshallers do: unknown fields are not reported,
   * and the first mismatch aborts decoding with the outer path.
   */
  isolated(): DecodeContext {
    const inner = new DecodeContext(undefined, false, this.size)
    inner.#stack.length = 0
    for (let i = 0; i < this.#stack.length; i++) inner.#stack.push(0)
    inner.keptEmpties = this.keptEmpties
    inner.#keepsAll = this.#keepsAll || (this.keptEmpties.length > 0 && this.#isKept(this.#fieldNames()))
    return inner
  }

  #isKept(names: readonly string[]): boolean {
    return this.keptEmpties.some((path) => path.every((part, index) => part === names[index]))
  }

  /** Names of the fields on the current path, without indices and keys. */
  #fieldNames(): string[] {
    return this.#stack.flatMap((step) => (typeof step === 'number' || step instanceof MapKey ? [] : [step.json]))
  }

  /** Relocates an error inside an isolated value to the path of this context. */
  outerError(error: unknown): unknown {
    return error instanceof DecodeError && error.code === 'Type' ? this.#moved(error) : error
  }

  /** @throws DecodeError the first mismatch inside an isolated value. */
  checkIsolated(inner: DecodeContext): void {
    const mismatch = inner.#mismatch
    if (mismatch?.code === 'Type') throw this.#moved(mismatch)
    if (mismatch !== undefined) throw new DecodeError({ code: mismatch.code, message: mismatch.message, path: this.path })
  }

  /** @throws DecodeError the first mismatch, if any. */
  finish(): void {
    if (this.#mismatch !== undefined) throw this.#mismatch
  }

  #moved(error: DecodeError): DecodeError {
    const { mismatch } = error as MismatchError
    return mismatch === undefined ? error : this.#describe(mismatch)
  }

  #describe(mismatch: TypeMismatch): DecodeError {
    const fields = this.#stack.filter((step): step is FieldStep => typeof step === 'object' && !(step instanceof MapKey))
    const last = fields[fields.length - 1]
    const where =
      last === undefined
        ? 'Go value'
        : `Go struct field ${last.owner.typeName}.${fields.map((field) => this.#shown(field)).join('.')}`
    return new MismatchError(
      `json: cannot unmarshal ${mismatch.found} into ${where} of type ${mismatch.goType}`,
      mismatch,
      this.path,
    )
  }

  #shown({ json, field }: FieldStep): string {
    const from = this.namesEmbedded ? field?.promotedFrom : undefined
    return from === undefined ? json : `${from.slice(from.lastIndexOf('.') + 1)}.${json}`
  }

  /** The current path as text. */
  get path(): string {
    return formatPath(this.#steps())
  }

  #at(): ProblemCollector {
    this.#problems ??= new ProblemCollector()
    const problems = this.#problems
    problems.moveTo(this.#steps())
    return problems
  }

  #steps(): (string | number)[] {
    return this.#stack.map((step) => (typeof step === 'number' ? step : step instanceof MapKey ? step.key : step.json))
  }
}

const noProblems: readonly string[] = Object.freeze([])

class MismatchError extends DecodeError {
  readonly mismatch: TypeMismatch | undefined
  constructor(message: string, mismatch: TypeMismatch, path: string) {
    super({ code: 'Type', message, path })
    this.mismatch = mismatch
  }
}

/** A number out of range, or a fraction for an integer; error messages include its text. */
export class InvalidNumber {
  readonly text: string
  constructor(value: number | bigint | NumberLiteral) {
    this.text = value instanceof NumberLiteral ? value.text : String(value)
  }
}

function describe(value: unknown): string {
  return value instanceof InvalidNumber ? `number ${value.text}` : jsonTypeName(value)
}

/** Marks numbers, so that the message shows their text. */
export function invalidNumber(value: unknown, goType: string, context: DecodeContext): undefined {
  return context.recordMismatch(asInvalidNumber(value), goType)
}

export function asInvalidNumber(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof NumberLiteral
    ? new InvalidNumber(value)
    : value
}
