import type { ApiObject, DeepReadonly, GroupVersionKind, GroupVersionResource, UserInfo } from '@krmkit/meta'

/** What admission sees of a request; @see API protocol specification, 2.8. */
export interface AdmissionAttributes {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly kind: GroupVersionKind
  readonly resource: GroupVersionResource
  /** Empty for the object itself. */
  readonly subresource: string
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

/** Reads other objects from the newest visible state, without waiting. */
export interface ObjectReader {
  get(
    resource: { readonly group: string; readonly resource: string },
    namespace: string,
    name: string,
  ): DeepReadonly<ApiObject> | undefined
  list(
    resource: { readonly group: string; readonly resource: string },
    namespace?: string,
  ): Promise<readonly DeepReadonly<ApiObject>[]>
}

export interface AdmissionContext {
  readonly reader: ObjectReader
  /** Adds a Warning header to the answer. */
  warn(text: string): void
}

/**
 * One admission plugin. A plugin that changes objects has `admit`, one that only judges has `validate` or `check`; all refuse
 * by throwing an ApiError.
 */
export interface AdmissionPlugin {
  readonly name: string
  /** Whether the plugin wants to see such a request at all. */
  handles(attributes: AdmissionAttributes): boolean
  /** Refuses by what the request is about alone, before anything is changed. */
  check?(attributes: AdmissionAttributes, context: AdmissionContext): void | Promise<void>
  /** Changes a draft freely. Not called for DELETE, which has no new object. Keep it repeatable. */
  admit?(draft: ApiObject, attributes: AdmissionAttributes, context: AdmissionContext): void | Promise<void>
  /** Judges the object as it will be stored; it is frozen in all but name. */
  validate?(
    object: DeepReadonly<ApiObject> | undefined,
    attributes: AdmissionAttributes,
    context: AdmissionContext,
  ): void | Promise<void>
}
