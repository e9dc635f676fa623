import { X509Certificate } from 'node:crypto'
import { ByteBoundedCache, estimateBytes } from '@krmkit/base/byte-bounded-cache'
import { isDerError } from '@krmkit/base/der'
import type { Clock } from '@krmkit/meta'
import { type ChainVerification, parseAuthorities, verifyClientChain } from './certificate-chain.ts'

/** A PEM bundle of certificate authorities, or a function that returns the current one. */
export type CaBundleSource = string | (() => string)

/** The value derived from a verified leaf certificate, or the reason for the rejection. */
export type CertificateVerification<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string }

/** @param certificates DER, leaf first. */
export type CertificateVerifier<T> = (certificates: readonly Uint8Array[]) => CertificateVerification<T>

interface CachedVerification<T> {
  readonly chain: ChainVerification
  readonly result: CertificateVerification<T>
}

const unreadable = { ok: false, reason: 'the client certificate cannot be read' } as const
const outsideValidity = { ok: false, reason: 'certificate has expired or is not yet valid' } as const
const maxCertificates = 10

/**
 * Creates a verifier of client certificates against a CA bundle. Results are cached per leaf certificate until the bundle changes;
 * validity periods are checked on every call.
 *
 * @param derive computes the value of a verified leaf, once. It throws a BaseError `InvalidDer` for a certificate that
 *   cannot be parsed completely, which rejects the certificate.
 * @throws AuthenticationError `InvalidAuthority` when the initial bundle is invalid. When a later bundle is invalid, the
 *   last valid bundle stays in use.
 */
export function createCertificateVerifier<T>(
  options: { readonly authorities: CaBundleSource; readonly clock: Pick<Clock, 'now'>; readonly cacheBytes?: number },
  derive: (leaf: X509Certificate) => T,
): CertificateVerifier<T> {
  const { authorities: source, clock, cacheBytes = 4 * 1024 * 1024 } = options
  const readBundle = typeof source === 'string' ? () => source : source
  let bundle = readBundle()
  let authorities = parseAuthorities(bundle)
  // All requests of a connection share one certificate array, so this look-up needs no digest.
  let byConnection = new WeakMap<readonly Uint8Array[], CachedVerification<T>>()
  const byFingerprint = new ByteBoundedCache<CachedVerification<T>>({
    maxBytes: cacheBytes,
    weigh: ({ result }) => 256 + estimateBytes(result),
  })

  const refreshBundle = () => {
    const current = readBundle()
    if (current === bundle) return
    bundle = current
    try {
      authorities = parseAuthorities(current)
    } catch {
      return
    }
    byConnection = new WeakMap()
    byFingerprint.clear()
  }

  const verify = (certificates: readonly Uint8Array[]): CachedVerification<T> => {
    const parsed = parseCertificates(certificates)
    if (parsed === undefined) return { chain: unreadable, result: unreadable }
    const [leaf, ...intermediates] = parsed
    const fingerprint = leaf!.fingerprint256
    const cached = byFingerprint.get(fingerprint)
    if (cached !== undefined) return cached
    const chain = verifyClientChain(leaf!, { intermediates, authorities })
    if (!chain.ok) return { chain, result: chain }
    const value = tryDerive(leaf!)
    if (value === undefined) return { chain: unreadable, result: unreadable }
    const verified: CachedVerification<T> = { chain, result: value }
    byFingerprint.set(fingerprint, verified)
    return verified
  }

  const tryDerive = (leaf: X509Certificate): CertificateVerification<T> | undefined => {
    try {
      return { ok: true, value: derive(leaf) }
    } catch (error) {
      if (isDerError(error)) return undefined
      throw error
    }
  }

  return (certificates) => {
    refreshBundle()
    let verified = byConnection.get(certificates)
    if (verified === undefined) {
      verified = verify(certificates)
      byConnection.set(certificates, verified)
    }
    const { chain, result } = verified
    if (!chain.ok) return result
    const now = clock.now()
    return now < chain.notBefore || now > chain.notAfter ? outsideValidity : result
  }
}

function parseCertificates(certificates: readonly Uint8Array[]): X509Certificate[] | undefined {
  try {
    return certificates.slice(0, maxCertificates).map((der) => new X509Certificate(der))
  } catch {
    return undefined
  }
}
