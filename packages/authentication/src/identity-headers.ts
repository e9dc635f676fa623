import { AuthenticationError } from './authentication-error.ts'
import type { AuthenticationRequest } from './interfaces.ts'

/**
 * The headers that decide who a request runs as: Authorization, Impersonate-*, and those of a front proxy.
 *
 * **A malformed identity header is never an absent one.** A header of these families that is repeated where one is allowed, that holds
 * text that cannot be represented, or that cannot be read, ends the request with 400 or 401. Without this rule the request would run as
 * another user than it says: a lost Impersonate-User leaves the rights of the caller.
 *
 * Two things are absent in the protocol itself, in the stock server and here: an Authorization header that is not `Bearer TOKEN`, because
 * other schemes are not for this server, and an empty Impersonate-User.
 *
 * Differs: the stock server takes the first of repeated headers, and bytes that are not UTF-8 as they are.
 */

export interface FrontProxyHeaders {
  /** Headers that may hold the user name, in order: the first with a value decides. At least one. */
  readonly usernameHeaders: readonly string[]
  /** Headers that may hold the uid, in order. */
  readonly uidHeaders?: readonly string[]
  /** Headers whose values are groups, all of them. */
  readonly groupHeaders?: readonly string[]
  /** Headers that begin so hold extra values; the rest of the name, percent-decoded, is the key. */
  readonly extraHeaderPrefixes?: readonly string[]
}

/** Headers that proxies use where nothing else was agreed on. */
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

/** Why a request cannot say who it is from. */
export interface IdentityHeaderError {
  /** 401 for Authorization, 400 for the others. */
  readonly code: 400 | 401
  readonly message: string
}

/** The identity headers that one server reads. */
export interface IdentityHeaderRules {
  /** The first thing wrong with the identity headers of a request; the request must be refused. */
  validate(request: Pick<AuthenticationRequest, 'headers' | 'headersJoined'>): IdentityHeaderError | undefined
  /** Whether a header is one by which proxies say who the caller is: handlers must not see it. */
  isProxyHeader(name: string): boolean
}

/** How often a header may stand in a request; a prefix: the rest of the name is a key. */
type HeaderFamily = 'single' | 'many' | 'keyed'

/** @throws AuthenticationError `InvalidHeaders` */
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
  const keyProblem = (name: string): string | undefined => {
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
            ? (validateValue(headers[name], { family, headersJoined }) ?? keyProblem(name))
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
  return headersJoined && text.includes(', ') ? 'may be several that were joined' : undefined
}

const replacementCharacter = 0xfffd

/** Whether text is what was sent: no control characters but tabs, no stand-in for bytes that are not UTF-8, no half of a surrogate pair. */
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

/** The value of a header that may stand once: undefined when there is none, `false` when there are several. */
export function singleHeaderValue(value: HeaderValue): string | undefined | false {
  if (value === undefined || typeof value === 'string') return value
  return value.length > 1 ? false : value[0]
}

/** The values of a header that may be repeated. */
export function headerValues(value: HeaderValue): readonly string[] {
  if (value === undefined) return []
  return typeof value === 'string' ? [value] : value
}

/**
 * The key in the name of a header of extra values, in lower case. What is not rightly percent-encoded stays as it is; undefined when the
 * encoded bytes are not UTF-8.
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

/** What an Authorization header says about bearer tokens. */
export type BearerCredential =
  | { readonly kind: 'absent' }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'malformed'; readonly reason: string }

const absent: BearerCredential = { kind: 'absent' }

/** Reads `Bearer TOKEN`; words after the token are ignored. Whatever else a header holds is no bearer credential. */
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

/** Names in lower case, as requests have them. @throws AuthenticationError `InvalidHeaders` */
export function normalizeHeaderNames(headers: FrontProxyHeaders): Required<FrontProxyHeaders> {
  const lower = (names: readonly string[] = []) => names.map((name) => name.trim().toLowerCase())
  const read = {
    usernameHeaders: lower(headers.usernameHeaders),
    uidHeaders: lower(headers.uidHeaders),
    groupHeaders: lower(headers.groupHeaders),
    extraHeaderPrefixes: lower(headers.extraHeaderPrefixes),
  }
  const wrong = Object.values(read)
    .flat()
    .find((name) => !/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name))
  if (wrong !== undefined)
    throw new AuthenticationError({ code: 'InvalidHeaders', message: `${JSON.stringify(wrong)} is no name of a header` })
  if (read.usernameHeaders.length === 0)
    throw new AuthenticationError({ code: 'InvalidHeaders', message: 'no header for the user name is given' })
  return read
}
