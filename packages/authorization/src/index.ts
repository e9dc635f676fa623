export { type AbacPolicy, createAbacAuthorizer, parseAbacPolicies } from './abac/abac-authorizer.ts'
export { AuthorizationError, type AuthorizationErrorCode } from './authorization-error.ts'
export { type BindingLike, type BootstrapPolicy, bootstrapPolicy, type RoleLike } from './bootstrap/bootstrap-policy.ts'
export { nodeRules } from './bootstrap/cluster-roles.ts'
export { type Reconciled, reconcileBinding, reconcileRole } from './bootstrap/reconcile.ts'
export { alwaysAllow, alwaysDeny, privilegedGroups, systemMasters } from './builtin-authorizers.ts'
export { type AuthorizerParts, composeAuthorizers } from './configuration/compose.ts'
export type {
  AuthorizationConfiguration,
  AuthorizationWebhook,
  AuthorizerConfiguration,
  ConditionCompiler,
  ReviewCondition,
  ReviewSpec,
  SelectorRequirement,
  WebhookConnection,
} from './configuration/interfaces.ts'
export { conditionalAuthorizer, reviewOf } from './configuration/match-conditions.ts'
export { parseAuthorizationConfiguration } from './configuration/parse.ts'
export { type ReplaceableAuthorizer, replaceableAuthorizer } from './configuration/replaceable.ts'
export {
  type AuthorizationRules,
  compileConditions,
  namingProblems,
  validateAuthorizationConfiguration,
} from './configuration/validate.ts'
export type {
  Attributes,
  Authorizer,
  Decision,
  DecisionTrace,
  ObjectFeed,
  ObjectName,
  ObjectSink,
  PolicyRule,
  RuleAnswer,
  StoredObject,
  Subject,
  SyncAuthorizer,
} from './interfaces.ts'
export { NodeGraph } from './node/graph.ts'
export { nodeNameOf } from './node/identity.ts'
export { createNodeAuthorizer, followNodes, type NodeAuthorizerOptions } from './node/node-authorizer.ts'
export { aggregateRoles, gatheredRules } from './rbac/aggregation.ts'
export { type Coverage, covers } from './rbac/coverage.ts'
export { describeRule } from './rbac/describe.ts'
export { type EscalationGuard, type EscalationOptions, escalationGuard, type RoleWrite } from './rbac/escalation.ts'
export type { BindingObject } from './rbac/objects.ts'
export { type HeldRule, RbacPolicy } from './rbac/policy.ts'
export { createRbacAuthorizer, followRbac, type RbacAuthorizer, type RbacOptions } from './rbac/rbac-authorizer.ts'
export { ruleAllows } from './rbac/rule-match.ts'
export { type AccessExplanation, type AllowingBinding, explainAccess, type Holder, subjectText, whoCan } from './rbac/who-can.ts'
export { unionAuthorizer } from './union.ts'
export type { Fetch } from './webhook/fetch.ts'
export { createWebhookAuthorizer, type WebhookAuthorizerOptions } from './webhook/webhook-authorizer.ts'
