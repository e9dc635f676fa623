export { parseSigningAuthority, type SigningAuthority } from './authority/signing-authority.ts'
export { createSigningAuthority, ensureSigningAuthority } from './authority/signing-authority-store.ts'
export {
  type BootstrapSigningKey,
  bootstrapSigningKeys,
  clusterInfoKey,
  clusterInfoName,
  signClusterInfo,
  verifyClusterInfo,
} from './bootstrap/cluster-info.ts'
export { checkPublicKeyPins, parsePublicKeyPin, publicKeyPinOf } from './bootstrap/public-key-pin.ts'
export {
  type BootstrapToken,
  formatBootstrapToken,
  generateBootstrapToken,
  isBootstrapTokenId,
  parseBootstrapToken,
} from './bootstrap/token.ts'
export {
  type BootstrapTokenDetails,
  type BootstrapTokenRecord,
  type BootstrapTokenSecret,
  type BootstrapTokenUsage,
  bootstrapSecretName,
  bootstrapSecretType,
  bootstrapTokenLifeMs,
  bootstrapTokenSecret,
  bootstrapTokenUsages,
  isBootstrapGroup,
  readBootstrapToken,
  signingTokenOf,
} from './bootstrap/token-secret.ts'
export { CertificateError, type CertificateErrorCode } from './certificate-error.ts'
export { type CertificateRequestOptions, createCertificateRequest } from './create-certificate-request.ts'
export {
  type AlternativeNames,
  type CertificateInfo,
  type CertificateRequest,
  type DistinguishedName,
  decodeCertificate,
  decodeCertificateRequest,
  formatDistinguishedName,
  type PublicKeyInfo,
  readCertificateRequest,
  readCertificates,
  readSigningRequest,
} from './request/index.ts'
export type { KeyPair } from './self-signed.ts'
export {
  defaultServingHosts,
  ensureServingCertificate,
  type ServingCertificate,
  type ServingCertificateOptions,
} from './serving-certificate.ts'
export { type AutoApproval, autoApprovalsFor, autoApprovedReason } from './signers/approval.ts'
export { type CleanupCandidate, cleanupTime, decidedRequestLifeMs, pendingRequestLifeMs } from './signers/cleanup.ts'
export {
  type CertificateSigner,
  type CertificateSigners,
  type ClusterSignersOptions,
  createClusterSigners,
  type RequestToSign,
  type SigningAuthoritySource,
  signRequest,
  verifySigningRequest,
} from './signers/cluster-signers.ts'
export { type IssueCertificateOptions, issueCertificate } from './signers/issue.ts'
export { builtInSigners, type SignerPurpose, signerPurposeOf, signerPurposes } from './signers/names.ts'
export { verifyKeyStrength, verifyRequestSignature } from './signers/request-signature.ts'
export { type SignerRequest, validateSignerRequest } from './signers/rules.ts'
export { backdateMs, defaultSigningDurationMs, type ValidityOptions, validityOf } from './signers/validity.ts'
