import type { NamingProfile } from '@krmkit/meta'
import { hasControlCharacter } from '@krmkit/meta/der'
import type { CertificateRequest } from '../request/certificate-request.ts'
import { type SignerPurpose, signerPurposeOf } from './names.ts'

/** A request, and what the object around it says about it. */
export interface SignerRequest {
  readonly request: CertificateRequest
  readonly signerName: string
  readonly usages: readonly string[]
}

const nodeGroup = 'system:nodes'
const nodePrefix = 'system:node:'

/**
 * What a signer that comes with a server has against a request; undefined when it may sign. Other signers have their own rules,
 * of which nothing is known here.
 *
 * @see API protocol specification, 2.10
 */
export function validateSignerRequest(asked: SignerRequest, profile: Pick<NamingProfile, 'domain'>): string | undefined {
  const purpose = signerPurposeOf(asked.signerName, profile)
  return purpose === undefined ? undefined : (rules[purpose](asked) ?? validatePrintableNames(asked.request))
}

const rules: Readonly<Record<SignerPurpose, (asked: SignerRequest) => string | undefined>> = {
  apiserverClient: ({ usages }) => validateClientUsages(usages),
  apiserverClientKubelet: validateKubeletClientRequest,
  kubeletServing: validateKubeletServingRequest,
  legacyUnknown: () => undefined,
}

/** Whether a request is one for the client certificate of a node. */
export function validateKubeletClientRequest({ request, usages }: Omit<SignerRequest, 'signerName'>): string | undefined {
  const { dns, emails, ips, uris } = request.names
  if (!isNodeOrganization(request)) return 'subject organization is not system:nodes'
  if (dns.length > 0) return 'DNS subjectAltNames are not allowed'
  if (emails.length > 0) return 'Email subjectAltNames are not allowed'
  if (ips.length > 0) return 'IP subjectAltNames are not allowed'
  if (uris.length > 0) return 'URI subjectAltNames are not allowed'
  return validateNodeName(request) ?? validateExactUsages(usages, 'client auth')
}

/** Whether a request is one for the serving certificate of a node. */
export function validateKubeletServingRequest({ request, usages }: Omit<SignerRequest, 'signerName'>): string | undefined {
  const { dns, emails, ips, uris } = request.names
  if (!isNodeOrganization(request)) return 'subject organization is not system:nodes'
  if (dns.length === 0 && ips.length === 0) return 'DNS or IP subjectAltName is required'
  if (emails.length > 0) return 'Email subjectAltNames are not allowed'
  if (uris.length > 0) return 'URI subjectAltNames are not allowed'
  return validateExactUsages(usages, 'server auth') ?? validateNodeName(request)
}

function validateClientUsages(usages: readonly string[]): string | undefined {
  const other = usages.find((usage) => !['client auth', 'digital signature', 'key encipherment'].includes(usage))
  if (other !== undefined) return `invalid usage for client certificate: ${other}`
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth'
}

/** Encipherment is left out by those whose keys cannot do it: all but RSA. Stock nodes do so since 1.27. */
function validateExactUsages(usages: readonly string[], purpose: string): string | undefined {
  const wanted = new Set(usages)
  const allowed = ['digital signature', 'key encipherment', purpose]
  const isExact = wanted.has('digital signature') && wanted.has(purpose) && [...wanted].every((usage) => allowed.includes(usage))
  return isExact ? undefined : `usages did not match [${allowed.sort().join(' ')}]`
}

function isNodeOrganization({ subject }: CertificateRequest): boolean {
  return subject.organizations.length === 1 && subject.organizations[0] === nodeGroup
}

function validateNodeName({ subject }: CertificateRequest): string | undefined {
  return subject.commonName.startsWith(nodePrefix) ? undefined : 'subject common name does not begin with system:node:'
}

/**
 * Names with characters that print nothing are read in one way by one program and in another by the next.
 *
 * Differs: the stock signer passes them on.
 */
function validatePrintableNames({ subject, names }: CertificateRequest): string | undefined {
  const { dns, emails, ips, uris } = names
  const texts = [...subject.attributes.map(({ text }) => text ?? ''), ...dns, ...emails, ...ips, ...uris]
  return texts.some(hasControlCharacter) ? 'subject and alternative names may not hold control characters' : undefined
}
