import type { FieldSet } from '../fieldpath/field-set.ts'

/** The fields that one manager owns, in one version of the kind. */
export interface VersionedSet {
  readonly set: FieldSet
  readonly apiVersion: string
  /** Whether the fields are owned by apply rather than by update. */
  readonly applied: boolean
}

/** Owned fields by manager; the caller chooses the keys. */
export type Managers = ReadonlyMap<string, VersionedSet>
