import type { Clock } from '@krmkit/meta'
import type { RemoteSpace, Storage } from '@krmkit/storage'
import type { Log } from '../log.ts'
import { megabytes } from './megabytes.ts'

const intervalMs = 10_000
/** Part of the quota that is nearly all of it. */
const fractionOfQuota = 0.8

interface RemoteSpaceWatchOptions {
  readonly log: Log
  readonly clock: Clock
}

/** Logs problems that etcd reports, and when its data come near its quota: once when they begin, and once when they are over. */
export function watchRemoteSpace(storage: Pick<Storage, 'stats'>, { log, clock }: RemoteSpaceWatchOptions): Disposable {
  let isNear = false
  let problems: readonly string[] = []
  let cancel: () => void = () => undefined
  const checkQuota = ({ fileBytes, usedBytes, quotaBytes }: RemoteSpace) => {
    if (quotaBytes === undefined) return
    const wasNear = isNear
    isNear = fileBytes >= quotaBytes * fractionOfQuota
    const size = `etcd has ${megabytes(fileBytes)} of its quota of ${megabytes(quotaBytes)}, ${megabytes(usedBytes)} in use`
    if (isNear && !wasNear) log.error(`${size}: when it is exhausted, writes are refused; raise it, or compact and defragment`)
    if (wasNear && !isNear) log.info(size)
  }
  const checkProblems = (reported: readonly string[]) => {
    for (const problem of reported) if (!problems.includes(problem)) log.error(`etcd reports a problem: ${problem}`)
    for (const problem of problems) if (!reported.includes(problem)) log.info(`etcd no longer reports: ${problem}`)
    problems = reported
  }
  const check = () => {
    const space = storage.stats?.().remote?.space
    if (space !== undefined) {
      checkQuota(space)
      checkProblems(space.problems)
    }
    cancel = clock.setTimeout(check, intervalMs)
  }
  check()
  return { [Symbol.dispose]: () => cancel() }
}
