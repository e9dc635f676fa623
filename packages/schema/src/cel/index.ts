export { type AdmissionScope, admissionScope, variableType } from './admission-environment.ts'
export { type CompileBudget, compileBudget } from './compile-budget.ts'
export { type Declared, declaredBy, maxRequestSize } from './declared.ts'
export { type Compiled, Environment, type Uncompiled } from './environment.ts'
export { escapeName, unescapeName } from './escape.ts'
export { type CompiledExpression, compileExpression, type ExpressionOptions, type ExpressionProblem } from './expression.ts'
export { fromJson, JsonMap, toJson } from './json-values.ts'
export {
  type Ask,
  type AuthorizationAnswer,
  type AuthorizationQuestion,
  authorizerType,
  authorizerValue,
  requestResourceValue,
  resourceCheckType,
  Waiting,
} from './libraries/authorization.ts'
export { requestWork, type WorkBudget } from './meter.ts'
export { PlanError } from './plan.ts'
export { type Evaluation, type EvaluationOptions, type Program, perCallLimit } from './program.ts'
export { type CompiledRule, compileRule, type Rule, type RuleCompilerOptions } from './rule-compiler.ts'
export { greatestCardinality } from './rule-environment.ts'
export { type RuleNode, type RuleTreeOptions, rulesOf, ruleTree } from './rule-tree.ts'
export { checkRules, type RuleCheckOptions, requestCostBudget } from './rule-validator.ts'
export { type Adapter, schemaAdapter } from './schema-values.ts'
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
export { ArrayList, ComputedMap, Double, Fault, literalMap, MapValue, noValue, Optional, type Value } from './values.ts'
