import type { Scenario } from '../scenario.ts'
import { autoscalers } from './autoscalers.ts'
import { cleanup } from './cleanup.ts'
import { cronJobs } from './cron-jobs.ts'
import { daemonSets } from './daemon-sets.ts'
import { deployments } from './deployments.ts'
import { disruptionBudgets } from './disruption-budgets.ts'
import { jobs } from './jobs.ts'
import { replicaSets } from './replica-sets.ts'
import { services } from './services.ts'
import { statefulSets } from './stateful-sets.ts'
import { volumes } from './volumes.ts'

export const scenarios: readonly Scenario[] = [
  ...cronJobs,
  ...autoscalers,
  ...deployments,
  ...replicaSets,
  ...statefulSets,
  ...daemonSets,
  ...jobs,
  ...disruptionBudgets,
  ...services,
  ...volumes,
  ...cleanup,
]
