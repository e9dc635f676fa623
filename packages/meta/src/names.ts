export {
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
  validatePercent,
  validatePortName,
  validateQualifiedNameFormat,
  validateRelaxedEnvVarName,
  validateWildcardDns1123Subdomain,
} from './names/name-formats.ts'
export { type NameRule, type NameRuleName, nameRules } from './names/name-rule.ts'
export { validateGroupId, validateInRange, validatePortNum, validateUserId } from './names/number-rules.ts'
export { requirePathSegmentName } from './require-name.ts'
export {
  validateDomainPrefixedKey,
  validateDomainPrefixedPath,
  validateFullyQualifiedDomainName,
  validateFullyQualifiedName,
} from './validation/qualified-names.ts'
