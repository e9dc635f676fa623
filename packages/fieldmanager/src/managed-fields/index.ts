export { applyParts, applyPatch } from './apply.direct.ts'
export {
  type AppliedParts,
  type ApplyParts,
  type ApplyPatchRequest,
  type ApplyResult,
  beforeFirstApplyManager,
  type FieldConflicts,
} from './apply.ts'
export { ancientChangesManager, maxUpdateManagers } from './cap-managers.ts'
export { conflictError, type FieldConflict } from './conflicts.ts'
export { decodeManagedFields, encodeManagedFields, managedFieldsProblem } from './entries.direct.ts'
export type { Managed } from './entries.ts'
export { ignoreManagedFieldsTimestamps } from './ignore-timestamps.direct.ts'
export { lastAppliedAnnotation, lastAppliedManager } from './last-applied.ts'
export { type ManagerId, managerKey, parseManagerKey } from './manager-id.ts'
export { managerName } from './manager-name.ts'
export { parentManagedFields, type ScaleOwnership, scaleApiVersion, scaleManagedFields } from './scale.ts'
export {
  createTypeConverter,
  deducedTypeConverter,
  type FrozenObject,
  type ResetFields,
  type TypeConverter,
  withManagedFields,
  withoutManagedFields,
} from './type-converter.ts'
export { managedFieldsAfterUpdate, trackUpdate } from './update.direct.ts'
export {
  isResetManagedFields,
  type TrackUpdateRequest,
  unknownManager,
} from './update.ts'
