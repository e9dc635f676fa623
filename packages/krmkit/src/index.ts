/**
 * The most used names of every package. Everything else is one sub-path away: `krmkit/fieldmanager`, `krmkit/schema`, ...
 */
export type { ApiServerOptions, EmbeddedServer } from '@krmkit/apiserver'
export {
  type Client,
  informer,
  inProcessClient,
  loadKubeconfig,
  migrateStorage,
  remoteClient,
  resourceType,
} from '@krmkit/client'
export { createFetchHandler, type Listener, listen, selfSigned } from '@krmkit/http'
export { builtInKinds, defineResource } from '@krmkit/kinds'
export { ApiError, type ApiObject, field, type UserInfo } from '@krmkit/meta'
export { durableStorage, memoryStorage } from '@krmkit/storage'
export { claimExpressions } from './expressions/claim-expressions.ts'
export { reviewConditions } from './expressions/review-conditions.ts'
export { type CallerOptions, createApiServer, type Server } from './server.ts'
export {
  type ClosableTranslator,
  createYamlTranslator,
  type YamlTranslatorOptions,
} from './yaml/yaml-translator.ts'
