import type { X509Certificate } from 'node:crypto'
import type { Clock } from '@krmkit/meta'
import {
  decodeExtraKey,
  type FrontProxyHeaders,
  headerValues,
  normalizeHeaderNames,
  singleHeaderValue,
} from './identity-headers.ts'
import type { AuthenticationOutcome, AuthenticationRequest, Authenticator } from './interfaces.ts'
import { type CaBundleSource, createCertificateVerifier } from './x509/certificate-verifier.ts'
import { commonNameOf } from './x509/client-certificate.ts'

/**
 * A proxy in front of the server that has authenticated the caller and says in headers who it is. Its headers are believed
 * only over a connection on which it proved to own a certificate of the front authority.
 *
 * @see API protocol specification, 5.4
 */
export interface FrontProxyOptions extends FrontProxyHeaders {
  /** PEM bundle of the authorities of proxies. A function is asked for every request. */
  readonly authorities: CaBundleSource
  /** Common names of the certificates of proxies. Empty (default): every certificate of the authorities. */
  readonly allowedNames?: readonly string[]
  readonly clock: Pick<Clock, 'now'>
}

type RequestHeaders = AuthenticationRequest['headers']

const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }
const malformed: AuthenticationOutcome = { kind: 'rejected', reason: 'the headers of the proxy cannot be read' }

/**
 * No certificate, or no user name in the headers, is no opinion; headers that cannot be read are a rejection; a certificate of another authority or another name is a
 * rejection, which lets the members after it in a chain judge the certificate.
 *
 * @throws AuthenticationError `InvalidAuthority`; `InvalidHeaders` when no header for the user name is given, or one is no
 *   name of a header.
 */
export function createFrontProxyAuthenticator(options: FrontProxyOptions): Authenticator {
  const names = normalizeHeaderNames(options)
  const allowed = new Set(options.allowedNames ?? [])
  const judge = createCertificateVerifier(options, (leaf) => allowed.size === 0 || isAllowedProxy(leaf, allowed))
  return {
    authenticate({ headers, peer }) {
      const certificates = peer.certificates
      if (certificates === undefined || certificates.length === 0) return noOpinion
      const judged = judge(certificates)
      if (!judged.ok) return { kind: 'rejected', reason: judged.reason }
      if (!judged.value) return { kind: 'rejected', reason: 'the common name of the certificate is not that of a proxy' }
      return userFromHeaders(headers, names)
    },
  }
}

function isAllowedProxy(leaf: X509Certificate, allowed: ReadonlySet<string>): boolean {
  return allowed.has(commonNameOf(leaf))
}

function userFromHeaders(headers: RequestHeaders, names: Required<FrontProxyHeaders>): AuthenticationOutcome {
  const username = firstValue(headers, names.usernameHeaders)
  const uid = firstValue(headers, names.uidHeaders)
  const extra = extraFromHeaders(headers, names.extraHeaderPrefixes)
  if (username === false || uid === false || extra === false) return malformed
  if (username === '') return noOpinion
  return {
    kind: 'authenticated',
    user: {
      username,
      ...(uid === '' ? {} : { uid }),
      groups: names.groupHeaders.flatMap((name) => headerValues(headers[name])),
      ...(extra === undefined ? {} : { extra }),
    },
  }
}

/** The first that is not empty; false when one of them is repeated. */
function firstValue(headers: RequestHeaders, names: readonly string[]): string | false {
  let first = ''
  for (const name of names) {
    const value = singleHeaderValue(headers[name])
    if (value === false) return false
    if (first === '') first = value ?? ''
  }
  return first
}

/** False when a key cannot be read. */
function extraFromHeaders(headers: RequestHeaders, prefixes: readonly string[]): Record<string, string[]> | false | undefined {
  let extra: Record<string, string[]> | undefined
  for (const prefix of prefixes) {
    for (const name of Object.keys(headers)) {
      if (!name.startsWith(prefix)) continue
      extra ??= Object.create(null) as Record<string, string[]>
      const key = decodeExtraKey(name.slice(prefix.length))
      if (key === undefined) return false
      extra[key] = [...(extra[key] ?? []), ...headerValues(headers[name])]
    }
  }
  return extra
}
