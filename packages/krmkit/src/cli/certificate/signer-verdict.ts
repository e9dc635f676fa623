import {
  autoApprovals,
  builtInSigners,
  CertificateError,
  type CertificateRequest,
  purposeOf,
  type SignerPurpose,
  signerObjection,
  signerPurposes,
  verifyRequest,
} from '@krmkit/certificates'
import type { NamingProfile } from '@krmkit/meta'
import type { RequestObject } from './inputs.ts'

/** What a signer would say to a request. */
export interface SignerVerdict {
  readonly signer: string
  /** Undefined when it would sign. */
  readonly objection: string | undefined
  /** Whether nobody has to look at it, and with which right. */
  readonly approval: string
}

export interface SignerFlags {
  readonly signer?: string
  readonly usages?: readonly string[]
  readonly requester?: string
}

/** Usages that suit a signer, for requests that name none. */
const defaultUsages: Readonly<Record<SignerPurpose, readonly string[]>> = {
  apiserverClient: ['client auth'],
  apiserverClientKubelet: ['digital signature', 'client auth'],
  kubeletServing: ['digital signature', 'server auth'],
  legacyUnknown: ['client auth'],
}

/** Signer and usages of a request, from the object around it or from flags. */
export function signerAndUsages(
  object: RequestObject | undefined,
  question: SignerFlags,
  profile: NamingProfile,
): { readonly signer: string | undefined; readonly usages: readonly string[] | undefined } {
  const signer = object?.spec?.signerName ?? question.signer
  const purpose = signer === undefined ? undefined : purposeOf(signer, profile)
  const usual = purpose === undefined ? undefined : defaultUsages[purpose]
  return { signer, usages: object?.spec?.usages ?? question.usages ?? usual }
}

/** The verdict of the signer that is named, or those of all that come with a server. */
export function signerVerdicts(
  input: { readonly request: CertificateRequest; readonly object: RequestObject | undefined },
  question: SignerFlags,
  profile: NamingProfile,
): SignerVerdict[] {
  const { signer, usages } = signerAndUsages(input.object, question, profile)
  const names = builtInSigners(profile)
  const username = input.object?.spec?.username ?? question.requester ?? ''
  const signers = signer === undefined ? signerPurposes.map((purpose) => names[purpose]) : [signer]
  return signers.map((signerName) => {
    const asked = usages ?? defaultUsages[purposeOf(signerName, profile) ?? 'apiserverClient']
    const { request } = input
    return {
      signer: signerName,
      objection: objectionOf({ request, signerName, usages: asked }, profile),
      approval: approvalOf({ request, signerName, usages: asked, username }, profile),
    }
  })
}

/** What is wrong with the key of a request or with its signature. */
export function requestProblem(request: CertificateRequest): string | undefined {
  try {
    verifyRequest(request)
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
  const purpose = purposeOf(asked.signerName, profile)
  if (purpose === 'legacyUnknown') return 'no new request may name it'
  return signerObjection(asked, profile) ?? requestProblem(asked.request)
}

function approvalOf(asked: Parameters<typeof autoApprovals>[0], profile: NamingProfile): string {
  if (purposeOf(asked.signerName, profile) === undefined) return 'its own rules are not known here'
  const rights = autoApprovals(asked, profile).map(({ subresource }) => subresource)
  return rights.length === 0 ? 'somebody has to approve it' : `approved at once for who may create ${rights.join(' or ')}`
}
