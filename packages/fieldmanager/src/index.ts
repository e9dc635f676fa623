export {
  FieldManagerError,
  type FieldManagerErrorCode,
  type FieldManagerErrorFields,
  type PatchErrorCode,
} from './field-manager-error.ts'
export type { FieldPath, PathElement } from './fieldpath/element.ts'
export { FieldSet } from './fieldpath/field-set.ts'
export { type ApplyPatchRequest, type ApplyResult, applyPatch, type FieldConflicts } from './managed-fields/apply.ts'
export { conflictError, type FieldConflict } from './managed-fields/conflicts.ts'
export { managerName } from './managed-fields/manager-name.ts'
export { createTypeConverter, type FrozenObject, type ResetFields, type TypeConverter } from './managed-fields/type-converter.ts'
export { type TrackUpdateRequest, trackUpdate } from './managed-fields/update.ts'
export { apply, type OfflineApplyRequest, type OfflineApplyResult } from './offline/apply.ts'
export { type BlamedLine, type BlamedValue, blame, blameLines } from './offline/blame.ts'
export { type Change, diffObjects } from './offline/diff.ts'
export { type ConflictExplanation, explainConflict, type Preview, preview, type Resolution } from './offline/explain.ts'
export { type ExtractOptions, extract } from './offline/extract.ts'
export { type MigrateOptions, migrate } from './offline/migrate.ts'
export { type OwnedField, type Owner, ownership } from './offline/ownership.ts'
export type { OfflineSchema } from './offline/schema.ts'
export { type JsonPatchOptions, jsonPatch } from './patch/json-patch.ts'
export { createMergePatch, mergePatch } from './patch/merge-patch.ts'
export { createThreeWayPatch, createTwoWayPatch, type ThreeWayOptions } from './patch/strategic-diff.ts'
export { strategicMergePatch } from './patch/strategic-merge.ts'
export { createThreeWayMergePatch } from './patch/three-way-merge.ts'
export { type OpenApiOptions, typedSchemaFromOpenApi } from './typed/from-openapi.ts'
export { type TypedSchema, typedSchemaFromSmd } from './typed/from-smd.ts'
export type { TypeRef } from './typed/types.ts'
