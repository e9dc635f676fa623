export {
  type AdmissionEnvironmentOptions as AdmissionScope,
  admissionEnvironment as admissionScope,
  variableType,
} from './admission-environment.ts'
export { type CompileBudget, createCompileBudget as compileBudget } from './compile-budget.ts'
export { type DeclType as Declared, maxRequestSize, schemaDeclType as declaredBy } from './decl-type.ts'
export { type CheckedExpression as Compiled, type CompileFailure as Uncompiled, Environment } from './environment.ts'
export { escapeName, unescapeName } from './escape.ts'
export { type CompiledExpression, compileExpression, type ExpressionOptions, type ExpressionProblem } from './expression.ts'
export { fromJson, JsonMap, toJson } from './json-values.ts'
export {
  authorizerType,
  authorizerValue,
  type CelAccessCheck as AuthorizationQuestion,
  type CelAccessDecision as AuthorizationAnswer,
  type CelAuthorizer as Ask,
  PendingAuthorization as Waiting,
  requestResourceValue,
  resourceCheckType,
} from './libraries/authorization.ts'
export { createWorkBudget as requestWork, type WorkBudget } from './meter.ts'
export { type Evaluation, type EvaluationOptions, type Program, perCallLimit } from './program.ts'
export { type CompiledRule, compileRule, type Rule, type RuleCompilerOptions } from './rule-compiler.ts'
export { maxCardinality as greatestCardinality } from './rule-environment.ts'
export { createRuleTree as ruleTree, type RuleNode, type RuleTreeOptions, rulesOf } from './rule-tree.ts'
export { schemaAdapter, type ValueAdapter as Adapter } from './schema-values.ts'
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
  optionalOf,
  type StructType,
  stringType,
  structOf,
  type Type,
  timestampType,
  typeName,
  uintType,
} from './types.ts'
export {
  type RuleValidationOptions as RuleCheckOptions,
  requestCostBudget,
  validateRules as checkRules,
} from './validate-rules.ts'
export {
  ArrayList,
  ComputedMap,
  Double,
  ErrorValue as Fault,
  literalMap,
  MapValue,
  Optional,
  optionalNone as noValue,
  type Value,
} from './values.ts'
