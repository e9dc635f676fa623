import type { Strategy } from '../../interfaces.ts'
import { priorityClassStrategy } from './priority-class.ts'

/** Policies of the group, by `group/Kind`. */
export const schedulingStrategies: Readonly<Record<string, Strategy>> = {
  'scheduling.k8s.io/PriorityClass': priorityClassStrategy,
}
