import { MetaError } from '../meta-error.ts'
import { parseDuration } from '../time/duration.ts'

/** Units: nanoseconds, short name, and the prefix of longer names, such as `day` in `2 days`. */
const units: readonly (readonly [nanos: bigint, short: readonly string[], long: string])[] = [
  [1n, ['ns'], 'nano'],
  [1_000n, ['us', 'µs'], 'micro'],
  [1_000_000n, ['ms'], 'milli'],
  [1_000_000_000n, ['s'], 'sec'],
  [60_000_000_000n, ['m'], 'min'],
  [3_600_000_000_000n, ['h', 'hr'], 'hour'],
  [86_400_000_000_000n, ['d'], 'day'],
  [604_800_000_000_000n, ['w', 'wk'], 'week'],
]

const part = /(\d+)\s*([A-Za-zµ]*)/g

/**
 * Reads a text of the format `duration`: a Go duration, or any text that contains numbers with units, such as `2 days` or
 * `P1D`.
 *
 * @returns nanoseconds; `undefined` for other texts.
 * @example
 * import { readFormatDuration } from '@krmkit/meta/formats'
 * readFormatDuration('2 days') // 172800000000000n
 */
export function readFormatDuration(text: string): bigint | undefined {
  try {
    return parseDuration(text)
  } catch (error) {
    if (!(error instanceof MetaError)) throw error
  }
  let total: bigint | undefined
  for (const [, digits = '', word = ''] of text.matchAll(part)) {
    if (word === '') continue
    if (isTooLarge(digits)) return undefined
    const unit = word.toLowerCase()
    const size = units.find(([, short, long]) => short.includes(unit) || unit.startsWith(long))
    if (size !== undefined) total = BigInt.asIntN(64, (total ?? 0n) + BigInt(digits) * size[0])
  }
  return total
}

function isTooLarge(digits: string): boolean {
  const plain = digits.replace(/^0+/, '')
  return plain.length > 19 || BigInt(plain === '' ? 0 : plain) > 0x7fffffffffffffffn
}
