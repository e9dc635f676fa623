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
 * Options for an authenticating proxy in front of the server, which sends the user in headers. The headers are trusted only
 * on connections with a client certificate of the front proxy authority.
 *
 * @see API protocol specification, 5.4
 */
export interface FrontProxyOptions extends FrontProxyHeaders {
  /** PEM bundle of the front proxy authorities. A function is called for every request, and may return a rotated bundle. */
  readonly authorities: CaBundleSource
  /** Allowed common names of proxy certificates. Empty (default): all. */
  readonly allowedNames?: readonly string[]
  readonly clock: Pick<Clock, 'now'>
}

type RequestHeaders = AuthenticationRequest['headers']

const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }
const malformed: AuthenticationOutcome = { kind: 'rejected', reason: 'the headers of the proxy cannot be read' }

/**
 * Authenticates the user that a front proxy names in headers. Without a certificate or user name there is no opinion.
 * Malformed headers are rejected, as is a certificate of another authority or name, which later members of a chain may still
 * accept.
 *
 * @throws AuthenticationError `InvalidAuthority`; `InvalidHeaders` when no user name header is given or a header name is invalid.
 * @example
 * ```ts
 * import { createFrontProxyAuthenticator, defaultFrontProxyHeaders } from '@krmkit/authentication'
 * import { createFakeFrontProxy } from '@krmkit/authentication/testing'
 * import { systemClock, systemRandom } from '@krmkit/meta'
 *
 * const proxy = createFakeFrontProxy({ clock: systemClock, random: systemRandom })
 * const authorities = proxy.authority.certificate
 * const { authenticate } = createFrontProxyAuthenticator({ ...defaultFrontProxyHeaders, authorities, clock: systemClock })
 * authenticate(proxy.request({ username: 'jane', groups: ['dev'] })) // user: { username: 'jane', groups: ['dev'] }
 * ```
 */
export function createFrontProxyAuthenticator(options: FrontProxyOptions): Authenticator {
  const names = normalizeHeaderNames(options)
  const allowed = new Set(options.allowedNames ?? [])
  const verify = createCertificateVerifier(options, (leaf) => allowed.size === 0 || isAllowedProxy(leaf, allowed))
  return {
    authenticate({ headers, peer }) {
      const certificates = peer.certificates
      if (certificates === undefined || certificates.length === 0) return noOpinion
      const verification = verify(certificates)
      if (!verification.ok) return { kind: 'rejected', reason: verification.reason }
      if (!verification.value) return { kind: 'rejected', reason: 'the common name of the certificate is not that of a proxy' }
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
      // As on kube-apiserver, an empty value names no group.
      groups: names.groupHeaders.flatMap((name) => headerValues(headers[name])).filter((group) => group !== ''),
      ...(extra === undefined ? {} : { extra }),
    },
  }
}

/** Returns the first non-empty value; false when one of the headers is repeated. */
function firstValue(headers: RequestHeaders, names: readonly string[]): string | false {
  let first = ''
  for (const name of names) {
    const value = singleHeaderValue(headers[name])
    if (value === false) return false
    if (first === '') first = value ?? ''
  }
  return first
}

/** Returns the extra values by key; false when a key cannot be decoded. */
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
