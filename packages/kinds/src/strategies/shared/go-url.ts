import { parseIP } from '@krmkit/base/ip'
import { goQuote } from '@krmkit/meta/go-text'

/** Parses URLs like Go, which is stricter about escapes than the WHATWG URL standard and corrects nothing. */

export interface UrlParts {
  readonly scheme: string
  readonly host: string
  readonly user: string | undefined
  readonly query: string
  readonly fragment: string
}

/** The parts of a URL, or its error. */
export function parseGoUrl(url: string): UrlParts | string {
  const problem = (what: string) => `parse ${goQuote(url)}: ${what}`
  const hash = url.indexOf('#')
  const fragment = hash === -1 ? '' : url.slice(hash + 1)
  const whole = hash === -1 ? url : url.slice(0, hash)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(whole)) return problem('net/url: invalid control character in URL')
  if (whole.startsWith(':')) return problem('missing protocol scheme')
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(whole)?.[1] ?? ''
  const afterScheme = scheme === '' ? whole : whole.slice(scheme.length + 1)
  const mark = afterScheme.indexOf('?')
  const query = mark === -1 ? '' : afterScheme.slice(mark + 1)
  const rest = mark === -1 ? afterScheme : afterScheme.slice(0, mark)
  const parts = { scheme: scheme.toLowerCase(), host: '', user: undefined, query, fragment }
  if (!rest.startsWith('/')) {
    if (scheme === '' && rest.split('/', 1)[0]?.includes(':') === true)
      return problem('first path segment in URL cannot contain colon')
    const wrong = scheme === '' ? escapeError(rest) : undefined
    return wrong === undefined ? parts : problem(wrong)
  }
  if (!rest.startsWith('//') || (scheme === '' && rest.startsWith('///'))) {
    const wrong = escapeError(rest) ?? escapeError(fragment)
    return wrong === undefined ? parts : problem(wrong)
  }
  const slash = rest.indexOf('/', 2)
  const authority = rest.slice(2, slash === -1 ? undefined : slash)
  const split = authority.lastIndexOf('@')
  const host = authority.slice(split + 1)
  const user = split === -1 ? undefined : authority.slice(0, split)
  const wrong =
    hostError(host) ?? userError(user) ?? (slash === -1 ? undefined : escapeError(rest.slice(slash))) ?? escapeError(fragment)
  return wrong === undefined ? { ...parts, host, user } : problem(wrong)
}

function escapeError(text: string): string | undefined {
  const at = text.search(/%(?![0-9A-Fa-f]{2})/)
  return at === -1 ? undefined : `invalid URL escape ${goQuote(text.slice(at, at + 3))}`
}

/** Escapes of ASCII characters are forbidden in hosts; `%25` begins the zone of an address. */
function hostEscapeError(text: string): string | undefined {
  for (const { index } of text.matchAll(/%/g)) {
    const found = text.slice(index, index + 3)
    if (!/^%[89A-Fa-f][0-9A-Fa-f]$/.test(found) && found !== '%25') return `invalid URL escape ${goQuote(found)}`
  }
  const character = /[ \\^`{|}]/.exec(text)?.[0]
  return character === undefined ? undefined : `invalid character ${goQuote(character)} in host name`
}

function hostError(host: string): string | undefined {
  const open = host.lastIndexOf('[')
  if (open === -1) {
    const colon = host.lastIndexOf(':')
    return (colon === -1 ? undefined : portError(host.slice(colon))) ?? hostEscapeError(host)
  }
  const close = host.lastIndexOf(']')
  if (close < open) return "missing ']' in host"
  const literal = host.slice(open + 1, close)
  const zone = literal.indexOf('%25')
  const address = zone === -1 ? literal : literal.slice(0, zone)
  const wrong = portError(host.slice(close + 1)) ?? hostEscapeError(address)
  if (wrong !== undefined) return wrong
  const parsed = parseIP(address)
  if (parsed === undefined) return `invalid host: ParseAddr(${goQuote(address)}): unable to parse IP`
  return address.includes(':') ? undefined : 'invalid IP-literal'
}

function portError(text: string): string | undefined {
  return text === '' || /^:[0-9]*$/.test(text) ? undefined : `invalid port ${goQuote(text)} after host`
}

function userError(user: string | undefined): string | undefined {
  if (user === undefined) return undefined
  return /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) ? escapeError(user) : 'net/url: invalid userinfo'
}
