export {
  type AppliedParts,
  type ApplyParts,
  type ApplyRequest,
  type ApplyResult,
  applyParts,
  applyPatch,
  firstApplyManager,
} from './apply.ts'
export { ancientManager, maxUpdateManagers } from './cap-managers.ts'
export { conflictError, conflictMessage, type FieldConflict } from './conflicts.ts'
export { decodeManaged, encodeManaged, type Managed, sameEntries } from './entries.ts'
export { settleTimestamps } from './ignore-timestamps.ts'
export { annotationManager, lastAppliedAnnotation } from './last-applied.ts'
export { type ManagerId, managerKey, managerText, parseManagerKey } from './manager-id.ts'
export { managerName } from './manager-name.ts'
export { parentManagedFields, type ScaleOwnership, scaleApiVersion, scaleManagedFields } from './scale.ts'
export {
  deducedTypes,
  type FrozenObject,
  type ManagedTypes,
  managedTypes,
  type ResetFields,
  withManagedFields,
  withoutManagedFields,
} from './type-converter.ts'
export { isReset, ownersAfterUpdate, timeText, trackUpdate, type UpdateRequest, unknownManager } from './update.ts'
export { managedFieldsProblem } from './validate.ts'
