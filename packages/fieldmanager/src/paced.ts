/** The functions of this package as generators under the same names, for large objects. A `Pace` of `@krmkit/base/work` runs them. */

export { applyParts } from './managed-fields/apply.ts'
export { managedFieldsProblem } from './managed-fields/entries.ts'
export { ignoreManagedFieldsTimestamps } from './managed-fields/ignore-timestamps.ts'
export { managedFieldsAfterUpdate } from './managed-fields/update.ts'
export { jsonPatch } from './patch/json-patch.ts'
export { mergePatch } from './patch/merge-patch.ts'
export { strategicMergePatch } from './patch/strategic-merge.ts'
export { validateValue } from './typed/validate.ts'
export { equalValues } from './value/equal.ts'
