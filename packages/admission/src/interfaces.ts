import type {
  ApiObject,
  DeepReadonly,
  GroupResource,
  GroupVersionKind,
  GroupVersionResource,
  JsonValue,
  UserInfo,
} from '@krmkit/meta'
import type { WebhookMetrics } from './webhook/interfaces.ts'

/** What kind of request it is. Plugins decide by this alone whether they look at a request at all. */
export interface AdmissionTarget {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly kind: GroupVersionKind
  readonly resource: GroupVersionResource
  /** Empty for the object itself. */
  readonly subresource: string
}

/** What admission sees of a request; @see API protocol specification, 2.8. */
export interface AdmissionAttributes extends AdmissionTarget {
  /** Empty when the server will generate it. */
  readonly name: string
  readonly namespace: string
  readonly user: UserInfo
  readonly dryRun: boolean
  /** The stored object; absent for CREATE and CONNECT. */
  readonly oldObject?: DeepReadonly<ApiObject>
  /** The options of the verb as the client gave them. */
  readonly options?: DeepReadonly<Record<string, unknown>>
}

/** Where objects of a kind are found. */
export interface ServedKind extends GroupVersionResource {
  readonly namespaced: boolean
}

/** Reads other objects from the newest visible state. Objects are frozen and shared. */
export interface ObjectReader {
  get(resource: GroupResource, namespace: string, name: string): DeepReadonly<ApiObject> | undefined
  /** In the order of their names. Collections that plugins ask for at every request are kept ready. */
  list(resource: GroupResource, namespace?: string): Promise<readonly DeepReadonly<ApiObject>[]>
  /** `list` of a whole collection without waiting; undefined where it is not kept ready, or not yet. */
  listNow?(resource: GroupResource): readonly DeepReadonly<ApiObject>[] | undefined
  /** Resources whose objects are of this kind; none when nobody serves it. Absent where kinds are not known. */
  resourcesOf?(kind: GroupVersionKind): readonly ServedKind[]
}

/** Writes other objects on behalf of plugins, by way of the whole chain. */
export interface ObjectWriter {
  /** @throws ApiError */
  create(resource: GroupResource, namespace: string, object: ApiObject): Promise<DeepReadonly<ApiObject>>
  /**
   * Stores what `change` makes of the newest state; runs it again when another writer is first. What `change` throws ends it.
   *
   * @throws ApiError
   */
  update(
    target: GroupResource & { readonly namespace: string; readonly name: string; readonly subresource: string },
    change: (current: DeepReadonly<ApiObject>) => ApiObject,
  ): Promise<DeepReadonly<ApiObject>>
}

/** A resource at one of its versions, and the kind of the objects there: of `deployments/scale` that is `Scale`. */
export interface ObjectVersion {
  readonly resource: GroupVersionResource
  readonly kind: GroupVersionKind
}

/** An object that was read from a form. */
export interface ReadObject {
  /** What plugins run on; the caller's own. */
  readonly object: ApiObject
  /** The same as it looks in the form. */
  readonly shown: DeepReadonly<ApiObject>
}

/**
 * The versions of objects. Plugins run on the storage version, or on that of the request where others translate between them;
 * webhooks and policies may ask for another one. What others translate takes time, and fails with an ApiError.
 */
export interface ObjectConvertor {
  /** The same value as long as the same resources are served. */
  readonly served: unknown
  /** Every form in which the objects of a resource are served, the given one included. */
  equivalents(resource: GroupVersionResource, subresource: string): readonly ObjectVersion[]
  /** An object as it looks in a form, complete and in order. The argument stays as it is. */
  show(object: DeepReadonly<ApiObject>, form: ObjectVersion): DeepReadonly<ApiObject> | Promise<DeepReadonly<ApiObject>>
  /**
   * From a value in a form to what plugins run on for a request in the form `request`, with defaults filled in.
   *
   * @throws Error that tells what is wrong with the value.
   */
  read(value: JsonValue, form: ObjectVersion, request: ObjectVersion): ReadObject | Promise<ReadObject>
}

/** How long a request may take. */
export interface RequestBounds {
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal
  /** Milliseconds since the epoch after which nobody waits for the answer. */
  readonly deadline?: number | undefined
}

/** User name of writes that plugins make through `ObjectWriter`. */
export const pluginUser = 'system:apiserver'

