/** Order of keys in printed YAML: letters by code point, runs of digits by value, other characters before letters. */
export function compareNaturally(a: string, b: string): number {
  return compareAscii(a, b) ?? compareChars([...a], [...b])
}

/** Compares without copying the keys where ASCII characters decide; otherwise `undefined`. */
function compareAscii(a: string, b: string): number | undefined {
  const shared = Math.min(a.length, b.length)
  let at = 0
  while (at < shared && a.charCodeAt(at) === b.charCodeAt(at)) at++
  if (at === shared) return a.length - b.length
  const x = a.charCodeAt(at)
  const y = b.charCodeAt(at)
  if (x >= ascii || y >= ascii) return undefined
  if (isAsciiLetter(x)) return isAsciiLetter(y) ? x - y : 1
  if (isAsciiLetter(y)) return -1
  if (!isAsciiDigit(x) && !isAsciiDigit(y)) return x - y
  return compareAsciiNumbers(a, b, at)
}

/** As `compareNumbers`, for ASCII. */
function compareAsciiNumbers(a: string, b: string, at: number): number | undefined {
  const x = a.charCodeAt(at)
  const y = b.charCodeAt(at)
  let start: 0 | 1 = 0
  if (x === zero || y === zero) {
    let before = at - 1
    while (before >= 0 && a.charCodeAt(before) === zero) before--
    if (before >= 0 && a.charCodeAt(before) >= ascii) return undefined
    if (before >= 0 && isAsciiDigit(a.charCodeAt(before))) start = 1
  }
  const xEnd = digitsEnd(a, at)
  const yEnd = digitsEnd(b, at)
  if (a.charCodeAt(xEnd) >= ascii || b.charCodeAt(yEnd) >= ascii) return undefined
  const xValue = numberIn(a, at, xEnd, start)
  const yValue = numberIn(b, at, yEnd, start)
  if (xValue < yValue) return -1
  if (xValue > yValue) return 1
  return xEnd === yEnd ? x - y : xEnd - yEnd
}

const ascii = 0x80
const zero = 0x30

function isAsciiLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)
}

function isAsciiDigit(code: number): boolean {
  return code >= zero && code <= 0x39
}

function digitsEnd(text: string, from: number): number {
  let end = from
  while (end < text.length && isAsciiDigit(text.charCodeAt(end))) end++
  return end
}

/** Numbers of up to this many digits are exact. */
const exactDigits = 15

/** Value of the digits, after the digit `start`. Wraps at 64 bits, as in kube-apiserver. */
function numberIn(text: string, from: number, to: number, start: 0 | 1): number | bigint {
  if (to - from >= exactDigits) {
    // Digits before the last 64 contribute a multiple of 10^64, hence of 2^64.
    return BigInt.asIntN(64, BigInt(`${start}${text.slice(from, to)}`.slice(-64)))
  }
  let value: number = start
  for (let at = from; at < to; at++) value = value * 10 + text.charCodeAt(at) - zero
  return value
}

/** The same order for any text; slower. */
export function compareChars(a: readonly string[], b: readonly string[]): number {
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

/** Compares numbers from the first difference on; zeros count only after a non-zero digit. */
function compareNumbers(a: readonly string[], b: readonly string[], at: number): number {
  const start = (a[at] === '0' || b[at] === '0') && followsDigit(a, at) ? 1n : 0n
  const x = numberFrom(a, at, start)
  const y = numberFrom(b, at, start)
  if (x.value !== y.value) return x.value < y.value ? -1 : 1
  if (x.end !== y.end) return x.end - y.end
  return code(a[at] as string) - code(b[at] as string)
}

/** Whether a non-zero digit precedes. */
function followsDigit(chars: readonly string[], at: number): boolean {
  for (let i = at - 1; i >= 0 && isDigit(chars[i]); i--) if (chars[i] !== '0') return true
  return false
}

/** Wraps at 64 bits, as in kube-apiserver. */
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
