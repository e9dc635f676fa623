import { ApiError } from '@krmkit/meta'
import type { SharedAllocations, StoredRange } from '../../../allocation-types.ts'
import { Bitmap } from './bitmap.ts'
import type { ValueRange } from './value-range.ts'

/** Repairs after which a value that no service holds is free again: its service may still be in the making. */
const repairsOfLeak = 3

export interface RangeFindings {
  /** Values that services hold, but that were not recorded. */
  readonly unrecorded: ReadonlySet<string>
  /** Values that several services hold, once for each further service. */
  readonly repeated: ReadonlySet<string>
}

/**
 * A range of values whose use all servers record in one stored object.
 *
 *     free --take--> in use --free--> free
 *     in use, but held by no service --three repairs--> free
 */
export class SharedRange {
  readonly range: ValueRange
  readonly #shared: SharedAllocations
  readonly #name: string
  /** Repairs that a value without a service still lasts, by position. */
  readonly #leaks = new Map<number, number>()
  #seen: { readonly stored: StoredRange; readonly bitmap: Bitmap } | undefined

  /** @param name `serviceips`, `servicenodeports` */
  constructor(shared: SharedAllocations, name: string, range: ValueRange) {
    this.#shared = shared
    this.#name = name
    this.range = range
  }

  has(value: string): boolean {
    const position = this.range.positionOf(value)
    const stored = this.#shared.range(this.#name)
    if (position === undefined || stored === undefined) return false
    if (this.#seen?.stored !== stored) this.#seen = { stored, bitmap: new Bitmap(stored.data) }
    return this.#seen.bitmap.has(position)
  }

  /**
   * Records values as in use, all of them or none. Values outside the range are not recorded.
   *
   * @param held the values that services hold, for a range that no server has stored yet
   * @returns whether all were free
   * @throws ApiError 500 when another server has stored other bounds
   */
  async take(values: readonly string[], held: () => Iterable<string>): Promise<boolean> {
    const positions = this.#positionsOf(values)
    if (positions.length === 0) return true
    return this.#shared.updateRange(this.#name, (current) => {
      const bitmap = this.#bitmapOf(current, held)
      if (positions.some((position) => bitmap.has(position))) return undefined
      for (const position of positions) bitmap.set(position)
      return { range: this.range.text, data: bitmap.toData() }
    })
  }

  /** Records values as free. */
  async free(values: readonly string[]): Promise<void> {
    const positions = this.#positionsOf(values)
    if (positions.length === 0) return
    await this.#shared.updateRange(this.#name, (current) => {
      if (current?.range !== this.range.text) return undefined
      const bitmap = new Bitmap(current.data)
      if (!positions.some((position) => bitmap.has(position))) return undefined
      for (const position of positions) bitmap.clear(position)
      return { range: this.range.text, data: bitmap.toData() }
    })
  }

  /** Records what services hold, within the bounds of this server. @param held the values of each service */
  async repair(held: Iterable<readonly string[]>): Promise<RangeFindings> {
    const positions = new Set<number>()
    const repeated = new Set<string>()
    for (const values of held) {
      for (const position of new Set(this.#positionsOf(values))) {
        if (positions.has(position)) repeated.add(this.range.valueAt(position))
        positions.add(position)
      }
    }
    let lasting = new Map<number, number>()
    let unrecorded = new Set<string>()
    await this.#shared.updateRange(this.#name, (current) => {
      const before = new Bitmap(current?.range === this.range.text ? current.data : undefined)
      const next = new Bitmap()
      for (const position of positions) next.set(position)
      lasting = this.#lasting(before, positions)
      for (const position of lasting.keys()) next.set(position)
      // A range that is stored for the first time lacks every value.
      const missing = current === undefined ? [] : [...positions].filter((position) => !before.has(position))
      unrecorded = new Set(missing.map((position) => this.range.valueAt(position)))
      const data = next.toData()
      const isSame = current?.range === this.range.text && sameData(data, current.data)
      return isSame ? undefined : { range: this.range.text, data }
    })
    this.#leaks.clear()
    for (const [position, left] of lasting) this.#leaks.set(position, left)
    return { unrecorded, repeated }
  }

  /** Positions in use that no service holds and that stay in use, with the repairs that they still last. */
  #lasting(before: Bitmap, positions: ReadonlySet<number>): Map<number, number> {
    const lasting = new Map<number, number>()
    for (const position of before.positions()) {
      if (positions.has(position)) continue
      const left = this.#leaks.get(position) ?? repairsOfLeak - 1
      if (left > 0) lasting.set(position, left - 1)
    }
    return lasting
  }

  #positionsOf(values: readonly string[]): number[] {
    return values.map((value) => this.range.positionOf(value)).filter((position) => position !== undefined)
  }

  #bitmapOf(current: StoredRange | undefined, held: () => Iterable<string>): Bitmap {
    if (current === undefined) {
      const bitmap = new Bitmap()
      for (const position of this.#positionsOf([...held()])) bitmap.set(position)
      return bitmap
    }
    if (current.range === this.range.text) return new Bitmap(current.data)
    throw ApiError.internalError('the provided range does not match the current range')
  }
}

function sameData(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}
