import { goQuote } from '@krmkit/meta/go-text'

/**
 * A URL reference in a redirect or link, parsed and formatted as kube-apiserver does. Texts are byte strings: each character stands for one
 * byte, so that any encoding passes unchanged.
 */
export interface UrlReference {
  readonly scheme: string
  /** The text after the scheme of an opaque URL, such as a `mailto:` URL. */
  readonly opaque: string
  readonly userInfo: string
  /** Host and port. */
  readonly host: string
  /** The decoded path. */
  readonly path: string
  /** The path as written; used as long as it decodes to `path`. */
  readonly rawPath: string
  /** Query with its question mark. */
  readonly query: string
  /** The decoded fragment. */
  readonly fragment: string
}

/** Characters that are percent-encoded in a path and in a fragment. */
const escapedInPath = /[^A-Za-z0-9\-_.~$&+,/:;=@]/g
const escapedInFragment = /[^A-Za-z0-9\-_.~$&+,/:;=?@!()*]/g
/** Characters that a valid path does not contain. A path as written is kept only without them. */
const neverInPath = /[^A-Za-z0-9\-_.~$&+,/:;=@!'()*[\]%]/

/** @returns the reference, or an error message for a text that is not a reference. */
export function parseReference(text: string): UrlReference | string {
  const problem = (what: string): string => `parse ${goQuote(text)}: ${what}`
  const hash = text.indexOf('#')
  const withoutFragment = hash < 0 ? text : text.slice(0, hash)
  if (hasControl(withoutFragment)) return problem('net/url: invalid control character in URL')
  const fragment = hash < 0 ? '' : percentDecode(text.slice(hash + 1))
  if (fragment === undefined) return problem(invalidEscape(text.slice(hash + 1)))
  const hasColon = withoutFragment.includes(':')
  const scheme = hasColon ? (/^([A-Za-z][A-Za-z0-9+.-]*):/.exec(withoutFragment)?.[1]?.toLowerCase() ?? '') : ''
  if (withoutFragment.startsWith(':')) return problem('missing protocol scheme')
  const afterScheme = scheme === '' ? withoutFragment : withoutFragment.slice(scheme.length + 1)
  const mark = afterScheme.indexOf('?')
  const query = mark < 0 ? '' : afterScheme.slice(mark)
  const hierarchy = mark < 0 ? afterScheme : afterScheme.slice(0, mark)
  if (!hierarchy.startsWith('/')) {
    if (scheme !== '') return { scheme, opaque: hierarchy, userInfo: '', host: '', path: '', rawPath: '', query, fragment }
    if (hasColon && /^[^/]*:/.test(hierarchy)) return problem('first path segment in URL cannot contain colon')
  }
  const hasAuthority = hierarchy.startsWith('//') && (scheme !== '' || !hierarchy.startsWith('///'))
  const slash = hasAuthority ? hierarchy.indexOf('/', 2) : 0
  const rawPath = slash < 0 ? '' : hierarchy.slice(slash)
  const authority = !hasAuthority ? '' : slash < 0 ? hierarchy.slice(2) : hierarchy.slice(2, slash)
  const at = authority.lastIndexOf('@')
  const host = authority.slice(at + 1)
  const fault = host === '' ? undefined : hostFault(host)
  if (fault !== undefined) return problem(fault)
  const path = percentDecode(rawPath)
  if (path === undefined) return problem(invalidEscape(rawPath))
  return { scheme, opaque: '', userInfo: authority.slice(0, at + 1), host, path, rawPath, query, fragment }
}

export function formatReference({ scheme, opaque, userInfo, host, path, rawPath, query, fragment }: UrlReference): string {
  const end = `${query}${fragment === '' ? '' : `#${percentEncode(fragment, escapedInFragment)}`}`
  const start = scheme === '' ? '' : `${scheme}:`
  if (opaque !== '') return `${start}${opaque}${end}`
  const authority = host !== '' || userInfo !== '' || (scheme !== '' && path !== '') ? `//${userInfo}${host}` : ''
  return `${start}${authority}${writtenPath(path, rawPath)}${end}`
}

/** Percent-encodes a decoded path, a byte string. */
export function escapePath(path: string): string {
  return percentEncode(path, escapedInPath)
}

/** Removes empty and dot segments; no trailing slash remains, except in `/`. */
export function cleanPath(path: string): string {
  const rooted = path.startsWith('/')
  const kept: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') kept.push(segment)
    else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop()
    else if (!rooted) kept.push(segment)
  }
  const text = kept.join('/')
  return rooted ? `/${text}` : text
}

function writtenPath(path: string, rawPath: string): string {
  return !neverInPath.test(rawPath) && percentDecode(rawPath) === path ? rawPath : escapePath(path)
}

function percentEncode(text: string, escaped: RegExp): string {
  return text.replace(escaped, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)
}

/** Decodes percent escapes to bytes; undefined when one is malformed. */
function percentDecode(text: string): string | undefined {
  if (!text.includes('%')) return text
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return undefined
  return text.replace(/%([0-9A-Fa-f]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

function invalidEscape(text: string): string {
  return `invalid URL escape ${goQuote(/%(?![0-9A-Fa-f]{2}).{0,2}/.exec(text)?.[0] ?? '')}`
}

function hostFault(host: string): string | undefined {
  if (host.startsWith('[') && !host.includes(']')) return "missing ']' in host"
  const port = /:([^:\]]*)$/.exec(host)?.[1]
  if (port !== undefined && !/^[0-9]*$/.test(port)) return `invalid port ${goQuote(`:${port}`)} after host`
  const character = /[ "<>\\^`{|}]/.exec(host)?.[0]
  return character === undefined ? undefined : `invalid character ${goQuote(character)} in host name`
}

function hasControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x20 || code === 0x7f) return true
  }
  return false
}
