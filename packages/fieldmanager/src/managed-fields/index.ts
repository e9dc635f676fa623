export {
  type AppliedParts,
  type ApplyParts,
  type ApplyPatchRequest,
  type ApplyResult,
  applyParts,
  applyPartsSteps,
  applyPatch,
  beforeFirstApplyManager,
  type FieldConflicts,
} from './apply.ts'
export { ancientChangesManager, maxUpdateManagers } from './cap-managers.ts'
export { conflictError, type FieldConflict } from './conflicts.ts'
export {
  decodeManagedFields,
  encodeManagedFields,
  type Managed,
  managedFieldsProblem,
  managedFieldsProblemSteps,
} from './entries.ts'
export { ignoreManagedFieldsTimestamps, ignoreManagedFieldsTimestampsSteps } from './ignore-timestamps.ts'
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
export {
  isResetManagedFields,
  managedFieldsAfterUpdate,
  managedFieldsAfterUpdateSteps,
  type TrackUpdateRequest,
  trackUpdate,
  unknownManager,
} from './update.ts'
