import { expressions, loadExpressions } from '@krmkit/schema'
import type { AdmissionScope, Environment, Type } from '@krmkit/schema/cel'
import type { PolicyContext } from '../../interfaces.ts'
import type { Place } from '../shared/place.ts'

/** Whether expressions of webhooks and policies compile. */

export { loadExpressions }

export interface ExpressionChecks {
  /** Expressions of the stored object: they may use all that was known when they were stored. */
  readonly stored: ReadonlySet<string>
  readonly context: PolicyContext
}

/** @param kinds of types that the expression may come to; absent: any. */
export function checkExpression(
  text: string,
  at: Place,
  options: { readonly scope: AdmissionScope; readonly checks: ExpressionChecks; readonly kinds?: readonly Type['kind'][] },
): Type | undefined {
  const { scope, checks, kinds } = options
  const { engine } = expressions()
  const compiled = engine.compileExpression(engine.admissionScope(environmentFor(text, checks), scope), text, kinds)
  if (!('problem' in compiled)) return compiled.type
  if (compiled.internal) at.internal(compiled.problem)
  else at.invalid(text, compiled.problem)
  return compiled.type
}

function environmentFor(text: string, { stored, context }: ExpressionChecks): Environment {
  const known = expressions()
  return stored.has(text) ? known.stored : known.fresh(context.features)
}

/** How expressions after a variable see it. */
export function seenType(type: Type | undefined): Type {
  return type === undefined ? { kind: 'dyn' } : expressions().engine.variableType(type)
}
