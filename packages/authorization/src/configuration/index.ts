/** The file of `--authorization-config`. Entry point `@krmkit/authorization/configuration`. */

export {
  type ComposeAuthorizersOptions,
  composeAuthorizers,
  createReplaceableAuthorizer,
  type ReplaceableAuthorizer,
} from './compose.ts'
export type {
  AuthorizationConfiguration,
  AuthorizationWebhook,
  AuthorizerConfiguration,
  CompiledMatchCondition,
  ConditionResult,
  MatchConditionCompiler,
  SelectorRequirement,
  SubjectAccessReviewSpec,
  WebhookConnection,
} from './interfaces.ts'
export { subjectAccessReviewSpec } from './match-conditions.ts'
export { parseAuthorizationConfiguration } from './parse.ts'
export { type AuthorizationValidationOptions, validateAuthorizationConfiguration, validateAuthorizerNames } from './validate.ts'
