import { cel } from '@krmkit/schema'
import type { Value, WorkBudget } from '@krmkit/schema/cel'
import type { Variables } from './activation.ts'
import type { Source, Spending } from './evaluate.ts'

const free: Spending = { spent: () => 0 }

/** The variables of a policy: each evaluated when it is first used, and kept. */
export function policyVariables(
  sources: ReadonlyMap<string, Source>,
  outer: Variables,
  work: WorkBudget,
): { readonly variables: Variables; readonly spending: Spending } {
  if (sources.size === 0) return { variables: outer, spending: free }
  const { engine } = cel()
  const known = new Map<string, Value>()
  let cost = 0
  const variables: Record<string, Value | undefined> = { ...outer }
  const evaluated = (name: string): Value | undefined => {
    const found = known.get(name)
    if (found !== undefined) return found
    const source = sources.get(name)
    if (source === undefined) return undefined
    const { compiled } = source
    if ('problem' in compiled) return new engine.ErrorValue(`composited variable "${name}" fails to compile: ${compiled.problem}`)
    const result = compiled.program.evaluate(variables, { work })
    cost += result.cost
    const value =
      result.value instanceof engine.ErrorValue
        ? new engine.ErrorValue(`composited variable "${name}" fails to evaluate: ${result.value.message}`)
        : result.value
    known.set(name, value)
    return value
  }
  variables.variables = new engine.ComputedMap('kubernetes.variables', [...sources.keys()], evaluated)
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
