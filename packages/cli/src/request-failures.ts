import type { Clock } from '@krmkit/meta'
import { StorageError } from '@krmkit/storage'
import type { Log } from './log.ts'

const intervalMs = 60_000

interface UnavailableRun {
  /** Failures since the last line. */
  count: number
  message: string
}

/**
 * Logs why requests failed inside the server. While the storage accepts no writes or cannot be reached, every request fails alike: then the
 * first failure is logged, and once a minute how many followed.
 */
export function logRequestFailures(log: Log, clock: Pick<Clock, 'setTimeout'>): (error: unknown) => void {
  /** By reason. */
  const runs = new Map<string, UnavailableRun>()
  const check = (reason: string, run: UnavailableRun): void => {
    if (run.count === 0) {
      runs.delete(reason)
      return
    }
    log.error(`${run.count} more requests failed; the last one: ${run.message}`)
    run.count = 0
    clock.setTimeout(() => check(reason, run), intervalMs)
  }
  return (error) => {
    if (!(error instanceof StorageError) || error.detail.code !== 'Unavailable') {
      log.error('a request failed', error)
      return
    }
    const { reason } = error.detail
    const run = runs.get(reason)
    if (run === undefined) {
      const started = { count: 0, message: error.message }
      runs.set(reason, started)
      log.error(`a request failed: ${error.message}`)
      clock.setTimeout(() => check(reason, started), intervalMs)
    } else {
      run.count++
      run.message = error.message
    }
  }
}
