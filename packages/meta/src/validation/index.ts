export { type Condition, validateCondition, validateConditions } from './conditions.ts'
export {
  addErrors,
  collectErrors,
  ErrorBudget,
  ErrorList,
  ErrorListFull,
  maxFieldErrors,
  maxFieldErrorsLength,
  runUntilFull,
} from './error-list.ts'
export { type FieldPathLike, field, formatFieldError, formatFieldErrors } from './field-error.ts'
export { maxFieldManagerLength, maxSubresourceLength, validateFieldManager, validateManagedFields } from './managed-fields.ts'
export {
  immutableError,
  maxAnnotationsSize,
  type ObjectMetaRules,
  standardFinalizers,
  validateAnnotations,
  validateBuiltInObjectMeta,
  validateBuiltInObjectMetaUpdate,
  validateFinalizerName,
  validateFinalizers,
  validateImmutableField,
  validateLabelName,
  validateLabels,
  validateObjectMeta,
  validateObjectMetaUpdate,
  validateStandardFinalizer,
} from './object-meta.ts'
export { controllerOf, validateOwnerReferences } from './owner-references.ts'
export { Path } from './path.ts'
