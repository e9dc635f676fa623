export { type CustomTypeOptions, createCustomType } from './custom-type.ts'
export { applySchemaDefaults, pruneNulls } from './defaults.ts'
export { coerceEmbedded, coerceMetadata, validateEmbedded, validateEmbeddedObject } from './embedded.ts'
export { validateListTypes } from './list-types.ts'
export { compilePattern, type Pattern, type PatternProblem } from './pattern.ts'
export { type PruneOptions, pruneObject, pruneValue } from './prune.ts'
export {
  createSchemaNode,
  hasTransitionRules,
  hasValidationRules,
  type SchemaNode,
} from './schema-node.ts'
export { createSchemaValidator, type SchemaValidator, schemaTypeName } from './validate.ts'
