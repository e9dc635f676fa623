import type { ApiObject, DeepReadonly, GroupResource, UserInfo } from '@krmkit/meta'
import type { FieldRequirement, LabelSelectorExpression } from '@krmkit/meta/selectors'

/** The attributes of a request that authorizers decide on. @see API protocol specification, 5.9 */
export interface Attributes {
  readonly user: UserInfo
  /** `get`, `list`, `watch`, `create`, ... for resources; the HTTP method in lower case for other paths. */
  readonly verb: string
  /** False for non-resource requests, such as `/version`. */
  readonly isResource: boolean
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  /** Empty for cluster-scoped requests and requests across namespaces. */
  readonly namespace: string
  /** Empty when the request names no object. */
  readonly name: string
  /** Path of a non-resource request. */
  readonly path: string
  /** Requirements of the field selector of a list, watch or deletecollection. Absent or empty: none. */
  readonly fieldSelector?: readonly FieldRequirement[] | undefined
  /** Requirements of the label selector of a list, watch or deletecollection. Absent or empty: none. */
  readonly labelSelector?: readonly LabelSelectorExpression[] | undefined
}

/** The result of an authorizer. `noOpinion` defers to the next authorizer; when none allows the request, it is forbidden. */
export interface Decision {
  readonly decision: 'allow' | 'deny' | 'noOpinion'
  /** Human-readable explanation, which appears in Forbidden responses and audit events. */
  readonly reason: string
  /** Evaluation error; the decision is still valid. */
  readonly error?: string | undefined
  /** Structured form of `reason`. */
  readonly trace?: DecisionTrace | undefined
}

/** The basis of a decision. Members other than `authorizer` are optional. */
export interface DecisionTrace {
  /** `RBAC`, `Node`, `Webhook`, `ABAC`, ... */
  readonly authorizer: string
  /** Binding that grants the permission. */
  readonly binding?: ObjectName
  readonly role?: ObjectName
  /** Subject of the binding that matches the user. */
  readonly subject?: Subject
  readonly rule?: PolicyRule
  /** Index of `rule` in the role. */
  readonly ruleIndex?: number
}

export interface ObjectName {
  readonly kind: string
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string
  readonly name: string
}

/** A subject of a role binding. */
export interface Subject {
  /** `User`, `Group` or `ServiceAccount`. */
  readonly kind: string
  readonly apiGroup?: string
  readonly name: string
  /** For service accounts; absent: the namespace of the binding. */
  readonly namespace?: string
}

/** A rule of a role. */
export interface PolicyRule {
  readonly verbs: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

/** The rules that apply to a user in a namespace, as SelfSubjectRulesReview lists them. */
export interface SubjectRules {
  readonly resourceRules: readonly PolicyRule[]
  readonly nonResourceRules: readonly PolicyRule[]
  /** Whether the user may have permissions that are not listed. */
  readonly incomplete: boolean
  /** Evaluation errors. */
  readonly errors: readonly string[]
}

/** Decides whether a request is allowed. Returns synchronously where possible, which saves a turn of the event loop. */
export interface Authorizer {
  authorize(attributes: Attributes): Decision | Promise<Decision>
  /** Lists the rules of a user in a namespace. Absent: the authorizer has no listable rules. */
  rulesFor?(user: UserInfo, namespace: string): SubjectRules | Promise<SubjectRules>
}

/** An authorizer that always decides synchronously. */
export interface SyncAuthorizer extends Authorizer {
  authorize(attributes: Attributes): Decision
  rulesFor(user: UserInfo, namespace: string): SubjectRules
}

/** An immutable object from a store. */
export type StoredObject = DeepReadonly<ApiObject>

/** Receives the objects of a resource: the initial state, then every change. */
export interface ObjectEventHandler {
  put(object: StoredObject): void
  /** @param object the last state. */
  remove(object: StoredObject): void
  /** Discards all objects; the current ones follow by `put`. */
  clear(): void
}

/** Source of the objects that authorizers depend on, such as the store of a server. */
export interface ObjectInformer {
  /**
   * Delivers the current objects to the handler before it resolves, and all changes afterwards.
   *
   * @returns a function that delivers all pending changes synchronously; cheap when there are none. Undefined for resources that are not
   *   served.
   */
  follow(resource: GroupResource, handler: ObjectEventHandler): Promise<(() => void) | undefined>
}
