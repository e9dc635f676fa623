/** What runs in every runtime: the entry point of the package for browsers. Keys, signing and files need Node. */

export { CertificateError, type CertificateErrorCode } from './certificate-error.ts'
export type { CertificateRequest } from './request-entry.ts'
export { type AutoApproval, autoApprovalsFor, autoApprovedReason } from './signers/approval.ts'
export { type CleanupCandidate, cleanupTime } from './signers/cleanup.ts'
export type {
  CertificateSigner,
  CertificateSigners,
  ClusterSignersOptions,
  RequestToSign,
  SigningAuthoritySource,
} from './signers/cluster-signers.ts'
export { builtInSigners, type SignerPurpose, signerPurposeOf, signerPurposes } from './signers/names.ts'
export { type SignerRequest, type SignerRules, validateSignerRequest } from './signers/rules.ts'
