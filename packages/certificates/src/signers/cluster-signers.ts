import type { Clock, NamingProfile, Random } from '@krmkit/meta'
import type { SigningAuthority } from '../authority/signing-authority.ts'
import { CertificateError } from '../certificate-error.ts'
import { type CertificateRequest, readSigningRequest } from '../request/certificate-request.ts'
import { issueCertificate } from './issue.ts'
import { builtInSigners, type SignerPurpose, signerPurposes } from './names.ts'
import { verifyRequestSignature } from './request-signature.ts'
import { validateSignerRequest } from './rules.ts'
import { defaultSigningDurationMs, validityOf } from './validity.ts'

/** What a CertificateSigningRequest says to its signer. */
export interface RequestToSign {
  /** `spec.request`: base64 of PEM. */
  readonly request: string
  readonly usages: readonly string[]
  readonly expirationSeconds?: number | undefined
}

/** Signs the requests of one name. */
export interface CertificateSigner {
  readonly signerName: string
  /**
   * The certificate in PEM.
   *
   * @throws CertificateError `Malformed`, `BadSignature`, `WeakKey` or `Refused` for a request that is never signed;
   * `UnusableAuthority` or `StorageFailed` for an authority that is out of order.
   */
  sign(asked: RequestToSign): Promise<string>
}

/** Signers by name. */
export interface CertificateSigners {
  /** Undefined for a signer that somebody else is. */
  of(signerName: string): CertificateSigner | undefined
}

/** An authority, or where to get it whenever something is to be signed: files may have changed. */
export type SigningAuthoritySource = SigningAuthority | (() => SigningAuthority | Promise<SigningAuthority>)

export interface ClusterSignersOptions {
  /** One authority for all, or one for each signer; a signer without one signs nothing. */
  readonly authority: SigningAuthoritySource | Readonly<Partial<Record<SignerPurpose, SigningAuthoritySource>>>
  /** The longest life of a certificate in milliseconds. Default: a year. */
  readonly maxDurationMs?: number
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
  readonly profile: Pick<NamingProfile, 'domain'>
}

/** The signers that come with a server. @see API protocol specification, 2.10 */
export function createClusterSigners(options: ClusterSignersOptions): CertificateSigners {
  const names = builtInSigners(options.profile)
  const signers = new Map<string, CertificateSigner>()
  for (const purpose of signerPurposes) {
    const authority = authorityOf(options.authority, purpose)
    if (authority === undefined) continue
    const signerName = names[purpose]
    signers.set(signerName, {
      signerName,
      async sign(asked) {
        const request = verifySigningRequest({ ...asked, signerName }, options.profile)
        const current = typeof authority === 'function' ? await authority() : authority
        return signRequest({ ...asked, request }, { ...options, authority: current })
      },
    })
  }
  return { of: (signerName) => signers.get(signerName) }
}

/**
 * Reads a request and looks at all that a signer looks at: rules of its name, key, signature.
 *
 * @throws CertificateError `Malformed`, `Refused`, `BadSignature`, `WeakKey`
 */
export function verifySigningRequest(
  asked: { readonly request: string; readonly signerName: string; readonly usages: readonly string[] },
  profile: Pick<NamingProfile, 'domain'>,
): CertificateRequest {
  const request = readSigningRequest(asked.request)
  const objection = validateSignerRequest({ ...asked, request }, profile)
  if (objection !== undefined) throw new CertificateError({ code: 'Refused', message: objection })
  verifyRequestSignature(request)
  return request
}

/**
 * Signs a request that was looked at.
 *
 * @throws CertificateError `UnusableAuthority`; `Refused` for unknown usages.
 */
export function signRequest(
  asked: {
    readonly request: CertificateRequest
    readonly usages: readonly string[]
    readonly expirationSeconds?: number | undefined
  },
  options: {
    readonly authority: SigningAuthority
    readonly maxDurationMs?: number
    readonly clock: Pick<Clock, 'now'>
    readonly random: Pick<Random, 'bytes'>
  },
): string {
  const { authority, maxDurationMs = defaultSigningDurationMs, clock, random } = options
  const { expirationSeconds } = asked
  const authorityNotAfter = authority.info.notAfter
  const validity = validityOf({ now: clock.now(), maxDurationMs, expirationSeconds, authorityNotAfter })
  return issueCertificate(authority, { ...asked, ...validity, serial: random.bytes(16) })
}

function authorityOf(given: ClusterSignersOptions['authority'], purpose: SignerPurpose): SigningAuthoritySource | undefined {
  if (typeof given === 'function' || 'info' in given) return given as SigningAuthoritySource
  return given[purpose]
}
