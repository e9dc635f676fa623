/** The most used names of all packages. Import other names from their packages, such as `@krmkit/schema`. */
export type { ApiServerOptions, EmbeddedServer } from '@krmkit/apiserver'
export { type Authorizer, alwaysAllowAuthorizer } from '@krmkit/authorization'
export {
  type Client,
  createInformer,
  createInProcessClient,
  createRemoteClient,
  loadKubeconfig,
  migrateStorage,
  resourceType,
} from '@krmkit/client'
export { createFetchHandler, type Listener, listen, selfSigned } from '@krmkit/http'
export { builtInKinds, defineResource } from '@krmkit/kinds'
export { ApiError, type ApiObject, field, type UserInfo } from '@krmkit/meta'
export { lmdbStorage, memoryStorage } from '@krmkit/storage'
export { createClaimExpressionCompiler as claimExpressions } from './expressions/claim-expression-compiler.ts'
export { createConditionCompiler as reviewConditions } from './expressions/condition-compiler.ts'
export { type CallerOptions, createApiServer, type Server } from './server.ts'
export {
  type ClosableTranslator,
  createYamlTranslator,
  type YamlTranslatorOptions,
  yamlWorkerFile,
} from './yaml/yaml-translator.ts'
