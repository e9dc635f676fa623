import { checkedInt, Double, ErrorValue, maxUint, Uint, type Value } from '../values/values.ts'

/** Parses number and string literals; an `ErrorValue` describes an invalid literal. */

export function readInt(text: string, negative: boolean): Value {
  const value = checkedInt(negative ? -BigInt(text) : BigInt(text))
  return value instanceof ErrorValue ? new ErrorValue('invalid int literal') : value
}

export function readUint(text: string): Value {
  const value = BigInt(text.slice(0, -1))
  return value > maxUint ? new ErrorValue('invalid uint literal') : new Uint(value)
}

export function readDouble(text: string, negative: boolean): Value {
  const value = Number(text)
  return Number.isFinite(value) ? new Double(negative ? -value : value) : new ErrorValue('invalid double literal')
}

const escapes: Readonly<Record<string, number>> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11 }

export function readString(text: string): Value {
  const { body, raw } = content(text)
  if (raw || !body.includes('\\')) return body
  let out = ''
  for (const part of parts(body)) {
    if (typeof part === 'string') out += part
    else if (part.code > 0x10ffff || (part.code >= 0xd800 && part.code <= 0xdfff))
      return new ErrorValue('invalid unicode code point')
    else out += String.fromCodePoint(part.code)
  }
  return out
}

export function readBytes(text: string): Value {
  const { body, raw } = content(text.slice(1))
  const encoder = new TextEncoder()
  if (raw || !body.includes('\\')) return encoder.encode(body)
  const out: number[] = []
  for (const part of parts(body)) {
    if (typeof part === 'string') for (const byte of encoder.encode(part)) out.push(byte)
    else if (part.unicode) return new ErrorValue('unable to unescape string')
    else out.push(part.code)
  }
  return Uint8Array.from(out)
}

/** Text between the quotes with normalized line ends. */
function content(text: string): { body: string; raw: boolean } {
  const raw = /^[rR]/.test(text)
  const quoted = raw ? text.slice(1) : text
  const quotes = /^("""|''')/.test(quoted) ? 3 : 1
  return { body: quoted.slice(quotes, -quotes).replace(/\r\n?/g, '\n'), raw }
}

/** Plain text and escaped characters. */
function* parts(body: string): Generator<string | { code: number; unicode: boolean }> {
  let at = 0
  for (;;) {
    const next = body.indexOf('\\', at)
    if (next < 0) break
    if (next > at) yield body.slice(at, next)
    const kind = body[next + 1] as string
    const digits = kind === 'x' || kind === 'X' ? 2 : kind === 'u' ? 4 : kind === 'U' ? 8 : 0
    if (digits > 0) {
      yield { code: Number.parseInt(body.slice(next + 2, next + 2 + digits), 16), unicode: digits > 2 }
      at = next + 2 + digits
    } else if (kind >= '0' && kind <= '3') {
      yield { code: Number.parseInt(body.slice(next + 1, next + 4), 8), unicode: false }
      at = next + 4
    } else {
      yield { code: escapes[kind] ?? (kind.codePointAt(0) as number), unicode: false }
      at = next + 2
    }
  }
  if (at < body.length) yield body.slice(at)
}
