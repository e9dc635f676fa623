import { expressions } from '@krmkit/schema'
import type { MapValue, Value, WorkBudget } from '@krmkit/schema/cel'
import type { Source, Spending } from './evaluate.ts'
import type { Variables } from './subject.ts'

/** The variables of a policy: each evaluated when it is first used, and kept. */
export function policyVariables(
  sources: ReadonlyMap<string, Source>,
  outer: Variables,
  work: WorkBudget,
): { readonly variables: Variables; readonly spending: Spending } {
  const { engine } = expressions()
  const known = new Map<string, Value>()
  let cost = 0
  const variables: Record<string, Value | undefined> = { ...outer }
  const evaluated = (name: string): Value | undefined => {
    const found = known.get(name)
    if (found !== undefined) return found
    const source = sources.get(name)
    if (source === undefined) return undefined
    const { compiled } = source
    if ('problem' in compiled) return new engine.Fault(`composited variable "${name}" fails to compile: ${compiled.problem}`)
    const result = compiled.program.evaluate(variables, { work })
    cost += result.cost
    const value =
      result.value instanceof engine.Fault
        ? new engine.Fault(`composited variable "${name}" fails to evaluate: ${result.value.message}`)
        : result.value
    known.set(name, value)
    return value
  }
  const names = [...sources.keys()]
  class Lazy extends engine.MapValue {
    override readonly structName = 'kubernetes.variables'
    readonly size = names.length
    get(key: Value): Value | undefined {
      return typeof key === 'string' ? evaluated(key) : undefined
    }
    field(name: string): Value | undefined {
      return evaluated(name)
    }
    keys(): Iterable<Value> {
      return names
    }
  }
  variables.variables = new Lazy() satisfies MapValue
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