/**
 * Mutating plugins run a second time when one of them asks for it: a webhook that changed what earlier plugins had seen.
 * Kept for one request.
 */
export interface ReinvocationContext {
  /** 0, then 1 when plugins run again. */
  readonly round: number
  /** Asks for the second round; without effect in it. */
  again(): void
  /** A place for what a plugin has to remember between the rounds. */
  readonly memory: Map<string, unknown>
}

export interface AdmissionContext {
  readonly reader: ObjectReader
  /** Absent offline: what needs it is then left out. */
  readonly writer?: ObjectWriter
  /** Adds a Warning header to the answer. */
  warn(text: string): void
  /**
   * Adds to the audit trail, where the trail is kept at `level` or above; the default is `Metadata`. A key keeps its first value.
   * Absent when nobody keeps one.
   */
  annotate?(key: string, value: string, level?: 'Metadata' | 'Request'): void
  /** Absent offline: there is one version then. */
  readonly convertor?: ObjectConvertor
  /** Hears of calls to webhooks. Absent when nobody counts. */
  readonly metrics?: WebhookMetrics
  /** Absent offline: there is no end to a request then. */
  readonly bounds?: RequestBounds
  /** Hears what each plugin decided. Absent when nobody listens: then nothing is worked out. */
  readonly trace?: DecisionSink
  /** Says why the plugin does what it does; set by the chain while somebody listens. */
  explain?(reason: string): void
  /** Set by the chain while objects are changed. */
  readonly reinvocation?: ReinvocationContext
}

export type DecisionSink = (decision: AdmissionDecision) => void

/** What one plugin did to one request. Told of plugins that changed, refused, warned about or explained something. */
export interface AdmissionDecision {
  readonly plugin: string
  readonly phase: 'mutating' | 'validating'
  readonly outcome: 'allowed' | 'changed' | 'refused'
  /** Empty unless something was changed. */
  readonly changes: readonly ObjectChange[]
  /** In the plugin's own words. */
  readonly reasons: readonly string[]
  /** Warnings that the plugin gave. */
  readonly warnings: readonly string[]
  /** What the plugin added to the audit trail. */
  readonly annotations: Readonly<Record<string, string>>
  /** The message of the refusal. */
  readonly message?: string
}

/** One place where two states of an object differ. */
export interface ObjectChange {
  readonly op: 'add' | 'remove' | 'replace'
  /** JSON pointer, RFC 6901. */
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
}

/** Ends what a judgement had set aside: for good when the object was written, taken back when it was not. Called once. */
export type Settle = (written: boolean) => void | Promise<void>

/**
 * One admission plugin. A plugin that changes objects has `admit`, one that only judges has `validate` or `check`; all refuse
 * by throwing an ApiError.
 */
export interface AdmissionPlugin {
  readonly name: string
  /** Whether the plugin wants to see such requests at all. Asked once for each target, so it must always answer the same. */
  handles(target: AdmissionTarget): boolean
  /** Refuses before anything is changed by this plugin. `object` is absent for DELETE. */
  check?(attributes: AdmissionAttributes, context: AdmissionContext, object?: DeepReadonly<ApiObject>): void | Promise<void>
  /**
   * Changes a draft freely, or returns another object. Not called for DELETE, which has no new object. Keep it repeatable.
   */
  admit?(draft: ApiObject, attributes: AdmissionAttributes, context: AdmissionContext): Admitted | Promise<Admitted>
  /**
   * `draft`, the default: `admit` is given an immer draft. `members`: it is given an object of its own, whose members, and those of
   * `metadata`, it replaces; what is inside them is shared with frozen objects and must not be changed in place. Several times faster.
   * `whole`: it is given the object itself, changes nothing of it, and returns another one where it wants one.
   */
  readonly changes?: 'draft' | 'members' | 'whole'
  /**
   * Judges the object as it will be stored; it is frozen in all but name. What is returned hears whether it was stored then.
   */
  validate?(
    object: DeepReadonly<ApiObject> | undefined,
    attributes: AdmissionAttributes,
    context: AdmissionContext,
  ): Judged | Promise<Judged>
}

// biome-ignore lint/suspicious/noConfusingVoidType: plugins are functions that mostly return nothing
export type Admitted = void | ApiObject
// biome-ignore lint/suspicious/noConfusingVoidType: plugins are functions that mostly return nothing
export type Judged = void | Settle
