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
export type { KeyPair } from './self-signed.ts'
export { localHosts, type ServingCertificate, type ServingCertificateOptions, servingCertificate } from './serving-certificate.ts'
