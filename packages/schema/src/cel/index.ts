export { type AdmissionScope, admissionScope, variableType } from './admission-environment.ts'
export { type CompileBudget, compileBudget } from './compile-budget.ts'
export { type DeclType as Declared, declaredBy, maxRequestSize } from './decl-type.ts'
export { type CheckedExpression as Compiled, type CompileFailure as Uncompiled, Environment } from './environment.ts'
export { escapeName, unescapeName } from './escape.ts'
export { type CompiledExpression, compileExpression, type ExpressionOptions, type ExpressionProblem } from './expression.ts'
export { fromJson, JsonMap, toJson } from './json-values.ts'
export {
  type Ask,
  type AuthorizationAnswer,
  type AuthorizationQuestion,
  authorizerType,
  authorizerValue,
  PendingAuthorization as Waiting,
  requestResourceValue,
  resourceCheckType,
} from './libraries/authorization.ts'
export { requestWork, type WorkBudget } from './meter.ts'
export { type Evaluation, type EvaluationOptions, type Program, perCallLimit } from './program.ts'
export { type CompiledRule, compileRule, type Rule, type RuleCompilerOptions } from './rule-compiler.ts'
export { greatestCardinality } from './rule-environment.ts'
export { type RuleNode, type RuleTreeOptions, rulesOf, ruleTree } from './rule-tree.ts'
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
export { checkRules, type RuleValidationOptions as RuleCheckOptions, requestCostBudget } from './validate-rules.ts'
export {
  ArrayList,
  ComputedMap,
  Double,
  Fault,
  literalMap,
  MapValue,
  Optional,
  optionalNone as noValue,
  type Value,
} from './values.ts'
