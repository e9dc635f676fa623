/** The order of keys in printed YAML: letters by code point, runs of digits by their value, everything else before letters. */
export function compareNaturally(a: string, b: string): number {
  if (plainWord.test(a) && plainWord.test(b)) return a < b ? -1 : a > b ? 1 : 0
  return compareChars([...a], [...b])
}

/** Without digits and other signs the order is the usual one. */
const plainWord = /^[A-Za-z]*$/

function compareChars(a: readonly string[], b: readonly string[]): number {
  const shared = Math.min(a.length, b.length)
  for (let i = 0; i < shared; i++) {
    const x = a[i] as string
    const y = b[i] as string
    if (x === y) continue
    const xLetter = isLetter(x)
    const yLetter = isLetter(y)
    if (xLetter && yLetter) return code(x) - code(y)
    if (xLetter || yLetter) return yLetter ? -1 : 1
    return compareNumbers(a, b, i)
  }
  return a.length - b.length
}

/** From the first difference on; zeros count only after another digit. */
function compareNumbers(a: readonly string[], b: readonly string[], at: number): number {
  const start = (a[at] === '0' || b[at] === '0') && followsDigit(a, at) ? 1n : 0n
  const x = numberFrom(a, at, start)
  const y = numberFrom(b, at, start)
  if (x.value !== y.value) return x.value < y.value ? -1 : 1
  if (x.end !== y.end) return x.end - y.end
  return code(a[at] as string) - code(b[at] as string)
}

/** Whether the digits before hold anything but zeros. */
function followsDigit(chars: readonly string[], at: number): boolean {
  for (let i = at - 1; i >= 0 && isDigit(chars[i]); i--) if (chars[i] !== '0') return true
  return false
}

/** Wraps at 64 bits, as the stock printer's counting does. */
function numberFrom(chars: readonly string[], at: number, start: bigint): { value: bigint; end: number } {
  let value = start
  let end = at
  for (; end < chars.length && isDigit(chars[end]); end++)
    value = BigInt.asIntN(64, value * 10n + BigInt(code(chars[end] as string) - 48))
  return { value, end }
}

function isLetter(char: string): boolean {
  return /^\p{L}$/u.test(char)
}

function isDigit(char: string | undefined): boolean {
  return char !== undefined && /^\p{Nd}$/u.test(char)
}

function code(char: string): number {
  return char.codePointAt(0) as number
}
