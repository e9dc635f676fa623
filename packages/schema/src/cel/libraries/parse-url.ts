import { goQuote } from '@krmkit/meta/go-text'

/** Parses URLs as Go's `net/url` does. */

export interface ParsedUrl {
  readonly scheme: string
  /** Includes the port. */
  readonly host: string
  readonly escapedPath: string
  readonly query: ReadonlyMap<string, readonly string[]>
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
    if (error instanceof UrlError) return { problem: `parse ${goQuote(text)}: ${error.message}` }
    throw error
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are refused
const control = /[\u0000-\u001f\u007f]/

function read(text: string, request: boolean): ParsedUrl {
  if (control.test(text)) fail('net/url: invalid control character in URL')
  if (text === '' && request) fail('empty url')
  const none = new Map<string, readonly string[]>()
  if (text === '*') return { scheme: '', host: '', escapedPath: '*', query: none }
  const { scheme, rest: afterScheme } = splitScheme(text)
  const mark = afterScheme.indexOf('?')
  const query = mark < 0 ? none : readQuery(afterScheme.slice(mark + 1))
  let rest = mark < 0 ? afterScheme : afterScheme.slice(0, mark)
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { scheme, host: '', escapedPath: '', query }
    if (request) fail('invalid URI for request')
    if (rest.split('/', 1)[0]?.includes(':') === true) fail('first path segment in URL cannot contain colon')
  }
  let host = ''
  if ((scheme !== '' || (!request && !rest.startsWith('///'))) && rest.startsWith('//')) {
    const slash = rest.indexOf('/', 2)
    host = readAuthority(slash < 0 ? rest.slice(2) : rest.slice(2, slash))
    rest = slash < 0 ? '' : rest.slice(slash)
  }
  return { scheme, host, escapedPath: escapedPath(rest), query }
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
  if (!/^(?::\d*)?$/.test(text)) fail(`invalid port ${goQuote(text)} after host`)
}

/** @param refused characters not allowed in a host. */
function unescaped(text: string, refused: string): string {
  const bad = /%(?![0-9a-fA-F]{2})/.exec(text)
  if (bad !== null) fail(`invalid URL escape ${goQuote(text.slice(bad.index, bad.index + 3))}`)
  const strange =
    refused === '' ? undefined : [...text].find((char) => char < '\u0080' && !/[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%]/.test(char))
  if (strange !== undefined) fail(`invalid character ${goQuote(strange)} in host name`)
  return decoded(text)
}

/** Invalid UTF-8 becomes U+FFFD. */
function decoded(text: string): string {
  if (!text.includes('%')) return text
  const bytes: number[] = []
  const plain = new TextEncoder().encode(text)
  for (let i = 0; i < plain.length; i++) {
    if (plain[i] !== 0x25) bytes.push(plain[i] as number)
    else {
      bytes.push(Number.parseInt(String.fromCharCode(plain[i + 1] as number, plain[i + 2] as number), 16))
      i += 2
    }
  }
  return new TextDecoder().decode(Uint8Array.from(bytes))
}

/** The original path if it is a valid encoding; otherwise escaped again. */
function escapedPath(path: string): string {
  const bad = /%(?![0-9a-fA-F]{2})/.exec(path)
  if (bad !== null) fail(`invalid URL escape ${goQuote(path.slice(bad.index, bad.index + 3))}`)
  if (/^[A-Za-z0-9\-_.~!$&'()*+,;=:@[\]/%]*$/.test(path)) return path
  const bytes = new TextEncoder().encode(decoded(path))
  return Array.from(bytes, (byte) => {
    const char = String.fromCharCode(byte)
    return /[A-Za-z0-9\-_.~$&+/:=@]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }).join('')
}

/** Skips malformed parts. */
function readQuery(text: string): Map<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const pair of text.split('&')) {
    if (pair === '' || pair.includes(';') || /%(?![0-9a-fA-F]{2})/.test(pair)) continue
    const equals = pair.indexOf('=')
    const part = (value: string) => decoded(value.replaceAll('+', ' '))
    const key = part(equals < 0 ? pair : pair.slice(0, equals))
    const values = found.get(key)
    const value = equals < 0 ? '' : part(pair.slice(equals + 1))
    if (values === undefined) found.set(key, [value])
    else values.push(value)
  }
  return found
}
