import { compilePattern, type Pattern } from '../pattern/pattern.ts'
import type { Meter, PatternCache } from './meter.ts'
import { ErrorValue } from './values.ts'

/** Compiled regular expressions of one program; compiling and matching are charged as work. */

/** Work per instruction and character. */
const stepWork = 1 / 2
/** Work for compiling an instruction. */
const compileWork = 40
/** Work for another match. */
const searchWork = 50
const maxCached = 64

/** Cache of compiled expressions by source; evicts the oldest. */
export class Patterns implements PatternCache {
  readonly #compiled = new Map<string, Pattern | ErrorValue>()

  get(source: string, meter: Meter): Pattern | ErrorValue {
    const found = this.#compiled.get(source)
    if (found !== undefined) return found
    const compiled = compilePattern(source)
    const result = 'problem' in compiled ? new ErrorValue(compiled.problem) : compiled
    meter.chargeWork(compileWork * (result instanceof ErrorValue ? source.length + 1 : result.size))
    if (this.#compiled.size >= maxCached) this.#compiled.delete(this.#compiled.keys().next().value as string)
    this.#compiled.set(source, result)
    return result
  }
}

/** Charges a search for the next match in the remaining characters. */
export function chargeSearch({ size, isUnbounded }: Pattern, left: number, meter: Meter): void {
  meter.chargeWork(searchWork + Math.ceil(size * (isUnbounded ? left : Math.min(left, size)) * stepWork))
}

/** Charges a match before it runs. */
export function chargeMatch(pattern: Pattern, text: string, meter: Meter): void {
  meter.chargeWork(1 + Math.ceil(pattern.size * text.length * stepWork))
}
