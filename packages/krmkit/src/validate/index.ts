/**
 * The rules of `krmkit validate` as functions, and helpers for tools such as a language server: objects, kinds and shapes.
 */
export {
  type BaselineEntry,
  createValidationBaseline,
  parseValidationBaseline,
  type ValidationBaseline,
} from './baseline.ts'
export { withDefaults } from './defaults.ts'
export { type CatalogLookupOptions, catalogLookup, clusterLookup, type DefinitionLookup } from './definition-lookup.ts'
export { documentsOf, type ManifestFile } from './documents.ts'
export {
  type Severity,
  type SuggestedEdit,
  type Suggestion,
  type ValidationFinding,
  type ValidationRule,
  type ValidationSummary,
  validationRules,
} from './findings.ts'
export { type DefinitionObject, definitionFromJsonSchema } from './json-schema-definition.ts'
export { type ManifestObject, nameOf, objectsOf, objectText } from './objects.ts'
export { type FoundKind, identityOf, OfflineKinds, type OfflineKindsOptions } from './offline-kinds.ts'
export { printable, printableLines } from './printable.ts'
export { type AdjustableRule, parseRuleSettings, type RuleSetting, type RuleSettings } from './rule-settings.ts'
export { ValidateError, type ValidateErrorCode } from './validate-error.ts'
export type { ValidatedFile } from './validate-files.ts'
export {
  createManifestValidator,
  type DefinitionSource,
  type ManifestValidation,
  type ManifestValidator,
  type ManifestValidatorOptions,
  type ValidateRunOptions,
  validateManifests,
  validatorOf,
} from './validate-manifests.ts'
export { type MemberShape, shapeAt, shapeOf, type ValueShape, valueShape } from './value-shape.ts'
