import type { X509Certificate } from 'node:crypto'
import type { Clock } from '@krmkit/meta'
import { AuthenticationError } from './authentication-error.ts'
import { type AuthoritySource, chainJudge } from './chain-judge.ts'
import { commonNameOf } from './client-certificate.ts'
import type { AuthenticationOutcome, AuthenticationRequest, Authenticator } from './interfaces.ts'

/**
 * A proxy in front of the server that has authenticated the caller and says in headers who it is. Its headers are believed
 * only over a connection on which it proved to own a certificate of the front authority.
 *
 * @see API protocol specification, 5.4
 */
export interface FrontProxyOptions extends FrontProxyHeaders {
  /** PEM bundle of the authorities of proxies. A function is asked for every request. */
  readonly authorities: AuthoritySource
  /** Common names of the certificates of proxies. Empty (default): every certificate of the authorities. */
  readonly allowedNames?: readonly string[]
  readonly clock: Pick<Clock, 'now'>
}

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

type RequestHeaders = AuthenticationRequest['headers']

/** Headers that proxies use where nothing else was agreed on. */
export const usualProxyHeaders: Required<FrontProxyHeaders> = {
  usernameHeaders: ['x-remote-user'],
  uidHeaders: ['x-remote-uid'],
  groupHeaders: ['x-remote-group'],
  extraHeaderPrefixes: ['x-remote-extra-'],
}

const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }

/**
 * No certificate, or no user name in the headers, is no opinion; a certificate of another authority or another name is a
 * rejection, which lets the members after it in a chain judge the certificate.
 *
 * @throws AuthenticationError `InvalidAuthority`; `InvalidHeaders` when no header for the user name is given, or one is no
 *   name of a header.
 */
export function frontProxy(options: FrontProxyOptions): Authenticator {
  const names = readHeaderNames(options)
  const allowed = new Set(options.allowedNames ?? [])
  const judge = chainJudge(options, (leaf) => allowed.size === 0 || mayProxy(leaf, allowed))
  return {
    authenticate({ headers, peer }) {
      const certificates = peer.certificates
      if (certificates === undefined || certificates.length === 0) return noOpinion
      const judged = judge(certificates)
      if (!judged.ok) return { kind: 'rejected', reason: judged.reason }
      if (!judged.value) return { kind: 'rejected', reason: 'the common name of the certificate is not that of a proxy' }
      return userIn(headers, names)
    },
  }
}

function mayProxy(leaf: X509Certificate, allowed: ReadonlySet<string>): boolean {
  return allowed.has(commonNameOf(leaf))
}

function userIn(headers: RequestHeaders, names: Required<FrontProxyHeaders>): AuthenticationOutcome {
  const username = firstValue(headers, names.usernameHeaders)
  if (username === '') return noOpinion
  const uid = firstValue(headers, names.uidHeaders)
  const extra = extraIn(headers, names.extraHeaderPrefixes)
  return {
    kind: 'authenticated',
    user: {
      username,
      ...(uid === '' ? {} : { uid }),
      groups: names.groupHeaders.flatMap((name) => valuesOf(headers[name])),
      ...(extra === undefined ? {} : { extra }),
    },
  }
}

/** Of a repeated header the first value counts; an empty one does not. */
function firstValue(headers: RequestHeaders, names: readonly string[]): string {
  for (const name of names) {
    const [value = ''] = valuesOf(headers[name])
    if (value !== '') return value
  }
  return ''
}

function extraIn(headers: RequestHeaders, prefixes: readonly string[]): Record<string, string[]> | undefined {
  let extra: Record<string, string[]> | undefined
  for (const prefix of prefixes) {
    for (const name of Object.keys(headers)) {
      if (!name.startsWith(prefix)) continue
      extra ??= Object.create(null) as Record<string, string[]>
      const key = percentDecoded(name.slice(prefix.length))
      extra[key] = [...(extra[key] ?? []), ...valuesOf(headers[name])]
    }
  }
  return extra
}

function valuesOf(value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined) return []
  return typeof value === 'string' ? [value] : value
}

/** Undoes percent-encoding; a text that is not rightly encoded stays as it is. */
export function percentDecoded(text: string): string {
  if (!text.includes('%')) return text
  if (/%(?![0-9a-f]{2})/i.test(text)) return text
  const bytes: Buffer[] = text
    .split(/(%[0-9a-f]{2})/i)
    .map((part) => (/^%[0-9a-f]{2}$/i.test(part) ? Buffer.from(part.slice(1), 'hex') : Buffer.from(part)))
  return Buffer.concat(bytes).toString('utf8')
}

/** Names in lower case, as requests have them. @throws AuthenticationError `InvalidHeaders` */
export function readHeaderNames(headers: FrontProxyHeaders): Required<FrontProxyHeaders> {
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

/** Tells whether a header is one by which proxies say who the caller is: nobody behind authentication may see it. */
export function proxyHeaderTest(custom?: FrontProxyHeaders): (name: string) => boolean {
  const all = [usualProxyHeaders, ...(custom === undefined ? [] : [readHeaderNames(custom)])]
  const names = new Set(
    all.flatMap(({ usernameHeaders, uidHeaders, groupHeaders }) => [...usernameHeaders, ...uidHeaders, ...groupHeaders]),
  )
  const prefixes = [...new Set(all.flatMap(({ extraHeaderPrefixes }) => extraHeaderPrefixes))]
  return (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
}
