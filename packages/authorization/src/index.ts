export type { Fetch } from '@krmkit/base/fetch'
export { type AbacPolicy, createAbacAuthorizer, parseAbacPolicies } from './abac/abac-authorizer.ts'
export { AuthorizationError, type AuthorizationErrorCode } from './authorization-error.ts'
export {
  alwaysAllowAuthorizer,
  alwaysDenyAuthorizer,
  createPrivilegedGroupsAuthorizer,
  systemMasters,
} from './builtin-authorizers.ts'
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
export {
  type AuthorizationMetrics,
  createInstrumentedAuthorizer,
  type DecisionCounters,
  type InstrumentedAuthorizerOptions,
  nameOfMode,
  type WebhookEvaluationResult,
} from './metrics.ts'
export { createNodeAuthorizerFromInformer, type NodeAuthorizerOptions } from './node/node-authorizer.ts'
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
