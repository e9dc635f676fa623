/** What allocators of values that no two objects may share give and need. */
import type { ApiObject, DeepReadonly, FieldError, GroupResource } from '@krmkit/meta'

/** The values that one write gets. One of `commit` and `rollback` is called, unless the outcome of the write is unknown. */
export interface Grant {
  /** Values that cannot be granted; the write is refused with these errors alone. */
  readonly errors: readonly FieldError[]
  /** The object is stored: releases what it no longer holds. */
  commit?(): Promise<void>
  /** The object is not stored: releases what it was granted. */
  rollback?(): Promise<void>
}

/** What a repair found about an object, as an event shows it. */
export interface AllocationProblem {
  readonly object: DeepReadonly<ApiObject>
  readonly reason: string
  readonly action: string
  readonly message: string
  readonly reportingController: string
}

/** Values of a range that are in use. */
export interface StoredRange {
  /** The bounds: `10.0.0.0/24`, `30000-32767`. */
  readonly range: string
  /** A bitmap. */
  readonly data: Uint8Array
}

/** The record of assigned values that all servers on one store share. */
export interface SharedAllocations {
  /** The newest known state; the same object until it changes. */
  range(name: string): StoredRange | undefined
  /**
   * Replaces a stored range in one step. `change` may run repeatedly, so it is pure; its result `undefined` changes nothing.
   *
   * @returns whether it was changed
   */
  updateRange(name: string, change: (current: StoredRange | undefined) => StoredRange | undefined): Promise<boolean>
  /** Creates an object that stands for a value. @returns false when there is one already */
  reserve(resource: GroupResource, object: ApiObject): Promise<boolean>
  /** Removes such an object if `mayRelease` accepts it. */
  release(resource: GroupResource, name: string, mayRelease: (object: DeepReadonly<ApiObject>) => boolean): Promise<void>
}

/** Receives the state of a followed collection. */
export interface AllocationSink {
  put(object: DeepReadonly<ApiObject>): void
  remove(object: DeepReadonly<ApiObject>): void
  /** Discards everything; the present objects follow. */
  clear(): void
}
