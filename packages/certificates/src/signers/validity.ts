import { CertificateError } from '../certificate-error.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** Backdating of certificates, in milliseconds, to tolerate verifiers whose clocks are behind. */
export const backdateMs = 5 * minuteMs
/** Durations below this are not shortened by backdating. */
const shortLifeMs = 8 * hourMs
const minDurationMs = 10 * minuteMs
/** Default maximum duration: one year, in milliseconds. */
export const defaultSigningDurationMs = 365 * 24 * hourMs

export interface ValidityOptions {
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Maximum duration of the signer, in milliseconds. */
  readonly maxDurationMs: number
  /** `spec.expirationSeconds` */
  readonly expirationSeconds?: number | undefined
  /** Expiry of the authority, in milliseconds since the epoch; no certificate outlives it. */
  readonly authorityNotAfter: number
}

/**
 * Computes the validity of a certificate: the shorter of the maximum and the requested duration.
 *
 * @throws CertificateError `UnusableAuthority` when the authority has expired.
 * @see API protocol specification, 2.10 and 8
 */
export function validityOf(options: ValidityOptions): { readonly notBefore: number; readonly notAfter: number } {
  const { now, authorityNotAfter } = options
  const durationMs = durationOf(options)
  const notBefore = now - backdateMs
  const end = durationMs < shortLifeMs ? now + durationMs : now + durationMs - backdateMs
  const notAfter = Math.min(end, authorityNotAfter)
  if (now >= authorityNotAfter) {
    const expiry = new Date(authorityNotAfter).toISOString()
    throw new CertificateError({ code: 'UnusableAuthority', message: `the signer has expired: NotAfter=${expiry}` })
  }
  return { notBefore, notAfter }
}

function durationOf({ maxDurationMs, expirationSeconds }: ValidityOptions): number {
  if (expirationSeconds === undefined) return maxDurationMs
  const requestedMs = expirationSeconds * 1000
  return requestedMs > maxDurationMs ? maxDurationMs : Math.max(requestedMs, minDurationMs)
}
