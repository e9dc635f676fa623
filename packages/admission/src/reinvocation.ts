import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { AdmissionContext } from './interfaces.ts'

/** The state of a plugin with several webhooks or policies between the two rounds of a request. */
export interface ReinvocationState {
  /** The object after the last call of the first round. */
  lastOutput: DeepReadonly<ApiObject> | undefined
  /** Reinvocable webhooks or policies that have run since the last change. */
  readonly invoked: Set<string>
  /** Those that must run again. */
  readonly reinvoke: Set<string>
}

/** The state of a plugin for the current request. */
export function reinvocationState({ reinvocation }: AdmissionContext, pluginName: string): ReinvocationState {
  const existing = reinvocation?.values.get(pluginName) as ReinvocationState | undefined
  if (existing !== undefined) return existing
  const state: ReinvocationState = { lastOutput: undefined, invoked: new Set(), reinvoke: new Set() }
  reinvocation?.values.set(pluginName, state)
  return state
}

/** After a change, all reinvocable webhooks or policies that ran before it run again. */
export function scheduleReinvocation({ invoked, reinvoke }: ReinvocationState): void {
  for (const key of invoked) reinvoke.add(key)
  invoked.clear()
}
