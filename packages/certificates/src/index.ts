export { parseSigningAuthority, type SigningAuthority } from './authority/signing-authority.ts'
export { createSigningAuthority, ensureSigningAuthority } from './authority/signing-authority-store.ts'
export { CertificateError, type CertificateErrorCode } from './certificate-error.ts'
export { type CertificateRequestOptions, createCertificateRequest } from './create-certificate-request.ts'
export type { CertificateRequest } from './request-entry.ts'
export { ensureServingCertificate, type ServingCertificate, type ServingCertificateOptions } from './serving-certificate.ts'
export { type AutoApproval, autoApprovalsFor, autoApprovedReason } from './signers/approval.ts'
export { type CleanupCandidate, cleanupTime } from './signers/cleanup.ts'
export {
  type CertificateSigner,
  type CertificateSigners,
  type ClusterSignersOptions,
  createClusterSigners,
  type RequestToSign,
  type SigningAuthoritySource,
  signRequest,
} from './signers/cluster-signers.ts'
export { builtInSigners, type SignerPurpose, signerPurposeOf, signerPurposes } from './signers/names.ts'
export { requestSignatureError, verifyRequestSignature } from './signers/request-signature.ts'
export { type SignerRequest, type SignerRules, validateSignerRequest } from './signers/rules.ts'
