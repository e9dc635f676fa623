export { type SigningAuthority, signingAuthority } from './authority/signing-authority.ts'
export { keptSigningAuthority, newSigningAuthority } from './authority/signing-authority-store.ts'
export {
  type BootstrapSigningKey,
  bootstrapSigningKeys,
  clusterInfoKey,
  clusterInfoName,
  signClusterInfo,
  verifyClusterInfo,
} from './bootstrap/cluster-info.ts'
export { checkPublicKeyPins, parsePublicKeyPin, publicKeyPin } from './bootstrap/public-key-pin.ts'
export {
  type BootstrapToken,
  formatBootstrapToken,
  generateBootstrapToken,
  isBootstrapTokenId,
  parseBootstrapToken,
} from './bootstrap/token.ts'
export {
  type BootstrapSecretLike,
  type BootstrapTokenDetails,
  type BootstrapTokenRecord,
  type BootstrapTokenUsage,
  bootstrapSecretName,
  bootstrapSecretType,
  bootstrapTokenLifeMs,
  bootstrapTokenSecret,
  bootstrapTokenUsages,
  isBootstrapGroup,
  readBootstrapToken,
  signingTokenIn,
} from './bootstrap/token-secret.ts'
export { CertificateError, type CertificateErrorCode } from './certificate-error.ts'
export { type NewRequestOptions, newCertificateRequest } from './create-certificate-request.ts'
export {
  type AlternativeNames,
  type CertificateFacts,
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
export { localHosts, type ServingCertificate, type ServingCertificateOptions, servingCertificate } from './serving-certificate.ts'
export { type AutoApproval, autoApprovals, autoApprovedReason } from './signers/approval.ts'
export { type AgingRequest, cleanUpTime, decidedRequestLifeMs, pendingRequestLifeMs } from './signers/cleanup.ts'
export {
  type AuthoritySource,
  type CertificateSigner,
  type CertificateSigners,
  type ClusterSignersOptions,
  checkedRequest,
  clusterSigners,
  type RequestToSign,
  signRequest,
} from './signers/cluster-signers.ts'
export { type CertificateToIssue, issueCertificate } from './signers/issue.ts'
export { builtInSigners, purposeOf, type SignerPurpose, signerPurposes } from './signers/names.ts'
export { checkStrength, verifyRequest } from './signers/request-signature.ts'
export { type AskedCertificate, signerObjection } from './signers/rules.ts'
export { backdateMs, defaultSigningDurationMs, type ValidityWish, validityOf } from './signers/validity.ts'
