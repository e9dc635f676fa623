export { type CustomTypeOptions, createCustomType as customType } from './custom-type.ts'
export { applySchemaDefaults as defaultValue, pruneNulls } from './defaults.ts'
export { coerceEmbedded, coerceMetadata, validateEmbedded, validateEmbeddedObject } from './embedded.ts'
export { validateListTypes as validateLists } from './list-types.ts'
export { compilePattern, type Pattern, type PatternProblem } from './pattern.ts'
export { type PruneOptions, pruneObject, pruneValue } from './prune.ts'
export {
  createSchemaNode as schemaNode,
  hasTransitionRules,
  hasValidationRules as hasRules,
  type SchemaNode,
} from './schema-node.ts'
export { createSchemaValidator as schemaValidator, type SchemaValidator, schemaTypeName as typeName } from './validate.ts'
