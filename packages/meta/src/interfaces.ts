/**
 * The data types of API objects, and the interfaces that all packages share.
 *
 * Independent of HTTP, storage and specific kinds.
 */

/** Any JSON value; 64-bit integers beyond the safe integer range are `bigint`. */
export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | { [key: string]: JsonValue }

/** A JSON object with statically unknown members. */
export type JsonObject = { [key: string]: JsonValue }

/** Makes a type readonly at every level: the type of shared objects, such as those in validation, watches and caches. */
export type DeepReadonly<T> = T extends string
  ? T // Open enumerations such as `'A' | (string & {})` are strings.
  : T extends (infer E)[]
    ? readonly DeepReadonly<E>[]
    : T extends object
      ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
      : T

export interface GroupVersion {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
}

export interface GroupVersionKind extends GroupVersion {
  readonly kind: string
}

export interface GroupVersionResource extends GroupVersion {
  readonly resource: string
}

export interface GroupResource {
  readonly group: string
  readonly resource: string
}

export interface GroupKind {
  readonly group: string
  readonly kind: string
}

/** @see API protocol specification, 2.2 */
export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

/** Field ownership of one manager. @see API protocol specification, 2.2 and 4.7 */
export interface ManagedFieldsEntry {
  manager?: string
  operation?: string
  apiVersion?: string
  /** RFC 3339, whole seconds, UTC. */
  time?: string
  fieldsType?: string
  fieldsV1?: JsonObject
  subresource?: string
}

/** @see API protocol specification, 2.2 */
export interface ObjectMeta {
  name?: string
  generateName?: string
  namespace?: string
  selfLink?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  /** RFC 3339, whole seconds, UTC; `null` while unset, as in serialized objects. */
  creationTimestamp?: string | null
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
  finalizers?: string[]
  managedFields?: ManagedFieldsEntry[]
}

/** @see API protocol specification, 2.3 */
export interface ListMeta {
  selfLink?: string
  resourceVersion?: string
  continue?: string
  remainingItemCount?: number
}

/** An object of any kind, as plain JSON. */
export interface ApiObject {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
  [member: string]: unknown
}

declare const objectType: unique symbol

/** Associates a value with the type of its objects, at compile time only. */
export interface Typed<T> {
  readonly [objectType]?: T
}

declare const draftType: unique symbol

/** Associates a value with the type of objects before defaulting, at compile time only. */
export interface Completed<W> {
  readonly [draftType]?: W
}

/** An authenticated user. */
export interface UserInfo {
  readonly username: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** A clock, passed as an argument so that tests can control time. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls `fn` once after `ms` milliseconds; the returned function cancels it. */
  setTimeout(fn: () => void, ms: number): () => void
}

/** A source of randomness, passed as an argument so that tests can control it. */
export interface Random {
  /** A lowercase version 4 UUID. */
  uuid(): string
  /** `length` random characters of the alphabet of generated names (`bcdfghjklmnpqrstvwxz2456789`). */
  nameSuffix(length: number): string
  /** `size` random bytes, unpredictable in production. */
  bytes(size: number): Uint8Array
}

/**
 * The names that a distribution may change. The default profile has the names of kube-apiserver; no other module hard-codes
 * them.
 */
export interface NamingProfile {
  /** `{api_domain}` of the specification: `k8s.io`. */
  readonly apiDomain: string
  /** `{vendor}`: `kubernetes`, as in `application/vnd.kubernetes.protobuf`. */
  readonly vendor: string
  /** `<domain>`: `kubernetes.io`, prefix of signers, annotations and labels. */
  readonly domain: string
  /** `{system_namespace}`: `kube-system`. */
  readonly systemNamespace: string
  /** `{public_namespace}`: `kube-public`. */
  readonly publicNamespace: string
  /** Namespace of node leases: `kube-node-lease`. */
  readonly nodeLeaseNamespace: string
}

/** Behaviour that depends on release or feature gates. */
export interface Features {
  readonly release: {
    /** For example `1.33`. */
    readonly version: string
    atLeast(version: string): boolean
  }
  /** Returns the configured value of a gate, or else `byDefault`, which is false if omitted. */
  enabled(gate: string, byDefault?: boolean): boolean
  /** The known gates, for listings and metrics. */
  readonly gates?: readonly FeatureGateState[]
  /** Names of the gates that were set explicitly, individually or by stage (`AllAlpha`). Absent: unknown. */
  readonly configured?: ReadonlySet<string>
}

/** The state of a gate in one release. */
export interface FeatureGateState {
  readonly name: string
  readonly stage: 'alpha' | 'beta' | 'stable' | 'deprecated'
  readonly enabled: boolean
  /** The default value. */
  readonly default: boolean
  /** Whether the gate cannot be changed from its default. */
  readonly locked: boolean
}

/**
 * A validation error of one field.
 *
 * `message` is the text that kube-apiserver prints after the field path (`Invalid value: "x": must be ...`); `reason` is the
 * reason of the cause.
 */
export interface FieldError {
  readonly field: string
  readonly reason:
    | 'FieldValueNotFound'
    | 'FieldValueRequired'
    | 'FieldValueDuplicate'
    | 'FieldValueInvalid'
    | 'FieldValueNotSupported'
    | 'FieldValueForbidden'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany'
    | 'FieldValueTooShort'
    | 'FieldValueTooFew'
    | 'InternalError'
    | 'FieldValueTypeInvalid'
  readonly message: string
}
