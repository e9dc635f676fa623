import { AuthenticationError } from './authentication-error.ts'
import type { AuthenticationRequest } from './interfaces.ts'

/**
 * The headers that determine the user of a request: Authorization, Impersonate-*, and those of a front proxy.
 *
 * **A malformed identity header never counts as absent.** A repeated single-valued header, unrepresentable text, or an
 * undecodable value fails the request with 400 or 401. Otherwise the request would run as a user other than the one it
 * names: a request with an ignored malformed Impersonate-User would have the permissions of the impersonator.
 *
 * Two cases count as absent, as in kube-apiserver: an Authorization header with another scheme than Bearer, and an empty
 * Impersonate-User.
 *
 * Differs: kube-apiserver uses the first of repeated headers, and accepts bytes that are not UTF-8.
 */

export interface FrontProxyHeaders {
  /** Headers for the user name, in order of precedence; at least one. The first non-empty value applies. */
  readonly usernameHeaders: readonly string[]
  /** Headers for the uid, in order of precedence. */
  readonly uidHeaders?: readonly string[]
  /** Headers for groups; all values of all headers apply. */
  readonly groupHeaders?: readonly string[]
  /** Prefixes of headers for extra values; the percent-decoded rest of the name is the key. */
  readonly extraHeaderPrefixes?: readonly string[]
}

/** The `x-remote-*` headers that front proxies send by default. */
export const defaultFrontProxyHeaders: Required<FrontProxyHeaders> = {
  usernameHeaders: ['x-remote-user'],
  uidHeaders: ['x-remote-uid'],
  groupHeaders: ['x-remote-group'],
  extraHeaderPrefixes: ['x-remote-extra-'],
}

export const impersonationHeaders = {
  user: 'impersonate-user',
  uid: 'impersonate-uid',
  group: 'impersonate-group',
  extraPrefix: 'impersonate-extra-',
} as const

type HeaderValue = AuthenticationRequest['headers'][string]

/** A malformed identity header. */
export interface IdentityHeaderError {
  /** 401 for Authorization, 400 for the others. */
  readonly code: 400 | 401
  readonly message: string
}

/** The identity headers that one server reads. */
export interface IdentityHeaderRules {
  /**
   * Returns the first malformed identity header of a request; undefined when all are valid. A request with a malformed
   * header must fail.
   */
  validate(request: Pick<AuthenticationRequest, 'headers' | 'headersJoined'>): IdentityHeaderError | undefined
  /** Whether a header is a front proxy header, which must be removed before handlers run. */
  isProxyHeader(name: string): boolean
}

/** Kinds of headers: repeatable (`many`), not repeatable (`single`), or with an extra key in the name (`keyed`). */
type HeaderFamily = 'single' | 'many' | 'keyed'

/**
 * Creates the rules for the default front proxy headers and the configured ones.
 *
 * @throws AuthenticationError `InvalidHeaders`
 * @example
 * ```ts
 * import { createIdentityHeaderRules } from '@krmkit/authentication/headers'
 *
 * const rules = createIdentityHeaderRules()
 * rules.validate({ headers: { 'impersonate-user': ['jane', 'joe'] } })?.code // 400
 * ```
 */
export function createIdentityHeaderRules(custom?: FrontProxyHeaders): IdentityHeaderRules {
  const proxies = [defaultFrontProxyHeaders, ...(custom === undefined ? [] : [normalizeHeaderNames(custom)])]
  const proxyNames = new Map<string, HeaderFamily>()
  for (const { usernameHeaders, uidHeaders, groupHeaders } of proxies) {
    for (const name of [...usernameHeaders, ...uidHeaders]) proxyNames.set(name, 'single')
    for (const name of groupHeaders) proxyNames.set(name, 'many')
  }
  const proxyPrefixes = [...new Set(proxies.flatMap(({ extraHeaderPrefixes }) => extraHeaderPrefixes))]
  const names = new Map<string, HeaderFamily>([
    ...proxyNames,
    ['authorization', 'single'],
    [impersonationHeaders.user, 'single'],
    [impersonationHeaders.uid, 'single'],
    [impersonationHeaders.group, 'many'],
  ])
  const prefixes = [impersonationHeaders.extraPrefix, ...proxyPrefixes]
  const familyOf = (name: string): HeaderFamily | undefined => {
    const family = names.get(name)
    if (family !== undefined) return family
    for (const prefix of prefixes) if (name.startsWith(prefix)) return 'keyed'
    return undefined
  }
  const validateKey = (name: string): string | undefined => {
    if (names.has(name)) return undefined
    const prefix = prefixes.find((each) => name.startsWith(each)) ?? ''
    return decodeExtraKey(name.slice(prefix.length)) === undefined ? 'has a key that is not UTF-8' : undefined
  }
  return {
    validate({ headers, headersJoined = false }) {
      for (const name in headers) {
        const lower = name.toLowerCase()
        const family = familyOf(lower)
        if (family === undefined) continue
        const message =
          lower === name
            ? (validateValue(headers[name], { family, headersJoined }) ?? validateKey(name))
            : 'must be named in lower case'
        if (message !== undefined) return { code: name === 'authorization' ? 401 : 400, message: `header ${name} ${message}` }
      }
      return undefined
    },
    isProxyHeader: (name) => proxyNames.has(name) || proxyPrefixes.some((prefix) => name.startsWith(prefix)),
  }
}

