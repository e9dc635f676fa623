import { CertificateError } from '../certificate-error.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** Certificates begin so much before they are made, for readers whose clocks are late. */
export const backdateMs = 5 * minuteMs
/** Shorter lives than this keep their end although they begin earlier. */
const shortLifeMs = 8 * hourMs
const minDurationMs = 10 * minuteMs
/** Life of certificates when nothing is configured: a year. */
export const defaultSigningDurationMs = 365 * 24 * hourMs

export interface ValidityOptions {
  /** Milliseconds since the epoch. */
  readonly now: number
  /** The longest life that the signer gives, in milliseconds. */
  readonly maxDurationMs: number
  /** `spec.expirationSeconds` */
  readonly expirationSeconds?: number | undefined
  /** End of the authority: no certificate lasts longer. */
  readonly authorityNotAfter: number
}

/**
 * From when until when a certificate is good: the shorter of what the signer gives and what was asked for.
 *
 * @throws CertificateError `UnusableAuthority` when the authority has ended.
 * @see API protocol specification, 2.10 and 8
 */
export function validityOf(wish: ValidityOptions): { readonly notBefore: number; readonly notAfter: number } {
  const { now, authorityNotAfter } = wish
  const lifeMs = durationOf(wish)
  const notBefore = now - backdateMs
  const wanted = lifeMs < shortLifeMs ? now + lifeMs : now + lifeMs - backdateMs
  const notAfter = Math.min(wanted, authorityNotAfter)
  if (now >= authorityNotAfter) {
    const ended = new Date(authorityNotAfter).toISOString()
    throw new CertificateError({ code: 'UnusableAuthority', message: `the signer has expired: NotAfter=${ended}` })
  }
  return { notBefore, notAfter }
}

function durationOf({ maxDurationMs, expirationSeconds }: ValidityOptions): number {
  if (expirationSeconds === undefined) return maxDurationMs
  const askedMs = expirationSeconds * 1000
  return askedMs > maxDurationMs ? maxDurationMs : Math.max(askedMs, minDurationMs)
}
