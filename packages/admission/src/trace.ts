import type { ApiObject } from '@krmkit/meta'
import { changesBetween } from './changes.ts'
import type { AdmissionContext, AdmissionDecision, AdmissionPlugin, DecisionSink } from './interfaces.ts'

interface TracedStep {
  readonly object: ApiObject | undefined
  readonly context: AdmissionContext
  readonly sink: DecisionSink
}

/** Runs one step of one plugin and sends its decision to the sink. Only called when a sink is set. */
export async function traced(
  { name }: AdmissionPlugin,
  phase: AdmissionDecision['phase'],
  { object, context, sink }: TracedStep,
  run: (context: AdmissionContext) => ApiObject | undefined | Promise<ApiObject | undefined>,
): Promise<ApiObject | undefined> {
  const reasons: string[] = []
  const warnings: string[] = []
  const annotations = new Map<string, string>()
  const recording: AdmissionContext = {
    ...context,
    explain: (reason) => void reasons.push(reason),
    warn(text) {
      warnings.push(text)
      context.warn(text)
    },
    annotate(key, value, level) {
      annotations.set(key, value)
      context.annotate?.(key, value, level)
    },
  }
  const record = (decision: Pick<AdmissionDecision, 'outcome' | 'changes' | 'message'>) =>
    sink({ plugin: name, phase, reasons, warnings, annotations: Object.fromEntries(annotations), ...decision })
  try {
    const after = await run(recording)
    const changes = object === undefined || after === undefined ? [] : changesBetween(object, after)
    if (changes.length > 0) record({ outcome: 'changed', changes })
    else if (reasons.length + warnings.length + annotations.size > 0) record({ outcome: 'allowed', changes })
    return after
  } catch (error) {
    record({ outcome: 'refused', changes: [], message: error instanceof Error ? error.message : String(error) })
    throw error
  }
}
