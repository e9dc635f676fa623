import { hasControlCharacter } from '@krmkit/base/der'
import type { NamingProfile } from '@krmkit/meta'
import type { CertificateRequest } from '../request/certificate-request.ts'
import { type SignerPurpose, signerPurposeOf } from './names.ts'

/** A decoded request with the fields of its CertificateSigningRequest. */
export interface SignerRequest {
  readonly request: CertificateRequest
  readonly signerName: string
  readonly usages: readonly string[]
}

/** Configurable rules of the built-in signers. */
export interface SignerRules {
  /**
   * Whether certificates of nodes require the usage `key encipherment`. Default false, as on kube-apiserver: kubelets omit
   * it for keys other than RSA since Kubernetes 1.27.
   */
  readonly requireKeyEncipherment?: boolean
}

const nodeGroup = 'system:nodes'
const nodePrefix = 'system:node:'

/**
 * Validates a request by the rules of its built-in signer. Requests for other signers are not validated.
 *
 * @returns the problem in the wording of kube-apiserver; undefined when there is none.
 * @see API protocol specification, 2.10
 * @example
 * ```ts
 * import { createCertificateRequest, validateSignerRequest } from '@krmkit/certificates'
 * import { readCertificateRequest } from '@krmkit/certificates/request'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const request = readCertificateRequest(createCertificateRequest({ subject: { commonName: 'jane' } }).request)
 * const signerName = 'kubernetes.io/kube-apiserver-client'
 * validateSignerRequest({ request, signerName, usages: ['server auth'] }, stockProfile)
 * // 'invalid usage for client certificate: server auth'
 * ```
 */
export function validateSignerRequest(
  request: SignerRequest,
  profile: Pick<NamingProfile, 'domain'>,
  chosen: SignerRules = {},
): string | undefined {
  const purpose = signerPurposeOf(request.signerName, profile)
  return purpose === undefined ? undefined : (rules[purpose](request, chosen) ?? validatePrintableNames(request.request))
}

const rules: Readonly<Record<SignerPurpose, (request: SignerRequest, chosen: SignerRules) => string | undefined>> = {
  apiserverClient: ({ usages }) => validateClientUsages(usages),
  apiserverClientKubelet: validateKubeletClientRequest,
  kubeletServing: validateKubeletServingRequest,
  legacyUnknown: () => undefined,
}

/**
 * Validates a request for the client certificate of a node.
 *
 * @returns the problem, or undefined.
 * @see {@link validateKubeletServingRequest} for an example.
 */
export function validateKubeletClientRequest(
  { request, usages }: Omit<SignerRequest, 'signerName'>,
  chosen: SignerRules = {},
): string | undefined {
  const { dns, emails, ips, uris } = request.names
  if (!isNodeOrganization(request)) return 'subject organization is not system:nodes'
  if (dns.length > 0) return 'DNS subjectAltNames are not allowed'
  if (emails.length > 0) return 'Email subjectAltNames are not allowed'
  if (ips.length > 0) return 'IP subjectAltNames are not allowed'
  if (uris.length > 0) return 'URI subjectAltNames are not allowed'
  return validateNodeName(request) ?? validateNodeUsages(usages, 'client auth', chosen)
}

/**
 * Validates a request for the serving certificate of a node.
 *
 * @returns the problem, or undefined.
 * @example
 * ```ts
 * import { createCertificateRequest } from '@krmkit/certificates'
 * import { readCertificateRequest, validateKubeletServingRequest } from '@krmkit/certificates/request'
 *
 * const pem = createCertificateRequest({ subject: { commonName: 'system:node:a', organizations: ['system:nodes'] } }).request
 * validateKubeletServingRequest({ request: readCertificateRequest(pem), usages: ['server auth'] })
 * // 'DNS or IP subjectAltName is required'
 * ```
 */
export function validateKubeletServingRequest(
  { request, usages }: Omit<SignerRequest, 'signerName'>,
  chosen: SignerRules = {},
): string | undefined {
  const { dns, emails, ips, uris } = request.names
  if (!isNodeOrganization(request)) return 'subject organization is not system:nodes'
  if (dns.length === 0 && ips.length === 0) return 'DNS or IP subjectAltName is required'
  if (emails.length > 0) return 'Email subjectAltNames are not allowed'
  if (uris.length > 0) return 'URI subjectAltNames are not allowed'
  return validateNodeUsages(usages, 'server auth', chosen) ?? validateNodeName(request)
}

function validateClientUsages(usages: readonly string[]): string | undefined {
  const other = usages.find((usage) => !['client auth', 'digital signature', 'key encipherment'].includes(usage))
  if (other !== undefined) return `invalid usage for client certificate: ${other}`
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth'
}

function validateNodeUsages(
  usages: readonly string[],
  purpose: string,
  { requireKeyEncipherment = false }: SignerRules,
): string | undefined {
  const wanted = new Set(usages)
  const allowed = ['digital signature', 'key encipherment', purpose]
  const required = requireKeyEncipherment ? allowed : ['digital signature', purpose]
  const isExact = required.every((usage) => wanted.has(usage)) && [...wanted].every((usage) => allowed.includes(usage))
  return isExact ? undefined : `usages did not match [${allowed.sort().join(' ')}]`
}

function isNodeOrganization({ subject }: CertificateRequest): boolean {
  return subject.organizations.length === 1 && subject.organizations[0] === nodeGroup
}

function validateNodeName({ subject }: CertificateRequest): string | undefined {
  return subject.commonName.startsWith(nodePrefix) ? undefined : 'subject common name does not begin with system:node:'
}

/**
 * Rejects control characters in names, because programs interpret them differently.
 *
 * Differs: kube-controller-manager accepts them.
 */
function validatePrintableNames({ subject, names }: CertificateRequest): string | undefined {
  const { dns, emails, ips, uris } = names
  const texts = [...subject.attributes.map(({ text }) => text ?? ''), ...dns, ...emails, ...ips, ...uris]
  return texts.some(hasControlCharacter) ? 'subject and alternative names may not hold control characters' : undefined
}
