import { parseTime } from '@krmkit/meta'
import { ignoreNotFound, ignoreReasons } from '../framework/api-errors.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller } from '../interfaces.ts'
import { jobs, type ReadonlyJob, terminalCondition } from '../job/objects.ts'
import { queueKey, splitKey } from '../workloads/objects.ts'

/** Deletes jobs, with their pods, when their `ttlSecondsAfterFinished` has passed. */
export const ttlAfterFinishedController: Controller = {
  name: 'ttl-after-finished-controller',
  isDefault: false,
  start({ client, clock, informers, queue, rateLimit, signal }) {
    const known = informers.of(jobs)
    const work = queue<string>({
      async sync(key) {
        const { namespace, name } = splitKey(key)
        const job = known.get(name, namespace)
        const expiresAt = job === undefined ? undefined : expiryMs(job)
        if (expiresAt === undefined) return undefined
        if (expiresAt > clock.now()) return { requeueAfterMs: expiresAt - clock.now() }
        // Rereads the job, because the informer may not have delivered a change of the TTL yet.
        const live = await ignoreNotFound(client.get(jobs, name, { namespace, signal }))
        const liveExpiry = live === undefined ? undefined : expiryMs(live as ReadonlyJob)
        if (live === undefined || liveExpiry === undefined || liveExpiry > clock.now()) return undefined
        const preconditions = { uid: live.metadata.uid ?? '' }
        const request = client.delete(jobs, name, { namespace, propagationPolicy: 'Foreground', preconditions, signal })
        await ignoreReasons(request, ['NotFound', 'Conflict'])
        return undefined
      },
      rateLimit,
    })
    const enqueue = (job: ReadonlyJob) => {
      if (expiryMs(job) !== undefined) work.add(queueKey(job))
    }
    return disposeSubscriptions([known.on({ added: enqueue, updated: enqueue })])
  },
}

/** Returns when an ended job expires, in milliseconds since the epoch; undefined when it does not expire. */
function expiryMs(job: ReadonlyJob): number | undefined {
  const ttlSeconds = job.spec?.ttlSecondsAfterFinished
  const endedAt = terminalCondition(job)?.lastTransitionTime
  if (ttlSeconds == null || endedAt == null || job.metadata.deletionTimestamp !== undefined) return undefined
  return parseTime(endedAt) + ttlSeconds * 1000
}
