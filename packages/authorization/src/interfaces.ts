import type { ApiObject, DeepReadonly, FieldRequirement, GroupResource, LabelSelectorExpression, UserInfo } from '@krmkit/meta'

/** What a caller wants to do; @see API protocol specification, 5.9. */
export interface Attributes {
  readonly user: UserInfo
  /** `get`, `list`, `watch`, `create`, ... for resources; the HTTP method in lower case for other paths. */
  readonly verb: string
  /** False for paths that are no resource (`/version`). */
  readonly isResource: boolean
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  /** Empty for cluster-wide requests. */
  readonly namespace: string
  /** Empty when the request names no object. */
  readonly name: string
  /** The whole path, for requests that are no resource. */
  readonly path: string
  /** What the field selector of a list, watch or deletecollection demands. Absent or empty: everything is asked for. */
  readonly fieldSelector?: readonly FieldRequirement[] | undefined
  /** As above, for labels. */
  readonly labelSelector?: readonly LabelSelectorExpression[] | undefined
}

/** `noOpinion` passes the question on; when everybody has none the request is refused. */
export interface Decision {
  readonly decision: 'allow' | 'deny' | 'noOpinion'
  /** For people: which rule decided. Appears in refusals and in the audit trail. */
  readonly reason: string
  /** What went wrong while deciding; the decision holds all the same. */
  readonly error?: string | undefined
  /** The same as `reason`, for programs. */
  readonly trace?: DecisionTrace | undefined
}

/** What a decision rests on. Everything but `authorizer` is set by authorizers that know it. */
export interface DecisionTrace {
  /** `RBAC`, `Node`, `Webhook`, `ABAC`, ... */
  readonly authorizer: string
  /** Role binding that grants the right. */
  readonly binding?: ObjectName
  readonly role?: ObjectName
  /** Subject of the binding that the caller is. */
  readonly subject?: Subject
  readonly rule?: PolicyRule
  /** Position of `rule` in the role, from 0. */
  readonly ruleIndex?: number
}

export interface ObjectName {
  readonly kind: string
  /** Empty for kinds without namespaces. */
  readonly namespace: string
  readonly name: string
}

/** Somebody who is given a role. */
export interface Subject {
  /** `User`, `Group` or `ServiceAccount`. */
  readonly kind: string
  readonly apiGroup?: string
  readonly name: string
  /** Of service accounts; absent: the namespace of the binding. */
  readonly namespace?: string
}

/** A right as roles list it; @see `RuleAnswer`. */
export interface PolicyRule {
  readonly verbs: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

/** Everything that a user may do in a namespace, as far as it can be listed. */
export interface SubjectRules {
  readonly resourceRules: readonly PolicyRule[]
  readonly nonResourceRules: readonly PolicyRule[]
  /** The user may be allowed more than is listed. */
  readonly incomplete: boolean
  /** What went wrong; empty: nothing. */
  readonly errors: readonly string[]
}

/** Answers at once where it can: a synchronous answer costs no turn of the event loop. */
export interface Authorizer {
  authorize(attributes: Attributes): Decision | Promise<Decision>
  /** Lists rights. Absent: this authorizer knows of none that could be listed. */
  rulesFor?(user: UserInfo, namespace: string): SubjectRules | Promise<SubjectRules>
}

/** An authorizer that always answers at once. */
export interface SyncAuthorizer extends Authorizer {
  authorize(attributes: Attributes): Decision
  rulesFor(user: UserInfo, namespace: string): SubjectRules
}

export type StoredObject = DeepReadonly<ApiObject>

/** Hears of the objects of a resource: all there are, then every change. */
export interface ObjectEventHandler {
  put(object: StoredObject): void
  /** The last state. */
  remove(object: StoredObject): void
  /** Everything told so far is void; what is there follows by `put`. */
  clear(): void
}

/** Where authorizers that follow objects get them from: the store of a server, or whatever else keeps them. */
export interface ObjectInformer {
  /**
   * Tells the sink of everything there is before it resolves, and of changes from then on.
   *
   * @returns a function that tells the sink what has changed until this very moment; cheap when nothing has. Absent for resources
   *   that nobody serves.
   */
  follow(resource: GroupResource, sink: ObjectEventHandler): Promise<(() => void) | undefined>
}
