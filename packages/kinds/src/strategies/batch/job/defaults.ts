/** Defaults that jobs share with the templates of cron jobs. */
import type { JobSpec } from '../../../types/batch-v1.generated.ts'

/** Conditions of a failure policy are about those that hold, unless they say otherwise. */
export function defaultFailurePatterns(spec: JobSpec): void {
  for (const rule of spec.podFailurePolicy?.rules ?? []) {
    for (const pattern of rule.onPodConditions ?? []) pattern.status ||= 'True'
  }
}
