import type { Clock, NamingProfile, Random } from '@krmkit/meta'
import type { SigningAuthority } from '../authority/signing-authority.ts'
import { CertificateError } from '../certificate-error.ts'
import { type CertificateRequest, readSigningRequest } from '../request/certificate-request.ts'
import { issueCertificate } from './issue.ts'
import { builtInSigners, type SignerPurpose, signerPurposes } from './names.ts'
import { verifyRequestSignature } from './request-signature.ts'
import { type SignerRules, validateSignerRequest } from './rules.ts'
import { defaultSigningDurationMs, validityOf } from './validity.ts'

/** The fields of a CertificateSigningRequest that a signer uses. */
export interface RequestToSign {
  /** `spec.request`: base64 of PEM. */
  readonly request: string
  readonly usages: readonly string[]
  readonly expirationSeconds?: number | undefined
}

/** Signs the requests with one signer name. */
export interface CertificateSigner {
  readonly signerName: string
  /**
   * Signs a request.
   *
   * @returns the certificate in PEM.
   * @throws CertificateError `Malformed`, `BadSignature`, `WeakKey` or `Refused` for requests that can never be signed;
   *   `UnusableAuthority` or `StorageFailed` for problems of the authority.
   */
  sign(request: RequestToSign): Promise<string>
}

/** Signers by name. */
export interface CertificateSigners {
  /** Returns the signer of a name; undefined for unsupported names. */
  of(signerName: string): CertificateSigner | undefined
}

/** An authority, or a function that returns the current one and is called for every signature. */
export type SigningAuthoritySource = SigningAuthority | (() => SigningAuthority | Promise<SigningAuthority>)

export interface ClusterSignersOptions {
  /** One authority for all signers, or one per purpose; purposes without an authority are not supported. */
  readonly authority: SigningAuthoritySource | Readonly<Partial<Record<SignerPurpose, SigningAuthoritySource>>>
  /** Maximum duration of certificates, in milliseconds. Default: one year. */
  readonly maxDurationMs?: number
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
  readonly profile: Pick<NamingProfile, 'domain'>
  /** Default: the rules of kube-apiserver. */
  readonly rules?: SignerRules
}

/**
 * Creates the built-in signers.
 *
 * @see API protocol specification, 2.10
 * @example
 * ```ts
 * import { createCertificateRequest, createClusterSigners, createSigningAuthority } from '@krmkit/certificates'
 * import { stockProfile, systemClock, systemRandom } from '@krmkit/meta'
 *
 * const [clock, random] = [systemClock, systemRandom]
 * const { request } = createCertificateRequest({ subject: { commonName: 'jane', organizations: ['dev'] } })
 * const authority = await createSigningAuthority({ clock, random })
 * const signers = createClusterSigners({ authority, clock, random, profile: stockProfile })
 * const signer = signers.of('kubernetes.io/kube-apiserver-client')
 * const certificate = await signer?.sign({ request: btoa(request), usages: ['client auth'], expirationSeconds: 3600 })
 * ```
 */
export function createClusterSigners(options: ClusterSignersOptions): CertificateSigners {
  const names = builtInSigners(options.profile)
  const signers = new Map<string, CertificateSigner>()
  for (const purpose of signerPurposes) {
    const authority = authorityOf(options.authority, purpose)
    if (authority === undefined) continue
    const signerName = names[purpose]
    signers.set(signerName, {
      signerName,
      async sign(toSign) {
        const request = verifySigningRequest({ ...toSign, signerName }, options.profile, options.rules)
        const current = typeof authority === 'function' ? await authority() : authority
        return signRequest({ ...toSign, request }, { ...options, authority: current })
      },
    })
  }
  return { of: (signerName) => signers.get(signerName) }
}

/**
 * Decodes a request and verifies the requirements of its signer: rules of the signer name, key strength, signature.
 *
 * @throws CertificateError `Malformed`, `Refused`, `BadSignature`, `WeakKey`
 */
export function verifySigningRequest(
  toSign: { readonly request: string; readonly signerName: string; readonly usages: readonly string[] },
  profile: Pick<NamingProfile, 'domain'>,
  rules: SignerRules = {},
): CertificateRequest {
  const request = readSigningRequest(toSign.request)
  const problem = validateSignerRequest({ ...toSign, request }, profile, rules)
  if (problem !== undefined) throw new CertificateError({ code: 'Refused', message: problem })
  verifyRequestSignature(request)
  return request
}

/**
 * Signs a verified request without applying the rules of a signer; {@link createClusterSigners} applies them.
 *
 * @throws CertificateError `UnusableAuthority`; `Refused` for unknown usages.
 * @example
 * ```ts
 * import { createCertificateRequest, createSigningAuthority, signRequest } from '@krmkit/certificates'
 * import { readCertificateRequest } from '@krmkit/certificates/request'
 * import { systemClock, systemRandom } from '@krmkit/meta'
 *
 * const [clock, random] = [systemClock, systemRandom]
 * const request = readCertificateRequest(createCertificateRequest({ subject: { commonName: 'jane' } }).request)
 * const authority = await createSigningAuthority({ clock, random })
 * const certificate = signRequest({ request, usages: ['client auth'] }, { authority, clock, random })
 * ```
 */
export function signRequest(
  toSign: {
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
  const { expirationSeconds } = toSign
  const authorityNotAfter = authority.info.notAfter
  const validity = validityOf({ now: clock.now(), maxDurationMs, expirationSeconds, authorityNotAfter })
  return issueCertificate(authority, { ...toSign, ...validity, serial: random.bytes(16) })
}

function authorityOf(given: ClusterSignersOptions['authority'], purpose: SignerPurpose): SigningAuthoritySource | undefined {
  if (typeof given === 'function' || 'info' in given) return given as SigningAuthoritySource
  return given[purpose]
}
