import type { KindPolicy } from '../../interfaces.ts'
import { cronJobPolicy } from './cron-job.ts'
import { jobPolicy } from './job.ts'

/** Policies of the group, by `group/Kind`. */
export const batchPolicies: Readonly<Record<string, KindPolicy>> = {
  'batch/CronJob': cronJobPolicy,
  'batch/Job': jobPolicy,
}
