export { type Condition, validateConditions } from './conditions.ts'
export {
  addErrors,
  collectErrors,
  collectErrorsSteps,
  ErrorBudget,
  ErrorList,
  ErrorListFull,
  maxFieldErrors,
  maxFieldErrorsLength,
  rethrowUnlessFull,
  runUntilFull,
  runUntilFullSteps,
} from './error-list.ts'
export { type FieldPathLike, field, formatFieldError, formatFieldErrors } from './field-error.ts'
export { maxFieldManagerLength, maxSubresourceLength, validateFieldManager, validateManagedFields } from './managed-fields.ts'
export {
  immutableError,
  isLargeMetadata,
  maxAnnotationsSize,
  type ObjectMetaRules,
  standardFinalizers,
  validateAnnotations,
  validateAnnotationsSteps,
  validateBuiltInObjectMeta,
  validateBuiltInObjectMetaSteps,
  validateBuiltInObjectMetaUpdate,
  validateBuiltInObjectMetaUpdateSteps,
  validateImmutableField,
  validateLabels,
  validateLabelsSteps,
  validateObjectMeta,
  validateObjectMetaSteps,
  validateObjectMetaUpdate,
  validateObjectMetaUpdateSteps,
} from './object-meta.ts'
export { controllerOf } from './owner-references.ts'
export { Path } from './path.ts'
