import {
  admissionEnvironment,
  applyConfigurationType,
  authorizerValue,
  compileDeviceSelector,
  compileExpression,
  createCompileBudget,
  createWorkBudget,
  deviceEnvironment,
  Environment,
  jsonPatchOperations,
  jsonPatchOperationType,
  mutationEnvironment,
  mutationTypeErrors,
  PausedEvaluation,
  PlanError,
  requestResourceValue,
  variableType,
} from '@krmkit/cel'
import { dynType, listOf, mapOf, stringType, structOf } from '@krmkit/cel/types'
import { ComputedMap, ErrorValue, fromJson, toJson } from '@krmkit/cel/values'
import { schemaDeclType } from './decl-type.ts'
import { compileRule } from './rule-compiler.ts'
import { maxCardinality } from './rule-environment.ts'
import { createRuleTree } from './rule-tree.ts'
import { schemaAdapter } from './schema-values.ts'
import { validateRules } from './validate-rules.direct.ts'
import * as paced from './validate-rules.ts'
import { requestCostBudget } from './validate-rules.ts'

/** The functions, classes and constants of the engine that `loadCel` provides: those of `@krmkit/cel`. */
export interface CelEngine {
  readonly ComputedMap: typeof ComputedMap
  readonly Environment: typeof Environment
  readonly ErrorValue: typeof ErrorValue
  readonly PausedEvaluation: typeof PausedEvaluation
  readonly PlanError: typeof PlanError
  readonly admissionEnvironment: typeof admissionEnvironment
  readonly authorizerValue: typeof authorizerValue
  readonly validateRules: typeof validateRules
  readonly createCompileBudget: typeof createCompileBudget
  readonly compileDeviceSelector: typeof compileDeviceSelector
  readonly compileExpression: typeof compileExpression
  readonly compileRule: typeof compileRule
  readonly schemaDeclType: typeof schemaDeclType
  readonly deviceEnvironment: typeof deviceEnvironment
  readonly dynType: typeof dynType
  readonly fromJson: typeof fromJson
  readonly jsonPatchOperations: typeof jsonPatchOperations
  readonly jsonPatchOperationType: typeof jsonPatchOperationType
  readonly applyConfigurationType: typeof applyConfigurationType
  readonly mutationEnvironment: typeof mutationEnvironment
  readonly mutationTypeErrors: typeof mutationTypeErrors
  readonly maxCardinality: typeof maxCardinality
  readonly listOf: typeof listOf
  readonly mapOf: typeof mapOf
  readonly requestCostBudget: typeof requestCostBudget
  readonly requestResourceValue: typeof requestResourceValue
  readonly createWorkBudget: typeof createWorkBudget
  readonly createRuleTree: typeof createRuleTree
  readonly schemaAdapter: typeof schemaAdapter
  readonly stringType: typeof stringType
  readonly structOf: typeof structOf
  readonly toJson: typeof toJson
  readonly variableType: typeof variableType
  /** Pausable forms, for many or expensive rules. */
  readonly paced: { readonly validateRules: typeof paced.validateRules }
}

export const celEngine: CelEngine = {
  ComputedMap,
  Environment,
  ErrorValue,
  PausedEvaluation,
  PlanError,
  admissionEnvironment,
  authorizerValue,
  validateRules,
  createCompileBudget,
  compileDeviceSelector,
  compileExpression,
  compileRule,
  schemaDeclType,
  deviceEnvironment,
  dynType,
  fromJson,
  jsonPatchOperations,
  jsonPatchOperationType,
  applyConfigurationType,
  mutationEnvironment,
  mutationTypeErrors,
  maxCardinality,
  listOf,
  mapOf,
  requestCostBudget,
  requestResourceValue,
  createWorkBudget,
  createRuleTree,
  schemaAdapter,
  stringType,
  structOf,
  toJson,
  variableType,
  paced: { validateRules: paced.validateRules },
}
