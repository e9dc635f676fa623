/**
 * Browser entry point of the package: everything that runs in every runtime. Keys, signing and files need Node and are not
 * exported.
 */

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
