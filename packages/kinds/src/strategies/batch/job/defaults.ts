import type { JobSpec } from '../../../types/batch-v1.generated.ts'

/** Default of `status` in the pod conditions of a failure policy: `True`. Templates of cron jobs do not have it. */
export function defaultFailurePatterns(spec: JobSpec): void {
  for (const rule of spec.podFailurePolicy?.rules ?? []) {
    for (const pattern of rule.onPodConditions ?? []) pattern.status ||= 'True'
  }
}
