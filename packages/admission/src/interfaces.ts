import type { ApiObject, DeepReadonly, GroupResource, GroupVersionKind, GroupVersionResource, UserInfo } from '@krmkit/meta'

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

/** User name of writes that plugins make through `ObjectWriter`. */
export const pluginUser = 'system:apiserver'

/**
 * Mutating plugins run a second time when one of them asks for it: a webhook that changed what earlier plugins had seen.
 * Kept for one request.
 */
export interface Rounds {
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
  /** Adds to the audit trail. Absent when nobody keeps one. */
  annotate?(key: string, value: string): void
  /** Hears what each plugin decided. Absent when nobody listens: then nothing is worked out. */
  readonly trace?: DecisionSink
  /** Says why the plugin does what it does; set by the chain while somebody listens. */
  explain?(reason: string): void
  /** Set by the chain while objects are changed. */
  readonly rounds?: Rounds
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

/** Takes back what a judgement had set aside, because the write did not happen. */
export type Undo = () => void | Promise<void>

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
   */
  readonly changes?: 'draft' | 'members'
  /**
   * Judges the object as it will be stored; it is frozen in all but name. What is returned is called when the write then fails.
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
export type Judged = void | Undo
