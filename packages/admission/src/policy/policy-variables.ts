import type { PausedEvaluation, WorkBudget } from '@krmkit/cel'
import type { Value } from '@krmkit/cel/values'
import { cel } from '@krmkit/schema'
import type { Variables } from './activation.ts'
import type { ExpressionProgram, VariableCost } from './evaluate-expression.ts'

const free: VariableCost = { spent: () => 0 }

/** The variables of a policy, each evaluated on first use and cached. */
export function policyVariables(
  sources: ReadonlyMap<string, ExpressionProgram>,
  outer: Variables,
  work: WorkBudget,
): { readonly variables: Variables; readonly spending: VariableCost } {
  if (sources.size === 0) return { variables: outer, spending: free }
  const { engine } = cel()
  const values = new Map<string, Value>()
  const paused = new Map<string, PausedEvaluation>()
  let cost = 0
  const variables: Record<string, Value | undefined> = { ...outer }
  const evaluateOnce = (name: string): Value | undefined => {
    const cached = values.get(name)
    if (cached !== undefined) return cached
    const source = sources.get(name)
    if (source === undefined) return undefined
    const { compiled } = source
    if ('problem' in compiled) return new engine.ErrorValue(`composited variable "${name}" fails to compile: ${compiled.problem}`)
    const result = paused.get(name)?.resume() ?? compiled.program.start(variables, { work })
    if (result instanceof engine.PausedEvaluation) {
      // The expression that uses the variable pauses with it, and looks for it again.
      paused.set(name, result)
      throw result.pause
    }
    cost += result.cost
    const value =
      result.value instanceof engine.ErrorValue
        ? new engine.ErrorValue(`composited variable "${name}" fails to evaluate: ${result.value.message}`)
        : result.value
    values.set(name, value)
    return value
  }
  variables.variables = new engine.ComputedMap('kubernetes.variables', [...sources.keys()], evaluateOnce)
  return {
    variables,
    spending: {
      spent() {
        const since = cost
        cost = 0
        return since
      },
    },
  }
}
