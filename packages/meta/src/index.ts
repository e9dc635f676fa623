export { ApiError, type GenericFailure } from './api-error.ts'
export {
  formatApiVersion,
  formatGroupKind,
  formatGroupResource,
  formatGroupVersionKind,
  parseApiVersion,
} from './api-version.ts'
export { ByteBoundedCache, type ByteBoundedCacheOptions, estimateBytes } from './byte-bounded-cache.ts'
export { type FakeClock, fakeClock, foregroundClock, systemClock } from './clock.ts'
export { type Condition, validateCondition, validateConditions } from './validation/conditions.ts'
export {
  type ConfigurationKind,
  type ListShape,
  type ObjectShape,
  type ReadConfiguration,
  readConfiguration,
  type Shape,
  type ShapeValue,
} from './configuration.ts'
export { formatDuration, formatDurationMs, parseDuration, parseDurationMs } from './time/duration.ts'
export {
  addErrors,
  collectErrors,
  ErrorBudget,
  ErrorList,
  ErrorListFull,
  maxFieldErrors,
  maxFieldErrorsLength,
  untilFull,
} from './validation/error-list.ts'
export { defaultRelease, fixedFeatures } from './features.ts'
export { type FieldPlace, field, formatFieldError, formatFieldErrors } from './validation/field-error.ts'
export { escapeFieldValue, type FieldRequirement, FieldSelector, type FieldSet, parseFieldSelector } from './selectors/field-selector.ts'
export {
  compareCodePoints,
  GoText,
  goFloat,
  goQuote,
  goQuoteShort,
  goStrings,
  goSyntax,
  goText,
  isPrintable,
  joinPrinted,
  maxPrintedLength,
  utf8Length,
} from './go-text.ts'
export { goIntOrString, type IntOrString, intValue, parseIntOrString, percentOf, scaledValue } from './int-or-string.ts'
export type * from './interfaces.ts'
export { cidrError, type IpAddress, type IpRange, ipError, isValidCIDR, isValidIP, parseCIDR, parseIP } from './ip.ts'
export { type LabelOperator, LabelRequirement, type Labels } from './selectors/label-requirement.ts'
export {
  everything,
  LabelSelector,
  type LabelSelectorExpression,
  type LabelSelectorObject,
  labelSelectorFromLabels,
  labelSelectorFromObject,
  nothing,
  validateLabelSelector,
} from './selectors/label-selector.ts'
export { parseLabelSelector } from './selectors/label-selector-parser.ts'
export { maxFieldManagerLength, maxSubresourceLength, validateFieldManager, validateManagedFields } from './validation/managed-fields.ts'
export { MetaError, type MetaErrorCode } from './meta-error.ts'
export {
  formatError,
  isCIdentifier,
  isConfigMapKey,
  isDns1035Label,
  isDns1123Label,
  isDns1123Subdomain,
  isDns1123SubdomainWithUnderscore,
  isEnvVarName,
  isHTTPHeaderName,
  isPathSegmentName,
  isPathSegmentPrefix,
  isPercent,
  isQualifiedName,
  isRelaxedEnvVarName,
  isValidLabelValue,
  isValidPortName,
  isWildcardDns1123Subdomain,
  maxLabelLength,
  maxSubdomainLength,
} from './names/name-formats.ts'
export { type NameRule, type NameRuleName, nameRules } from './names/name-rule.ts'
export { namingProfile, stockProfile } from './naming-profile.ts'
export { isInRange, isValidGroupId, isValidPortNum, isValidUserId } from './names/number-rules.ts'
export {
  immutableError,
  maxAnnotationsSize,
  type ObjectMetaRules,
  standardFinalizers,
  validateAnnotations,
  validateBuiltInObjectMeta,
  validateFinalizerName,
  validateFinalizers,
  validateImmutableField,
  validateLabelName,
  validateLabels,
  validateObjectMeta,
  validateObjectMetaUpdate,
  validateStandardFinalizer,
} from './validation/object-meta.ts'
export { controllerOf, validateOwnerReferences } from './validation/owner-references.ts'
export { Path } from './validation/path.ts'
export { pemBlocks } from './pem.ts'
export {
  validateDomainPrefixedKey,
  validateDomainPrefixedPath,
  validateFullyQualifiedDomainName,
  validateFullyQualifiedName,
} from './names/qualified-names.ts'
export { normalizeQuantity, Quantity } from './quantity/quantity.ts'
export { type QuantityFormat, quantityFormatError } from './quantity/quantity-text.ts'
export {
  generateName,
  maxGenerateNameLength,
  nameSuffixAlphabet,
  nameSuffixLength,
  seededRandom,
  systemRandom,
} from './random.ts'
export {
  type DeleteOptions,
  fieldValidations,
  type PatchOptions,
  propagationPolicies,
  validateDeleteOptions,
  validateDryRun,
  validateFieldValidation,
  validatePatchOptions,
  validateWriteOptions,
  type WriteOptions,
} from './request-options.ts'
export { maxSelectorTerms, shownText } from './selectors/selector-limits.ts'
export { createSliceScheduler, defaultSliceMs, runAtOnce, runInSlices, type SliceScheduler, Slices, sliced } from './slices.ts'
export { type Status, type StatusCause, type StatusDetails, type StatusReason, successStatus } from './status.ts'
export {
  formatGoTime,
  formatMicroTime,
  formatTime,
  type Instant,
  normalizeMicroTime,
  normalizeTime,
  parseInstant,
  parseMicroTime,
  parseTime,
  toMs,
} from './time/time.ts'
export { type Pace, TokenBucket } from './token-bucket.ts'
