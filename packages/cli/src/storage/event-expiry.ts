import { setImmediate } from 'node:timers/promises'
import type { Clock } from '@krmkit/meta'
import { revisionForm } from '@krmkit/registry/stored-form'
import type { Revision, Storage } from '@krmkit/storage'
import type { Log } from '../log.ts'

const prefix = '/core/events/'
/** Events are removed this many times within their lifetime. */
const runsPerLifetime = 60
const pageSize = 500

export interface EventExpiryOptions {
  readonly lifetimeMs: number
  readonly clock: Clock
  readonly log: Log
}

/**
 * Removes events that were not written for their lifetime, as leases do in etcd. Time is counted in runs of a timer, so that a clock that is
 * set to another time removes none early or late; it begins anew with the process.
 */
export function expireEvents(storage: Storage, { lifetimeMs, clock, log }: EventExpiryOptions): Disposable {
  /** The newest revision at each of the last runs, oldest first. */
  const revisions: Revision[] = []
  let isDisposed = false
  let cancel: () => void = () => undefined
  const run = async () => {
    revisions.push(storage.revision)
    const due = revisions.length > runsPerLifetime ? revisions.shift() : undefined
    try {
      if (due !== undefined) await removeEvents(storage, due, () => isDisposed)
    } catch (error) {
      if (!isDisposed) log.error('events past their lifetime could not be removed', error)
    }
    if (!isDisposed) cancel = clock.setTimeout(() => void run(), lifetimeMs / runsPerLifetime)
  }
  void run()
  return {
    [Symbol.dispose]() {
      isDisposed = true
      cancel()
    },
  }
}

/** Removes the events whose last write is not after a revision. */
async function removeEvents(storage: Storage, due: Revision, isStopped: () => boolean): Promise<void> {
  for (let after: string | undefined; !isStopped(); await setImmediate()) {
    const { entries, remaining } = await storage.list({ prefix, limit: pageSize, ...(after === undefined ? {} : { after }) })
    const removals = entries
      .filter(({ revision }) => revision <= due)
      .map(({ key, revision: expect, value }) =>
        storage.delete(key, (revision) => revisionForm.atRevision(key, value, revision), { expect }),
      )
    await Promise.all(removals)
    after = entries.at(-1)?.key
    if (remaining === 0 || after === undefined) return
  }
}
