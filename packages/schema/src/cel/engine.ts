import { admissionScope, variableType } from './admission-environment.ts'
import { compileBudget } from './compile-budget.ts'
import { declaredBy } from './decl-type.ts'
import { Environment } from './environment.ts'
import { compileExpression } from './expression.ts'
import { fromJson, toJson } from './json-values.ts'
import { authorizerValue, requestResourceValue } from './libraries/authorization.ts'
import { requestWork } from './meter.ts'
import { compileRule } from './rule-compiler.ts'
import { greatestCardinality } from './rule-environment.ts'
import { ruleTree } from './rule-tree.ts'
import { schemaAdapter } from './schema-values.ts'
import { PlanError } from './step.ts'
import { dynType, listOf, mapOf, stringType, structOf } from './types.ts'
import { checkRules, requestCostBudget } from './validate-rules.ts'
import { ComputedMap, Fault } from './values.ts'

/** The functions, classes and constants of the engine that `loadCel` provides. The same as those of `@krmkit/schema/cel`. */
export interface CelEngine {
  readonly ComputedMap: typeof ComputedMap
  readonly Environment: typeof Environment
  readonly Fault: typeof Fault
  readonly PlanError: typeof PlanError
  readonly admissionScope: typeof admissionScope
  readonly authorizerValue: typeof authorizerValue
  readonly checkRules: typeof checkRules
  readonly compileBudget: typeof compileBudget
  readonly compileExpression: typeof compileExpression
  readonly compileRule: typeof compileRule
  readonly declaredBy: typeof declaredBy
  readonly dynType: typeof dynType
  readonly fromJson: typeof fromJson
  readonly greatestCardinality: typeof greatestCardinality
  readonly listOf: typeof listOf
  readonly mapOf: typeof mapOf
  readonly requestCostBudget: typeof requestCostBudget
  readonly requestResourceValue: typeof requestResourceValue
  readonly requestWork: typeof requestWork
  readonly ruleTree: typeof ruleTree
  readonly schemaAdapter: typeof schemaAdapter
  readonly stringType: typeof stringType
  readonly structOf: typeof structOf
  readonly toJson: typeof toJson
  readonly variableType: typeof variableType
}

export const celEngine: CelEngine = {
  ComputedMap,
  Environment,
  Fault,
  PlanError,
  admissionScope,
  authorizerValue,
  checkRules,
  compileBudget,
  compileExpression,
  compileRule,
  declaredBy,
  dynType,
  fromJson,
  greatestCardinality,
  listOf,
  mapOf,
  requestCostBudget,
  requestResourceValue,
  requestWork,
  ruleTree,
  schemaAdapter,
  stringType,
  structOf,
  toJson,
  variableType,
}
