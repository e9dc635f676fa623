import {
  autoApprovalsFor,
  builtInSigners,
  CertificateError,
  type CertificateRequest,
  type SignerPurpose,
  signerPurposeOf,
  signerPurposes,
  validateSignerRequest,
  verifyRequestSignature,
} from '@krmkit/certificates'
import type { NamingProfile } from '@krmkit/meta'
import type { RequestObject } from './inputs.ts'

/** The decision of a signer on a request. */
export interface SignerVerdict {
  readonly signer: string
  /** The reason of a refusal; undefined when the signer would sign. */
  readonly objection: string | undefined
  /** Whether the request is approved automatically, and the required permission. */
  readonly approval: string
}

/** Flags for facts that a PEM request does not contain. */
export interface SignerFlags {
  readonly signer?: string
  readonly usages?: readonly string[]
  readonly requester?: string
}

/** Usages for requests that name none, by signer. */
const defaultUsages: Readonly<Record<SignerPurpose, readonly string[]>> = {
  apiserverClient: ['client auth'],
  apiserverClientKubelet: ['digital signature', 'client auth'],
  kubeletServing: ['digital signature', 'server auth'],
  legacyUnknown: ['client auth'],
}

/** The signer and usages of a request, from its CertificateSigningRequest or from flags. */
export function signerAndUsages(
  object: RequestObject | undefined,
  flags: SignerFlags,
  profile: NamingProfile,
): { readonly signer: string | undefined; readonly usages: readonly string[] | undefined } {
  const signer = object?.spec?.signerName ?? flags.signer
  const purpose = signer === undefined ? undefined : signerPurposeOf(signer, profile)
  const defaults = purpose === undefined ? undefined : defaultUsages[purpose]
  return { signer, usages: object?.spec?.usages ?? flags.usages ?? defaults }
}

/** The verdict of the named signer, or of all built-in signers when none is named. */
export function signerVerdicts(
  input: { readonly request: CertificateRequest; readonly object: RequestObject | undefined },
  flags: SignerFlags,
  profile: NamingProfile,
): SignerVerdict[] {
  const { signer, usages } = signerAndUsages(input.object, flags, profile)
  const names = builtInSigners(profile)
  const username = input.object?.spec?.username ?? flags.requester ?? ''
  const signers = signer === undefined ? signerPurposes.map((purpose) => names[purpose]) : [signer]
  return signers.map((signerName) => {
    const effectiveUsages = usages ?? defaultUsages[signerPurposeOf(signerName, profile) ?? 'apiserverClient']
    const { request } = input
    return {
      signer: signerName,
      objection: objectionOf({ request, signerName, usages: effectiveUsages }, profile),
      approval: approvalOf({ request, signerName, usages: effectiveUsages, username }, profile),
    }
  })
}

/** The problem of the key or signature of a request; undefined for a valid one. */
export function requestProblem(request: CertificateRequest): string | undefined {
  try {
    verifyRequestSignature(request)
    return undefined
  } catch (error) {
    if (error instanceof CertificateError) return error.message
    throw error
  }
}

function objectionOf(
  input: { readonly request: CertificateRequest; readonly signerName: string; readonly usages: readonly string[] },
  profile: NamingProfile,
): string | undefined {
  const purpose = signerPurposeOf(input.signerName, profile)
  if (purpose === 'legacyUnknown') return 'the API rejects new requests for it'
  return validateSignerRequest(input, profile) ?? requestProblem(input.request)
}

function approvalOf(input: Parameters<typeof autoApprovalsFor>[0], profile: NamingProfile): string {
  if (signerPurposeOf(input.signerName, profile) === undefined) return 'its approval rules are unknown'
  const rights = autoApprovalsFor(input, profile).map(({ subresource }) => subresource)
  return rights.length === 0 ? 'needs manual approval' : `approved automatically for users who may create ${rights.join(' or ')}`
}
