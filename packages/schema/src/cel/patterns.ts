import { compilePattern, type Pattern } from '../structural/pattern.ts'
import type { Meter } from './meter.ts'
import { Fault } from './values.ts'

/**
 * Regular expressions while one evaluation lasts: compiled once, and paid for by what matching them really takes.
 */

/** Steps of work for each instruction and character. */
const stepWork = 1 / 2
/** Steps of work for compiling an instruction. */
const compileWork = 40
/** Steps of work for one more match. */
const searchWork = 50
const maxCached = 64

/** Compiled expressions by their text, the oldest dropped first. */
export class Patterns {
  readonly #compiled = new Map<string, Pattern | Fault>()

  get(source: string, meter: Meter): Pattern | Fault {
    const found = this.#compiled.get(source)
    if (found !== undefined) return found
    const compiled = compilePattern(source)
    const result = 'problem' in compiled ? new Fault(compiled.problem) : compiled
    meter.labor(compileWork * (result instanceof Fault ? source.length + 1 : result.size))
    if (this.#compiled.size >= maxCached) this.#compiled.delete(this.#compiled.keys().next().value as string)
    this.#compiled.set(source, result)
    return result
  }
}

/** Pays for looking for the next match, in so many characters that are left. */
export function chargeSearch({ size, isUnbounded }: Pattern, left: number, meter: Meter): void {
  meter.labor(searchWork + Math.ceil(size * (isUnbounded ? left : Math.min(left, size)) * stepWork))
}

/** Pays for looking at a text with an expression, before that is done. */
export function chargeMatch(pattern: Pattern, text: string, meter: Meter): void {
  meter.labor(1 + Math.ceil(pattern.size * text.length * stepWork))
}
