export { FieldManagerError, type FieldManagerErrorCode, type FieldManagerErrorFields } from './field-manager-error.ts'
export {
  compareElements,
  type ElementParts,
  elementOf,
  elementParts,
  fieldElement,
  indexElement,
  type KeyField,
  keyElement,
  type Path,
  type PathElement,
  parseElement,
  sortElements,
  valueElement,
} from './fieldpath/element.ts'
export { comparePaths, emptySet, type FieldNode, FieldSet, FieldSetBuilder } from './fieldpath/field-set.ts'
export {
  decodeFieldsV1,
  encodeFieldsV1,
  fieldsV1Text,
  maxPathLength,
  parseFieldsV1,
  sharedFieldsV1,
} from './fieldpath/fields-v1.ts'
export { elementText, pathText } from './fieldpath/format-path.ts'
export { fieldSetFromValue } from './fieldpath/from-value.ts'
export { filterSet, prefixMatcher, type SetFilter, type SetMatcher } from './fieldpath/set-filter.ts'
export {
  type AppliedParts,
  type ApplyParts,
  type ApplyRequest,
  type ApplyResult,
  applyParts,
  applyPartsSteps,
  applyPatch,
  firstApplyManager,
} from './managed-fields/apply.ts'
export { ancientManager, maxUpdateManagers } from './managed-fields/cap-managers.ts'
export { conflictError, conflictMessage, type FieldConflict } from './managed-fields/conflicts.ts'
export { decodeManaged, encodeManaged, type Managed, sameEntries } from './managed-fields/entries.ts'
export { settleTimestamps } from './managed-fields/ignore-timestamps.ts'
export { annotationManager, lastAppliedAnnotation } from './managed-fields/last-applied.ts'
export { type ManagerId, managerKey, managerText, parseManagerKey } from './managed-fields/manager-id.ts'
export { managerName } from './managed-fields/manager-name.ts'
export { parentManagedFields, type ScaleOwnership, scaleApiVersion, scaleManagedFields } from './managed-fields/scale.ts'
export {
  deducedTypes,
  type FrozenObject,
  type ManagedTypes,
  managedTypes,
  type ResetFields,
  withManagedFields,
  withoutManagedFields,
} from './managed-fields/type-converter.ts'
export {
  isReset,
  ownersAfterUpdate,
  ownersAfterUpdateSteps,
  timeText,
  trackUpdate,
  type UpdateRequest,
  unknownManager,
} from './managed-fields/update.ts'
export { managedFieldsProblem } from './managed-fields/validate.ts'
export { type Conflict, conflictSet, conflictsOf, conflictsText } from './merge/conflict.ts'
export { type Converter, identityConverter, type TypedValue } from './merge/converter.ts'
export { differentManagers, equalManagers, type Managers, type VersionedSet } from './merge/managers.ts'
export { type ApplyOutcome, applyManager, type UpdaterOptions, updateManagers, type Write } from './merge/updater.ts'
export { apply, type OfflineApplied, type OfflineApply } from './offline/apply.ts'
export { type BlamedLine, type BlamedValue, blame, blameLines } from './offline/blame.ts'
export { type Change, diff } from './offline/diff.ts'
export { type ConflictExplanation, explainConflict, type Preview, preview, type Resolution } from './offline/explain.ts'
export { type ExtractOptions as ExtractConfigurationOptions, extract } from './offline/extract.ts'
export { type MigrateOptions, migrate } from './offline/migrate.ts'
export { type OwnedField, type Owner, ownership } from './offline/ownership.ts'
export type { OfflineSchema } from './offline/schema.ts'
export { valueAt } from './offline/value-at.ts'
export { type JsonPatchOptions, jsonPatch, jsonPatchProblems, jsonPatchSteps } from './patch/json-patch.ts'
export { createMergePatch, mergePatch, mergePatchSteps } from './patch/merge-patch.ts'
export { PatchError, type PatchErrorCode } from './patch/patch-error.ts'
export { createThreeWayPatch, createTwoWayPatch, type ThreeWayOptions } from './patch/strategic-diff.ts'
export { strategicMergePatch, strategicMergeSteps } from './patch/strategic-merge.ts'
export { createThreeWayMergePatch } from './patch/three-way-merge.ts'
export { type Comparison, compareTyped, comparisonText, filterComparison, isSame } from './typed/compare.ts'
export { deducedName, deducedType, untypedName, untypedType } from './typed/deduced.ts'
export { fieldSetOf } from './typed/field-set-of.ts'
export { type OpenApiOptions, typedSchemaFromOpenApi } from './typed/from-openapi.ts'
export { type TypedSchema, typedSchemaFromSmd } from './typed/from-smd.ts'
export { typedSchemaOf, zeroObjectOf } from './typed/from-struct.ts'
export { ItemProblem, itemElement } from './typed/list-item.ts'
export { mergeTyped } from './typed/merge.ts'
export { withNamedMembers } from './typed/named-fields.ts'
export { reconcileFieldSet } from './typed/reconcile.ts'
export { type ExtractOptions, extractItems, removeItems } from './typed/remove.ts'
export { type Atom, type Form, type ListAtom, type MapAtom, type MapField, type ScalarAtom, TypeRef } from './typed/types.ts'
export { type ValidateOptions, validateValue } from './typed/validate.ts'
export { canonicalJson, parseJson, parseJsonBytes, quote, quoteValue } from './value/json.ts'
export { compareStrings, compareValues, equalValues, isMap, isNumber, type Value } from './value/order.ts'
