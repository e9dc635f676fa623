export { parseSigningAuthority, type SigningAuthority } from './authority/signing-authority.ts'
export { createSigningAuthority, ensureSigningAuthority } from './authority/signing-authority-store.ts'
export {
  type BootstrapSigningKey,
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
  type BootstrapTokenRecord,
  type BootstrapTokenUsage,
  bootstrapSecretName,
  bootstrapSecretType,
  bootstrapTokenLifeMs,
  bootstrapTokenSecret,
  bootstrapTokenUsages,
  readBootstrapToken,
  signingTokenOf,
} from './bootstrap/token-secret.ts'
export { CertificateError, type CertificateErrorCode } from './certificate-error.ts'
export { type CertificateRequestOptions, createCertificateRequest } from './create-certificate-request.ts'
export {
  type CertificateInfo,
  type CertificateRequest,
  formatDistinguishedName,
  type PublicKeyInfo,
  readSigningRequest,
} from './request/index.ts'
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
export { verifyRequestSignature } from './signers/request-signature.ts'
export { type SignerRequest, validateSignerRequest } from './signers/rules.ts'
