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

/** What a signer would say to a request. */
export interface Verdict {
  readonly signer: string
  /** Undefined when it would sign. */
  readonly objection: string | undefined
  /** Whether nobody has to look at it, and with which right. */
  readonly approval: string
}

export interface Question {
  readonly signer?: string
  readonly usages?: readonly string[]
  readonly requester?: string
}

/** Usages that suit a signer, for requests that name none. */
const usualUsages: Readonly<Record<SignerPurpose, readonly string[]>> = {
  apiserverClient: ['client auth'],
  apiserverClientKubelet: ['digital signature', 'client auth'],
  kubeletServing: ['digital signature', 'server auth'],
  legacyUnknown: ['client auth'],
}

/** Signer and usages of a request, from the object around it or from flags. */
export function askedOf(
  object: RequestObject | undefined,
  question: Question,
  profile: NamingProfile,
): { readonly signer: string | undefined; readonly usages: readonly string[] | undefined } {
  const signer = object?.spec?.signerName ?? question.signer
  const purpose = signer === undefined ? undefined : signerPurposeOf(signer, profile)
  const usual = purpose === undefined ? undefined : usualUsages[purpose]
  return { signer, usages: object?.spec?.usages ?? question.usages ?? usual }
}

/** The verdict of the signer that is named, or those of all that come with a server. */
export function verdictsOn(
  input: { readonly request: CertificateRequest; readonly object: RequestObject | undefined },
  question: Question,
  profile: NamingProfile,
): Verdict[] {
  const { signer, usages } = askedOf(input.object, question, profile)
  const names = builtInSigners(profile)
  const username = input.object?.spec?.username ?? question.requester ?? ''
  const signers = signer === undefined ? signerPurposes.map((purpose) => names[purpose]) : [signer]
  return signers.map((signerName) => {
    const asked = usages ?? usualUsages[signerPurposeOf(signerName, profile) ?? 'apiserverClient']
    const { request } = input
    return {
      signer: signerName,
      objection: objectionOf({ request, signerName, usages: asked }, profile),
      approval: approvalOf({ request, signerName, usages: asked, username }, profile),
    }
  })
}

/** What is wrong with the key of a request or with its signature. */
export function flawOf(request: CertificateRequest): string | undefined {
  try {
    verifyRequestSignature(request)
    return undefined
  } catch (error) {
    if (error instanceof CertificateError) return error.message
    throw error
  }
}

function objectionOf(
  asked: { readonly request: CertificateRequest; readonly signerName: string; readonly usages: readonly string[] },
  profile: NamingProfile,
): string | undefined {
  const purpose = signerPurposeOf(asked.signerName, profile)
  if (purpose === 'legacyUnknown') return 'no new request may name it'
  return validateSignerRequest(asked, profile) ?? flawOf(asked.request)
}

function approvalOf(asked: Parameters<typeof autoApprovalsFor>[0], profile: NamingProfile): string {
  if (signerPurposeOf(asked.signerName, profile) === undefined) return 'its own rules are not known here'
  const rights = autoApprovalsFor(asked, profile).map(({ subresource }) => subresource)
  return rights.length === 0 ? 'somebody has to approve it' : `approved at once for who may create ${rights.join(' or ')}`
}
