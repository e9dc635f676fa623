import type { FailFault } from './fault-status.ts'
import type { WatchFault } from './watch-fault.ts'

/**
 * A fault of a request.
 *
 * - `fail`: responds with this status; with `afterWrite` after the server has processed the request.
 * - `delayMs`: delays the request, on the clock of the test.
 * - `lose`: processes the request but loses the response.
 * - `unreachable`: drops the request.
 * - `compact`: drops the history of the store before the request, so that continue tokens and old versions have expired.
 * - `stale`: answers a read from the state at an earlier fault of this kind, or else from the current state, which is kept
 *   for the next fault.
 * - `watch`: what happens to the stream of a watch.
 */
export type Fault =
  | FailFault
  | { readonly delayMs: number }
  | { readonly lose: true }
  | { readonly unreachable: true }
  | { readonly compact: true }
  | { readonly stale: true }
  | { readonly watch: WatchFault }
