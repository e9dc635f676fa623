export { type Condition, validateConditions } from './conditions.ts'
export { collectErrors, runUntilFull } from './error-list.direct.ts'
export {
  addErrors,
  ErrorBudget,
  ErrorList,
  ErrorListFull,
  maxFieldErrors,
  maxFieldErrorsLength,
  rethrowUnlessFull,
} from './error-list.ts'
export { type FieldPathLike, field, formatFieldError, formatFieldErrors } from './field-error.ts'
export { standardFinalizers } from './finalizers.ts'
export { labelValueError } from './label-value-error.ts'
export { maxFieldManagerLength, maxSubresourceLength, validateFieldManager, validateManagedFields } from './managed-fields.ts'
export {
  validateAnnotations,
  validateBuiltInObjectMeta,
  validateBuiltInObjectMetaUpdate,
  validateLabels,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from './object-meta.direct.ts'
export {
  immutableError,
  isLargeMetadata,
  maxAnnotationsSize,
  type ObjectMetaRules,
  validateImmutableField,
} from './object-meta.ts'
export { controllerOf } from './owner-references.ts'
export { Path } from './path.ts'
export { errorsAt, omittedValue, relocatedError, restatedError } from './printed-error.ts'
