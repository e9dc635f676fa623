import type { Strategy } from '../../interfaces.ts'
import { cronJobStrategy } from './cron-job.ts'
import { jobStrategy } from './job.ts'

/** Policies of the group, by `group/Kind`. */
export const batchStrategies: Readonly<Record<string, Strategy>> = {
  'batch/CronJob': cronJobStrategy,
  'batch/Job': jobStrategy,
}
