import type { AdmissionVariableOptions, CompileBudget, Environment } from '@krmkit/cel'
import type { Type } from '@krmkit/cel/types'
import { cel, loadCel } from '@krmkit/schema'
import type { StrategyContext } from '../../interfaces.ts'
import type { FieldPath } from '../shared/field-path.ts'

/** Compilation of the expressions of webhooks and policies. */

export { loadCel }

/** @param stored expressions of the stored object. */
export function expressionContext(stored: ReadonlySet<string>, context: StrategyContext): ExpressionContext {
  let budget: CompileBudget | undefined
  return {
    stored,
    context,
    // Lazy: objects without expressions do not load the engine.
    get budget() {
      budget ??= cel().engine.createCompileBudget()
      return budget
    },
  }
}

export interface ExpressionContext {
  /** Expressions of the stored object; they may use everything that was available when they were stored. */
  readonly stored: ReadonlySet<string>
  readonly context: StrategyContext
  /** Compile budget shared by all expressions of the object. */
  readonly budget: CompileBudget
}

/**
 * @param kinds of types that the expression may return; absent: any.
 * @returns the type of the result; `undefined` for an expression with an error, even if its types are correct.
 */
export function validateExpression(
  text: string,
  at: FieldPath,
  options: {
    readonly scope: AdmissionVariableOptions
    readonly checks: ExpressionContext
    readonly kinds?: readonly Type['kind'][]
    /** Result type of a mutation, whose expression may create objects. */
    readonly mutation?: Type
  },
): Type | undefined {
  const { scope, checks, kinds, mutation } = options
  const { engine } = cel()
  const plain = engine.admissionEnvironment(environmentFor(text, checks), scope)
  const environment = mutation === undefined ? plain : engine.mutationEnvironment(plain)
  const compiled = engine.compileExpression(environment, text, {
    kinds,
    result: mutation,
    budget: checks.budget,
  })
  if (!('problem' in compiled)) return compiled.type
  if (compiled.internal) at.internal(compiled.problem)
  else at.invalid(text, compiled.problem)
  return undefined
}

function environmentFor(text: string, { stored, context }: ExpressionContext): Environment {
  const known = cel()
  return stored.has(text) ? known.storedExpressions : known.newExpressions(context.features)
}

/** Type of a variable for the expressions after it: dynamic where its own expression has an error. */
export function variableType(type: Type | undefined): Type {
  return type === undefined ? { kind: 'dyn' } : cel().engine.variableType(type)
}
