export { type AdmissionVariableOptions, admissionEnvironment, variableType } from './admission-environment.ts'
export type { Estimate } from './cost/estimate.ts'
export { type CompiledSelector, compileDeviceSelector, deviceEnvironment } from './device-selectors.ts'
export { type CheckedExpression, type CompileFailure, Environment } from './environment.ts'
export { type CompiledExpression, compileExpression, type ExpressionOptions, type ExpressionProblem } from './expression.ts'
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
export {
  applyConfigurationType,
  jsonPatchOperations,
  jsonPatchOperationType,
  mutationEnvironment,
  mutationTypeErrors,
} from './mutation-types.ts'
export {
  type Evaluation,
  type EvaluationOptions,
  longEvaluation,
  PausedEvaluation,
  type Program,
  perCallLimit,
} from './plan/program.ts'
export { PlanError } from './plan/step.ts'
export { type CompileBudget, createCompileBudget } from './syntax/compile-budget.ts'
export { escapeName } from './syntax/escape.ts'
export { createWorkBudget, type WorkBudget } from './values/meter.ts'
export type { Pause } from './values/pauses.ts'
