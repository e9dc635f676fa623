/**
 * Bootstrap tokens and signed cluster information: the entry point `@krmkit/certificates/bootstrap` for browsers. Public key
 * pins need Node and are not exported.
 */

export {
  type BootstrapSigningKey,
  bootstrapSigningKeys,
  clusterInfoKey,
  clusterInfoName,
  signClusterInfo,
  verifyClusterInfo,
} from './cluster-info.ts'
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
