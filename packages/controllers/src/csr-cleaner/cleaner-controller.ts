import { cleanupTime } from '@krmkit/certificates'
import type { DeepReadonly } from '@krmkit/meta'
import { type SigningRequest, signingRequests } from '../csr-signing/signing-requests.ts'
import { ignoreReasons } from '../framework/api-errors.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller } from '../interfaces.ts'

/** Maximum delay of a timer, a little less than 25 days. */
const maxTimerMs = 2 ** 31 - 1
/** Minimum lifetime after a change, so that clients can read the request. */
const graceMs = 5 * 60_000

/**
 * Deletes certificate signing requests that are no longer needed: an hour after they were approved, denied or failed, a day after
 * their creation when still pending, and when their certificate expires; never within five minutes of a change.
 *
 * @see API protocol specification, 3 and 8
 */
export const requestCleaner: Controller = {
  name: 'certificatesigningrequest-cleaner-controller',
  start({ client, clock, informers, profile, queue, signal }) {
    const requests = signingRequests(profile)
    const known = informers.of(requests)
    const changedAt = new Map<string, number>()
    const work = queue<string>({
      async sync(name) {
        const request = known.get(name)
        const time = request && cleanupTime(request)
        if (request === undefined || time === undefined) return undefined
        const leftMs = Math.max(time, (changedAt.get(name) ?? 0) + graceMs) - clock.now()
        if (leftMs > 0) return { requeueAfterMs: Math.min(leftMs, maxTimerMs) }
        const { uid, resourceVersion } = request.metadata
        // The resourceVersion precondition protects a request that is approved or denied concurrently.
        const preconditions = {
          ...(uid === undefined ? {} : { uid }),
          ...(resourceVersion === undefined ? {} : { resourceVersion }),
        }
        await ignoreReasons(client.delete(requests, name, { preconditions, signal }), ['NotFound', 'Conflict'])
        return undefined
      },
    })
    const enqueue = ({ metadata: { name = '' } }: DeepReadonly<SigningRequest>) => {
      changedAt.set(name, clock.now())
      work.add(name)
    }
    const forget = ({ metadata: { name = '' } }: DeepReadonly<SigningRequest>) => changedAt.delete(name)
    const unsubscribe = known.on({ added: enqueue, updated: enqueue, deleted: forget })
    return disposeSubscriptions([unsubscribe])
  },
}
