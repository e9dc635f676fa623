export {
  type AdmissionVariableOptions,
  admissionEnvironment,
  variableType,
} from './admission-environment.ts'
export { type CompileBudget, createCompileBudget } from './compile-budget.ts'
export { type DeclType, maxRequestSize, schemaDeclType } from './decl-type.ts'
export { type CompiledSelector, compileDeviceSelector, deviceEnvironment } from './device-selectors.ts'
export { type CheckedExpression, type CompileFailure, Environment } from './environment.ts'
export { type CompiledExpression, compileExpression, type ExpressionOptions, type ExpressionProblem } from './expression.ts'
export { fromJson, JsonMap, toJson } from './json-values.ts'
export {
  authorizerType,
  authorizerValue,
  type CelAccessCheck,
  type CelAccessDecision,
  type CelAuthorizer,
  PendingAuthorization,
  requestResourceValue,
  resourceCheckType,
} from './libraries/authorization.ts'
export { createWorkBudget, type WorkBudget } from './meter.ts'
export type { Pause } from './pauses.ts'
export { type Evaluation, type EvaluationOptions, PausedEvaluation, type Program, perCallLimit } from './program.ts'
export { type CompiledRule, compileRule, type Rule, type RuleCompilerOptions } from './rule-compiler.ts'
export { maxCardinality } from './rule-environment.ts'
export { createRuleTree, type RuleNode, type RuleTreeOptions } from './rule-tree.ts'
export { schemaAdapter, type ValueAdapter } from './schema-values.ts'
export { PlanError } from './step.ts'
export {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  nullType,
  type ObjectType,
  stringType,
  structOf,
  type Type,
  timestampType,
  typeName,
  uintType,
} from './types.ts'
export { validateRules } from './validate-rules.direct.ts'
export { type RuleValidationOptions, requestCostBudget } from './validate-rules.ts'
export {
  ArrayList,
  ComputedMap,
  Double,
  ErrorValue,
  MapValue,
  Optional,
  optionalNone,
  type Value,
} from './values.ts'
