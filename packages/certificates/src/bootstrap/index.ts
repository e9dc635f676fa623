/** Bootstrap tokens, signed cluster information, public key pins. Entry point `@krmkit/certificates/bootstrap`. */

export {
  type BootstrapSigningKey,
  bootstrapSigningKeys,
  clusterInfoKey,
  clusterInfoName,
  signClusterInfo,
  verifyClusterInfo,
} from './cluster-info.ts'
export { checkPublicKeyPins, parsePublicKeyPin, publicKeyPinOf } from './public-key-pin.ts'
export {
  type BootstrapToken,
  formatBootstrapToken,
  generateBootstrapToken,
  isBootstrapTokenId,
  parseBootstrapToken,
} from './token.ts'
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
  readBootstrapToken,
  signingTokenOf,
} from './token-secret.ts'
