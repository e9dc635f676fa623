export type { Fetch } from '@krmkit/meta/fetch'
export { type AbacPolicy, createAbacAuthorizer, parseAbacPolicies } from './abac/abac-authorizer.ts'
export { AuthorizationError, type AuthorizationErrorCode } from './authorization-error.ts'
export { type BootstrapBinding, type BootstrapRole, bootstrapPolicy } from './bootstrap/bootstrap-policy.ts'
export { type ReconcileResult, reconcileBinding, reconcileRole } from './bootstrap/reconcile.ts'
export { alwaysAllow, alwaysDeny, createPrivilegedGroupsAuthorizer, systemMasters } from './builtin-authorizers.ts'
export { composeAuthorizers, createReplaceableAuthorizer, type ReplaceableAuthorizer } from './configuration/compose.ts'
export type {
  AuthorizationConfiguration,
  AuthorizationWebhook,
  MatchConditionCompiler,
  SubjectAccessReviewSpec,
} from './configuration/interfaces.ts'
export { subjectAccessReviewSpec } from './configuration/match-conditions.ts'
export { parseAuthorizationConfiguration } from './configuration/parse.ts'
export { validateAuthorizationConfiguration, validateAuthorizerNames } from './configuration/validate.ts'
export type {
  Attributes,
  Authorizer,
  Decision,
  DecisionTrace,
  ObjectEventHandler,
  ObjectInformer,
  ObjectName,
  PolicyRule,
  StoredObject,
  Subject,
  SubjectRules,
  SyncAuthorizer,
} from './interfaces.ts'
export { createNodeAuthorizerFromInformer, type NodeAuthorizerOptions } from './node/node-authorizer.ts'
export { aggregatedRules } from './rbac/aggregation.ts'
export { describeRule } from './rbac/describe.ts'
export { createEscalationGuard, type EscalationGuard, type EscalationGuardOptions, type RoleWrite } from './rbac/escalation.ts'
export type { BindingObject } from './rbac/objects.ts'
export type { RbacPolicy, ResolvedRule } from './rbac/policy.ts'
export {
  createRbacAuthorizer,
  createRbacAuthorizerFromInformer,
  type RbacAuthorizer,
  type RbacAuthorizerOptions,
} from './rbac/rbac-authorizer.ts'
export {
  type AccessExplanation,
  type AllowedSubject,
  type AllowingBinding,
  explainAccess,
  formatSubject,
  whoCan,
} from './rbac/who-can.ts'
export { createUnionAuthorizer } from './union.ts'
export { createWebhookAuthorizer, type WebhookAuthorizerOptions } from './webhook/webhook-authorizer.ts'
