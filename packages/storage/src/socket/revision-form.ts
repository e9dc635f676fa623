import type { Revision } from '../interfaces.ts'

/** Values that contain the revision of their write. */
export interface RevisionForm {
  /** The value as it would be encoded for another revision. Must not change `value`. */
  atRevision(key: string, value: Uint8Array, revision: Revision): Uint8Array
}
