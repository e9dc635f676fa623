import { goQuoteShort } from '@krmkit/meta/go-text'

/** Parses URLs as Go's `net/url` does. */

export interface ParsedUrl {
  readonly scheme: string
  /** Includes the port. */
  readonly host: string
  /** The path as sent; its escapes are valid. @see escapedPath */
  readonly path: string
  /** Without the question mark. */
  readonly query: string
}

class UrlError {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

function fail(message: string): never {
  throw new UrlError(message)
}

/**
 * Parses an absolute URL or path.
 *
 * @returns the URL, or Go's error message.
 */
export function parseRequestUrl(text: string): ParsedUrl | { readonly problem: string } {
  try {
    read(text, true)
    const hash = text.indexOf('#')
    return read(hash < 0 ? text : text.slice(0, hash), false)
  } catch (error) {
    if (error instanceof UrlError) return { problem: `parse ${goQuoteShort(text)}: ${error.message}` }
    throw error
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are refused
const control = /[\u0000-\u001f\u007f]/

function read(text: string, request: boolean): ParsedUrl {
  if (control.test(text)) fail('net/url: invalid control character in URL')
  if (text === '' && request) fail('empty url')
  if (text === '*') return { scheme: '', host: '', path: '*', query: '' }
  const { scheme, rest: afterScheme } = splitScheme(text)
  const mark = afterScheme.indexOf('?')
  const query = mark < 0 ? '' : afterScheme.slice(mark + 1)
  let rest = mark < 0 ? afterScheme : afterScheme.slice(0, mark)
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { scheme, host: '', path: '', query }
    if (request) fail('invalid URI for request')
    if (rest.split('/', 1)[0]?.includes(':') === true) fail('first path segment in URL cannot contain colon')
  }
  let host = ''
  if ((scheme !== '' || (!request && !rest.startsWith('///'))) && rest.startsWith('//')) {
    const slash = rest.indexOf('/', 2)
    host = readAuthority(slash < 0 ? rest.slice(2) : rest.slice(2, slash))
    rest = slash < 0 ? '' : rest.slice(slash)
  }
  checkEscapes(rest)
  return { scheme, host, path: rest, query }
}

function splitScheme(text: string): { scheme: string; rest: string } {
  const found = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text)
  if (found !== null) return { scheme: (found[1] as string).toLowerCase(), rest: text.slice(found[0].length) }
  if (text.startsWith(':')) fail('missing protocol scheme')
  return { scheme: '', rest: text }
}

function readAuthority(authority: string): string {
  const at = authority.lastIndexOf('@')
  const user = authority.slice(0, Math.max(at, 0))
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) fail('net/url: invalid userinfo')
  unescaped(user, '')
  return readHost(authority.slice(at + 1))
}

function readHost(host: string): string {
  if (host.startsWith('[')) {
    const end = host.lastIndexOf(']')
    if (end < 0) fail("missing ']' in host")
    checkPort(host.slice(end + 1))
    return unescaped(host, ' "<>')
  }
  const colon = host.lastIndexOf(':')
  if (colon >= 0) checkPort(host.slice(colon))
  return unescaped(host, ' "<>')
}

function checkPort(text: string): void {
  if (!/^(?::\d*)?$/.test(text)) fail(`invalid port ${goQuoteShort(text)} after host`)
}

function checkEscapes(text: string): void {
  const bad = /%(?![0-9a-fA-F]{2})/.exec(text)
  if (bad !== null) fail(`invalid URL escape ${goQuoteShort(text.slice(bad.index, bad.index + 3))}`)
}

/** @param refused characters that are not allowed. */
function unescaped(text: string, refused: string): string {
  checkEscapes(text)
  const strange = refused === '' ? undefined : /[^A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/.exec(text)?.[0]
  if (strange !== undefined) fail(`invalid character ${goQuoteShort(strange)} in host name`)
  return decoded(text)
}

/** Invalid UTF-8 becomes U+FFFD. */
function decoded(text: string): string {
  return text.includes('%') ? new TextDecoder().decode(decodedBytes(text)) : text
}

function decodedBytes(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text)
  let size = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number
    const isEscape = byte === percent
    // In place: the read position is always ahead of the write position.
    bytes[size++] = isEscape ? digitValue(bytes[i + 1] as number) * 16 + digitValue(bytes[i + 2] as number) : byte
    if (isEscape) i += 2
  }
  return bytes.subarray(0, size)
}

const percent = 0x25
const upperDigits = new TextEncoder().encode('0123456789ABCDEF')

function digitValue(digit: number): number {
  return digit <= 57 ? digit - 48 : (digit | 32) - 87
}

/** By byte: whether a path contains it unescaped. */
const unescapedInPath = Array.from({ length: 256 }, (_, byte) => /[A-Za-z0-9\-_.~$&+/:=@]/.test(String.fromCharCode(byte)))

/** Returns the original path if it is a valid encoding; otherwise the decoded path, escaped again. */
export function escapedPath({ path }: ParsedUrl): string {
  if (/^[A-Za-z0-9\-_.~!$&'()*+,;=:@[\]/%]*$/.test(path)) return path
  const bytes = new TextEncoder().encode(decoded(path))
  const escaped = new Uint8Array(3 * bytes.length)
  let size = 0
  for (const byte of bytes) {
    if (unescapedInPath[byte] === true) escaped[size++] = byte
    else {
      escaped[size++] = percent
      escaped[size++] = upperDigits[byte >> 4] as number
      escaped[size++] = upperDigits[byte & 15] as number
    }
  }
  return new TextDecoder().decode(escaped.subarray(0, size))
}

/** Number of query pairs parsed in one step: about a millisecond. */
const pairsPerStep = 4000

/** The values of a query by key. Skips malformed parts. */
export function* readQuery(query: string): Generator<true, Map<string, string[]>> {
  const found = new Map<string, string[]>()
  const part = (value: string) => decoded(value.replaceAll('+', ' '))
  let count = 0
  for (let from = 0, end = 0; from < query.length; from = end + 1) {
    end = query.indexOf('&', from)
    if (end < 0) end = query.length
    if (++count % pairsPerStep === 0) yield true
    const pair = query.slice(from, end)
    if (pair === '' || pair.includes(';') || /%(?![0-9a-fA-F]{2})/.test(pair)) continue
    const equals = pair.indexOf('=')
    const key = part(equals < 0 ? pair : pair.slice(0, equals))
    const values = found.get(key)
    const value = equals < 0 ? '' : part(pair.slice(equals + 1))
    if (values === undefined) found.set(key, [value])
    else values.push(value)
  }
  return found
}
