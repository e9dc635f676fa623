/** Pausable forms of what this package also offers direct, under the same names: for large objects, run by a `Pace` of `@krmkit/meta/work`. */

export { applyPartsSteps as applyParts } from './managed-fields/apply.ts'
export { managedFieldsProblemSteps as managedFieldsProblem } from './managed-fields/entries.ts'
export { ignoreManagedFieldsTimestampsSteps as ignoreManagedFieldsTimestamps } from './managed-fields/ignore-timestamps.ts'
export { managedFieldsAfterUpdateSteps as managedFieldsAfterUpdate } from './managed-fields/update.ts'
export { jsonPatchSteps as jsonPatch } from './patch/json-patch.ts'
export { mergePatchSteps as mergePatch } from './patch/merge-patch.ts'
export { strategicMergePatchSteps as strategicMergePatch } from './patch/strategic-merge.ts'
export { validateValueSteps as validateValue } from './typed/validate.ts'
export { equalValuesSteps as equalValues } from './value/order.ts'
