import { cleanUpTime } from '@krmkit/certificates'
import type { DeepReadonly } from '@krmkit/meta'
import { type SigningRequest, signingRequests } from '../csr-signing/signing-requests.ts'
import { ignoreReasons } from '../framework/api-errors.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller } from '../interfaces.ts'

/** The longest time that timers know, a little less than 25 days. */
const longestMs = 2 ** 31 - 1
/** Whoever writes a request gets so long to read it, whatever times it names. */
const graceMs = 5 * 60_000

/**
 * Deletes requests for certificates that have served their purpose, at the moment when they have: an hour after they were
 * decided about, a day after they were made when nobody does, and when their certificate ends. Never within five minutes of a
 * change.
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
        const time = request && cleanUpTime(request)
        if (request === undefined || time === undefined) return undefined
        const leftMs = Math.max(time, (changedAt.get(name) ?? 0) + graceMs) - clock.now()
        if (leftMs > 0) return { requeueAfterMs: Math.min(leftMs, longestMs) }
        const { uid, resourceVersion } = request.metadata
        // Of the version that was looked at: somebody may be deciding just now.
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
