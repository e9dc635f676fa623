import { perCharacter } from './call-cost.ts'

/** Range of a size or cost; unbounded is infinite. */

export interface Estimate {
  readonly min: number
  readonly max: number
}

export const noCost: Estimate = { min: 0, max: 0 }
export const unknownSize: Estimate = { min: 0, max: Number.POSITIVE_INFINITY }

export function exactly(value: number): Estimate {
  return { min: value, max: value }
}

export const one = exactly(1)

/** Values beyond 64 bits are treated as infinite. */
function bounded(value: number): number {
  return value >= 2 ** 64 ? Number.POSITIVE_INFINITY : value
}

function product(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : bounded(a * b)
}

export function plus(...list: readonly Estimate[]): Estimate {
  let { min, max } = noCost
  for (const each of list) {
    min = bounded(min + each.min)
    max = bounded(max + each.max)
  }
  return { min, max }
}

export function times(a: Estimate, b: Estimate): Estimate {
  return { min: product(a.min, b.min), max: product(a.max, b.max) }
}

/** Multiplies and rounds up. */
export function scaled({ min, max }: Estimate, factor: number): Estimate {
  const scale = (value: number) => (value === 0 ? 0 : bounded(Math.ceil(value * factor)))
  return { min: scale(min), max: scale(max) }
}

/** The range that covers both. */
export function either(a: Estimate, b: Estimate): Estimate {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) }
}

/** Cost of reading `size` characters. */
export function reading(size: Estimate): Estimate {
  return scaled(size, perCharacter)
}
