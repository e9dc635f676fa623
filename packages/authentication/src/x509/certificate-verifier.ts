import { X509Certificate } from 'node:crypto'
import { ByteBoundedCache, type Clock, estimateBytes } from '@krmkit/meta'
import { type ChainVerification, parseAuthorities, verifyClientChain } from './certificate-chain.ts'

/** A PEM bundle, or where to get the one that holds now. */
export type CaBundleSource = string | (() => string)

/** What a chain of certificates comes to. */
export type CertificateVerification<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string }

export type CertificateVerifier<T> = (certificates: readonly Uint8Array[]) => CertificateVerification<T>

interface CachedVerification<T> {
  readonly verdict: ChainVerification
  readonly judged: CertificateVerification<T>
}

const unreadable = { ok: false, reason: 'the client certificate cannot be read' } as const
const outsideValidity = { ok: false, reason: 'certificate has expired or is not yet valid' } as const

/**
 * Judges the certificates of connections against authorities, and works out once for each certificate what it means. What is
 * remembered is forgotten when the authorities change; times are looked at anew for every request.
 *
 * @throws AuthenticationError `InvalidAuthority` when the bundle is unusable at the start; one that becomes unusable later
 *   leaves the last good one in force.
 */
export function createCertificateVerifier<T>(
  options: { readonly authorities: CaBundleSource; readonly clock: Pick<Clock, 'now'>; readonly cacheBytes?: number },
  /** Throws a RangeError for a certificate that cannot be read as a whole: it is rejected. */
  meaning: (leaf: X509Certificate) => T,
): CertificateVerifier<T> {
  const { authorities: source, clock, cacheBytes = 4 * 1024 * 1024 } = options
  const bundle = typeof source === 'string' ? () => source : source
  let pem = bundle()
  let authorities = parseAuthorities(pem)
  // All requests of a connection share one certificate list: that is found without hashing anything.
  let byConnection = new WeakMap<readonly Uint8Array[], CachedVerification<T>>()
  const byFingerprint = new ByteBoundedCache<CachedVerification<T>>({
    maxBytes: cacheBytes,
    weigh: ({ judged }) => 256 + estimateBytes(judged),
  })

  const refresh = () => {
    const now = bundle()
    if (now === pem) return
    pem = now
    try {
      authorities = parseAuthorities(now)
    } catch {
      return
    }
    byConnection = new WeakMap()
    byFingerprint.clear()
  }

  const know = (certificates: readonly Uint8Array[]): CachedVerification<T> => {
    const chain = parseCertificates(certificates)
    if (chain === undefined) return { verdict: unreadable, judged: unreadable }
    const [leaf, ...intermediates] = chain
    const fingerprint = leaf!.fingerprint256
    const seen = byFingerprint.get(fingerprint)
    if (seen !== undefined) return seen
    const verdict = verifyClientChain(leaf!, { intermediates, authorities })
    if (!verdict.ok) return { verdict, judged: verdict }
    const known = understood(leaf!, verdict)
    if (known === undefined) return { verdict: unreadable, judged: unreadable }
    byFingerprint.set(fingerprint, known)
    return known
  }

  const understood = (leaf: X509Certificate, verdict: ChainVerification): CachedVerification<T> | undefined => {
    try {
      return { verdict, judged: { ok: true, value: meaning(leaf) } }
    } catch (error) {
      if (error instanceof RangeError) return undefined
      throw error
    }
  }

  return (certificates) => {
    refresh()
    let known = byConnection.get(certificates)
    if (known === undefined) {
      known = know(certificates)
      byConnection.set(certificates, known)
    }
    const { verdict, judged } = known
    if (!verdict.ok) return judged
    const now = clock.now()
    return now < verdict.notBefore || now > verdict.notAfter ? outsideValidity : judged
  }
}

function parseCertificates(certificates: readonly Uint8Array[]): X509Certificate[] | undefined {
  try {
    return certificates.slice(0, 10).map((der) => new X509Certificate(der))
  } catch {
    return undefined
  }
}