function validateValue(
  value: HeaderValue,
  { family, headersJoined }: { readonly family: HeaderFamily; readonly headersJoined: boolean },
): string | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string') return validateText(value, headersJoined)
  if (family === 'single' && value.length > 1) return 'is repeated'
  for (const one of value) {
    const problem = validateText(one, headersJoined)
    if (problem !== undefined) return problem
  }
  return undefined
}

function validateText(text: string, headersJoined: boolean): string | undefined {
  if (!isValidHeaderText(text)) return 'holds text that cannot be represented'
  return headersJoined && joinedValues.test(text) ? 'may be several that were joined' : undefined
}

/** Matches joined header values, which are separated by comma and space. After a last empty value the space is trimmed. */
const joinedValues = /, |,$/

const replacementCharacter = 0xfffd

/**
 * Whether a header value is valid text: no control characters except tab, no U+FFFD (undecodable bytes), no lone surrogate.
 *
 * @example
 * ```ts
 * import { isValidHeaderText } from '@krmkit/authentication/headers'
 *
 * isValidHeaderText('jane') // true
 * isValidHeaderText('jane\u0000') // false
 * ```
 */
export function isValidHeaderText(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0x20 && code < 0x7f) continue
    if ((code < 0x20 && code !== 0x09) || code === 0x7f || code === replacementCharacter) return false
    if (code < 0xd800 || code > 0xdfff) continue
    const next = text.charCodeAt(i + 1)
    if (code > 0xdbff || !(next >= 0xdc00 && next <= 0xdfff)) return false
    i++
  }
  return true
}

/**
 * Returns the value of a single-valued header: undefined when absent, `false` when repeated.
 *
 * @example
 * ```ts
 * import { singleHeaderValue } from '@krmkit/authentication/headers'
 *
 * singleHeaderValue('jane') // 'jane'
 * singleHeaderValue(['jane', 'joe']) // false
 * ```
 */
export function singleHeaderValue(value: HeaderValue): string | undefined | false {
  if (value === undefined || typeof value === 'string') return value
  return value.length > 1 ? false : value[0]
}

/**
 * Returns all values of a repeatable header.
 *
 * @example
 * ```ts
 * import { headerValues } from '@krmkit/authentication/headers'
 *
 * headerValues('dev') // ['dev']
 * headerValues(undefined) // []
 * ```
 */
export function headerValues(value: HeaderValue): readonly string[] {
  if (value === undefined) return []
  return typeof value === 'string' ? [value] : value
}

/**
 * Decodes the extra key of a header name, in lower case. A malformed percent-encoding is kept literally; undefined when the encoded bytes
 * are not UTF-8.
 *
 * @example
 * ```ts
 * import { decodeExtraKey } from '@krmkit/authentication/headers'
 *
 * decodeExtraKey('Example.com%2FTeam') // 'example.com/team'
 * ```
 */
export function decodeExtraKey(encoded: string): string | undefined {
  const text = encoded.toLowerCase()
  if (!text.includes('%') || /%(?![0-9a-f]{2})/.test(text)) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** The bearer token of an Authorization header. */
export type BearerCredential =
  | { readonly kind: 'absent' }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'malformed'; readonly reason: string }

const absent: BearerCredential = { kind: 'absent' }

/** Reads `Bearer TOKEN`; text after the token is ignored, and other schemes count as absent. */
export function readBearerCredential(header: HeaderValue): BearerCredential {
  const value = singleHeaderValue(header)
  if (value === undefined) return absent
  if (value === false) return { kind: 'malformed', reason: 'the Authorization header is repeated' }
  const text = value.trim()
  if (text.length < 8 || text.slice(0, 7).toLowerCase() !== 'bearer ') return absent
  const end = text.indexOf(' ', 7)
  const token = end < 0 ? text.slice(7) : text.slice(7, end)
  return token === '' ? absent : { kind: 'token', token }
}

/** Trims header names and converts them to lower case. @throws AuthenticationError `InvalidHeaders` */
export function normalizeHeaderNames(headers: FrontProxyHeaders): Required<FrontProxyHeaders> {
  const lower = (names: readonly string[] = []) => names.map((name) => name.trim().toLowerCase())
  const read = {
    usernameHeaders: lower(headers.usernameHeaders),
    uidHeaders: lower(headers.uidHeaders),
    groupHeaders: lower(headers.groupHeaders),
    extraHeaderPrefixes: lower(headers.extraHeaderPrefixes),
  }
  const invalid = Object.values(read)
    .flat()
    .find((name) => !/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name))
  if (invalid !== undefined)
    throw new AuthenticationError({ code: 'InvalidHeaders', message: `${JSON.stringify(invalid)} is not a header name` })
  if (read.usernameHeaders.length === 0)
    throw new AuthenticationError({ code: 'InvalidHeaders', message: 'no header for the user name is given' })
  return read
}
