export {
  type BaselineEntry,
  createValidationBaseline,
  parseValidationBaseline,
  type ValidationBaseline,
} from '../validate/baseline.ts'
export { type CatalogLookupOptions, catalogLookup, clusterLookup, type DefinitionLookup } from '../validate/definition-lookup.ts'
export type { ManifestFile } from '../validate/documents.ts'
export {
  type Severity,
  type SuggestedEdit,
  type Suggestion,
  type ValidationFinding,
  type ValidationRule,
  type ValidationSummary,
  validationRules,
} from '../validate/findings.ts'
export { type DefinitionObject, definitionFromJsonSchema } from '../validate/json-schema-definition.ts'
export { type AdjustableRule, parseRuleSettings, type RuleSetting, type RuleSettings } from '../validate/rule-settings.ts'
export { ValidateError, type ValidateErrorCode } from '../validate/validate-error.ts'
export type { ValidatedFile } from '../validate/validate-files.ts'
export {
  createManifestValidator,
  type DefinitionSource,
  type ManifestValidation,
  type ManifestValidator,
  type ManifestValidatorOptions,
  type ValidateRunOptions,
  validateManifests,
} from '../validate/validate-manifests.ts'
