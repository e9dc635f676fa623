import { X509Certificate } from 'node:crypto'
import type { Clock, NamingProfile, UserInfo } from '@krmkit/meta'
import { type ChainVerdict, parseAuthorities, verifyClientChain } from './certificate-chain.ts'
import type { AuthenticationOutcome, Authenticator } from './interfaces.ts'

const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }

export interface ClientCertificateOptions {
  /** PEM bundle of the authorities whose certificates are believed. */
  readonly authorities: string
  readonly clock: Pick<Clock, 'now'>
  readonly profile: Pick<NamingProfile, 'domain'>
  /** Certificates whose verdict is remembered. Default 1 000. */
  readonly cacheSize?: number
}

interface Known {
  readonly verdict: ChainVerdict
  readonly authenticated: AuthenticationOutcome
}

/**
 * Knows callers by the certificate they proved to own: the common name is the user name, each organisation a group. A
 * certificate of a foreign authority, or outside its time, is a rejection; no certificate is no opinion.
 *
 * @throws AuthenticationError `InvalidAuthority` when the bundle is unusable.
 */
export function clientCertificate(options: ClientCertificateOptions): Authenticator {
  const authorities = parseAuthorities(options.authorities)
  const limit = options.cacheSize ?? 1000
  // All requests of a connection share one certificate list: that is found without hashing anything.
  const byConnection = new WeakMap<readonly Uint8Array[], Known>()
  const byFingerprint = new Map<string, Known>()

  const judge = (certificates: readonly Uint8Array[]): Known | string => {
    const chain = readAll(certificates)
    if (chain === undefined) return 'the client certificate cannot be read'
    const [leaf, ...intermediates] = chain
    const fingerprint = leaf!.fingerprint256
    const seen = byFingerprint.get(fingerprint)
    if (seen !== undefined) return seen
    const verdict = verifyClientChain(leaf!, { intermediates, authorities })
    const known: Known = { verdict, authenticated: { kind: 'authenticated', user: userOfCertificate(leaf!, options.profile) } }
    if (verdict.ok) {
      if (byFingerprint.size >= limit) byFingerprint.delete(byFingerprint.keys().next().value!)
      byFingerprint.set(fingerprint, known)
    }
    return known
  }

  return {
    authenticate({ peer }) {
      const certificates = peer.certificates
      if (certificates === undefined || certificates.length === 0) return noOpinion
      const known = byConnection.get(certificates) ?? judge(certificates)
      if (typeof known === 'string') return { kind: 'rejected', reason: known }
      byConnection.set(certificates, known)
      return outcomeAt(known, options.clock.now())
    },
  }
}

/** The user that a certificate names: the last common name, every organisation, and the certificate's own digest. */
export function userOfCertificate(certificate: X509Certificate, profile: Pick<NamingProfile, 'domain'>): UserInfo {
  const subject = certificate.toLegacyObject().subject as unknown as Readonly<
    Record<string, string | readonly string[] | undefined>
  >
  const digest = certificate.fingerprint256.replaceAll(':', '').toLowerCase()
  return {
    username: valuesOf(subject.CN).at(-1) ?? '',
    groups: valuesOf(subject.O),
    extra: { [`authentication.${profile.domain}/credential-id`]: [`X509SHA256=${digest}`] },
  }
}

function outcomeAt({ verdict, authenticated }: Known, now: number): AuthenticationOutcome {
  if (!verdict.ok) return { kind: 'rejected', reason: verdict.reason }
  if (now < verdict.notBefore || now > verdict.notAfter) {
    return { kind: 'rejected', reason: 'certificate has expired or is not yet valid' }
  }
  return authenticated.kind === 'authenticated' && authenticated.user.username === '' ? noOpinion : authenticated
}

function readAll(certificates: readonly Uint8Array[]): X509Certificate[] | undefined {
  try {
    return certificates.slice(0, 10).map((der) => new X509Certificate(der))
  } catch {
    return undefined
  }
}

function valuesOf(value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined) return []
  return typeof value === 'string' ? [value] : value
}
