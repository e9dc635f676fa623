/** Semantic versions of LeaseCandidates. */

export interface SemanticVersion {
  readonly numbers: readonly bigint[]
  /** Parts of the pre-release; empty for a release. */
  readonly pre: readonly string[]
}

export const zero: SemanticVersion = { numbers: [0n, 0n, 0n], pre: [] }

const number = '(0|[1-9]\\d{0,19})'
const word = '[0-9A-Za-z-]+'
const pattern = new RegExp(`^${number}\\.${number}\\.${number}(?:-(${word}(?:\\.${word})*))?(?:\\+${word}(?:\\.${word})*)?$`)
const digits = /^\d+$/
const maxNumber = (1n << 64n) - 1n
const maxDigits = 20

/** Undefined for texts that are not semantic versions. */
export function versionOf(text: string): SemanticVersion | undefined {
  const match = pattern.exec(text)
  if (match === null) return undefined
  const numbers = match.slice(1, 4).map(BigInt)
  const pre = match[4]?.split('.') ?? []
  const isBad = (part: string) => digits.test(part) && (/^0./.test(part) || part.length > maxDigits || BigInt(part) > maxNumber)
  return numbers.some((each) => each > maxNumber) || pre.some(isBad) ? undefined : { numbers, pre }
}

/** Negative, 0 or positive. */
export function compareVersions(a: SemanticVersion, b: SemanticVersion): number {
  for (const [i, one] of a.numbers.entries()) {
    const order = compare(one, b.numbers[i] as bigint)
    if (order !== 0) return order
  }
  // A pre-release comes before its release.
  if (a.pre.length === 0 || b.pre.length === 0) return b.pre.length - a.pre.length
  for (const [i, one] of a.pre.entries()) {
    const other = b.pre[i]
    if (other === undefined) return 1
    const order = comparePart(one, other)
    if (order !== 0) return order
  }
  return a.pre.length - b.pre.length
}

/** Numbers come before words. */
function comparePart(a: string, b: string): number {
  const [one, other] = [digits.test(a), digits.test(b)]
  if (one !== other) return one ? -1 : 1
  return one ? compare(BigInt(a), BigInt(b)) : compare(a, b)
}

function compare<T extends bigint | string>(a: T, b: T): number {
  return a === b ? 0 : a < b ? -1 : 1
}
