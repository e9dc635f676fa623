import { cel, loadCel } from '@krmkit/schema'
import type { AdmissionEnvironmentOptions, CompileBudget, Environment, Type } from '@krmkit/schema/cel'
import type { StrategyContext } from '../../interfaces.ts'
import type { FieldPath } from '../shared/field-path.ts'

/** Whether expressions of webhooks and policies compile. */

export { loadCel }

/** @param stored expressions of the stored object. */
export function expressionChecks(stored: ReadonlySet<string>, context: StrategyContext): ExpressionChecks {
  let budget: CompileBudget | undefined
  return {
    stored,
    context,
    // Objects without expressions do not load the engine.
    get budget() {
      budget ??= cel().engine.createCompileBudget()
      return budget
    },
  }
}

export interface ExpressionChecks {
  /** Expressions of the stored object: they may use all that was known when they were stored. */
  readonly stored: ReadonlySet<string>
  readonly context: StrategyContext
  /** What all expressions of the object may consist of. */
  readonly budget: CompileBudget
}

/** @param kinds of types that the expression may come to; absent: any. */
export function checkExpression(
  text: string,
  at: FieldPath,
  options: {
    readonly scope: AdmissionEnvironmentOptions
    readonly checks: ExpressionChecks
    readonly kinds?: readonly Type['kind'][]
  },
): Type | undefined {
  const { scope, checks, kinds } = options
  const { engine } = cel()
  const compiled = engine.compileExpression(engine.admissionEnvironment(environmentFor(text, checks), scope), text, {
    kinds,
    budget: checks.budget,
  })
  if (!('problem' in compiled)) return compiled.type
  if (compiled.internal) at.internal(compiled.problem)
  else at.invalid(text, compiled.problem)
  return compiled.type
}

function environmentFor(text: string, { stored, context }: ExpressionChecks): Environment {
  const known = cel()
  return stored.has(text) ? known.storedExpressions : known.newExpressions(context.features)
}

/** How expressions after a variable see it. */
export function seenType(type: Type | undefined): Type {
  return type === undefined ? { kind: 'dyn' } : cel().engine.variableType(type)
}
