export { ApiError, type GenericFailure } from './api-error.ts'
export { formatApiVersion, parseApiVersion } from './api-version.ts'
export { ByteBoundedCache, estimateBytes } from './byte-bounded-cache.ts'
export { type FakeClock, fakeClock, foregroundClock, systemClock } from './clock.ts'
export { type ConfigurationValue, parseConfiguration } from './configuration.ts'
export { createFeatures } from './features.ts'
export {
  compareCodePoints,
  GoText,
  goFloat,
  goQuote,
  goStrings,
  goSyntax,
  goText,
  isPrintable,
  joinFormatted,
  utf8Length,
} from './go-text.ts'
export { goIntOrString, type IntOrString, intValue, parsePercent, scaledValue } from './int-or-string.ts'
export type * from './interfaces.ts'
export { type IpAddress, parseCIDR, parseIP, validateCIDR, validateIP } from './ip.ts'
export { MetaError, type MetaErrorCode } from './meta-error.ts'
export {
  maxLabelLength,
  maxSubdomainLength,
  validateConfigMapKey,
  validateDns1035Label,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateDns1123SubdomainWithUnderscore,
  validateEnvVarName,
  validateHttpHeaderName,
  validateLabelValue,
  validatePathSegmentName,
  validatePercent,
  validatePortName,
  validateQualifiedNameFormat,
  validateRelaxedEnvVarName,
  validateWildcardDns1123Subdomain,
} from './names/name-formats.ts'
export { type NameRule, nameRules } from './names/name-rule.ts'
export { validateInRange, validatePortNum, validateUserId } from './names/number-rules.ts'
export {
  validateDomainPrefixedPath,
  validateFullyQualifiedDomainName,
  validateFullyQualifiedName,
} from './names/qualified-names.ts'
export { createNamingProfile, stockProfile } from './naming-profile.ts'
export { pemBlocks } from './pem.ts'
export { normalizeQuantity, Quantity } from './quantity/quantity.ts'
export { quantityFormatError } from './quantity/quantity-text.ts'
export { generateName, seededRandom, systemRandom } from './random.ts'
export { randomText } from './random-text.ts'
export { type FieldRequirement, FieldSelector, parseFieldSelector } from './selectors/field-selector.ts'
export type { Labels } from './selectors/label-requirement.ts'
export {
  LabelSelector,
  type LabelSelectorExpression,
  type LabelSelectorObject,
  labelSelectorFromLabels,
  labelSelectorFromObject,
  nothingSelector,
  validateLabelSelector,
} from './selectors/label-selector.ts'
export { parseLabelSelector } from './selectors/label-selector-parser.ts'
export { maxSelectorTerms, truncateSelector } from './selectors/selector-limits.ts'
export { createSliceScheduler, runAtOnce, runInSlices, runSyncOrInSlices, type SliceScheduler, Slices } from './slices.ts'
export type { Status, StatusCause, StatusDetails, StatusReason } from './status.ts'
export { formatDuration, parseDuration, parseDurationMs } from './time/duration.ts'
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
export { type Condition, validateConditions } from './validation/conditions.ts'
export {
  addErrors,
  collectErrors,
  ErrorBudget,
  ErrorList,
  ErrorListFull,
  maxFieldErrors,
  runUntilFull,
} from './validation/error-list.ts'
export { field, formatFieldError, formatFieldErrors } from './validation/field-error.ts'
export { maxFieldManagerLength } from './validation/managed-fields.ts'
export {
  maxAnnotationsSize,
  type ObjectMetaRules,
  standardFinalizers,
  validateAnnotations,
  validateBuiltInObjectMeta,
  validateImmutableField,
  validateLabels,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from './validation/object-meta.ts'
export { controllerOf } from './validation/owner-references.ts'
export { Path } from './validation/path.ts'
