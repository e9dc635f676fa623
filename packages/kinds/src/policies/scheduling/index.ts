import type { KindPolicy } from '../../interfaces.ts'
import { priorityClassPolicy } from './priority-class.ts'

/** Policies of the group, by `group/Kind`. */
export const schedulingPolicies: Readonly<Record<string, KindPolicy>> = {
  'scheduling.k8s.io/PriorityClass': priorityClassPolicy,
}
