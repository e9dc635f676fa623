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
export {
  type ConfigurationKind,
  type ConfigurationResult,
  type ConfigurationSchema,
  type ConfigurationValue,
  type ListSchema,
  type ObjectSchema,
  parseConfiguration,
} from './configuration.ts'
export { createFeatures, defaultRelease } from './features.ts'
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
  joinFormatted,
  maxPrintedLength,
  utf8Length,
} from './go-text.ts'
export { goIntOrString, type IntOrString, intValue, parseIntOrString, parsePercent, scaledValue } from './int-or-string.ts'
export type * from './interfaces.ts'
export { cidrError, type IpAddress, type IpRange, ipError, parseCIDR, parseIP, validateCIDR, validateIP } from './ip.ts'
export { MetaError, type MetaErrorCode } from './meta-error.ts'
export {
  formatRegexError,
  maxLabelLength,
  maxSubdomainLength,
  validateCIdentifier,
  validateConfigMapKey,
  validateDns1035Label,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateDns1123SubdomainWithUnderscore,
  validateEnvVarName,
  validateHttpHeaderName,
  validateLabelValue,
  validatePathSegmentName,
  validatePathSegmentPrefix,
  validatePercent,
  validatePortName,
  validateQualifiedName,
  validateRelaxedEnvVarName,
  validateWildcardDns1123Subdomain,
} from './names/name-formats.ts'
export { type NameRule, type NameRuleName, nameRules } from './names/name-rule.ts'
export { validateGroupId, validateInRange, validatePortNumber, validateUserId } from './names/number-rules.ts'
export {
  validateDomainPrefixedKey,
  validateDomainPrefixedPath,
  validateFullyQualifiedDomainName,
  validateFullyQualifiedName,
} from './names/qualified-names.ts'
export { createNamingProfile, stockProfile } from './naming-profile.ts'
export { pemBlocks } from './pem.ts'
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
  escapeFieldValue,
  type FieldRequirement,
  FieldSelector,
  parseFieldSelector,
  type SelectableFields,
} from './selectors/field-selector.ts'
export { type LabelOperator, LabelRequirement, type Labels } from './selectors/label-requirement.ts'
export {
  everythingSelector,
  LabelSelector,
  type LabelSelectorExpression,
  type LabelSelectorObject,
  labelSelectorFromLabels,
  labelSelectorFromObject,
  nothing,
  validateLabelSelector,
} from './selectors/label-selector.ts'
export { parseLabelSelector } from './selectors/label-selector-parser.ts'
export { maxSelectorTerms, truncateSelector } from './selectors/selector-limits.ts'
export {
  createSliceScheduler,
  defaultSliceMs,
  runAtOnce,
  runInSlices,
  runSyncOrInSlices,
  type SliceScheduler,
  Slices,
} from './slices.ts'
export { type Status, type StatusCause, type StatusDetails, type StatusReason, successStatus } from './status.ts'
export { formatDuration, formatDurationMs, parseDuration, parseDurationMs } from './time/duration.ts'
export {
  formatGoTime,
  formatMicroTime,
  formatTime,
  type Instant,
  instantToMs,
  normalizeMicroTime,
  normalizeTime,
  parseInstant,
  parseMicroTime,
  parseTime,
} from './time/time.ts'
export { type RateLimit, TokenBucket } from './token-bucket.ts'
export { type Condition, validateCondition, validateConditions } from './validation/conditions.ts'
export {
  addErrors,
  collectErrors,
  ErrorBudget,
  ErrorList,
  ErrorListFull,
  maxFieldErrors,
  maxFieldErrorsLength,
  runUntilFull,
} from './validation/error-list.ts'
export { type FieldPathLike, field, formatFieldError, formatFieldErrors } from './validation/field-error.ts'
export {
  maxFieldManagerLength,
  maxSubresourceLength,
  validateFieldManager,
  validateManagedFields,
} from './validation/managed-fields.ts'
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
