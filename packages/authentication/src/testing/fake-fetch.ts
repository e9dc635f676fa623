import type { Fetch, FetchInit, FetchResponse } from '@krmkit/base/fetch'
import type { Clock } from '@krmkit/meta'

/** A fault of a fake service. */
export type ServiceFault =
  /** The connection is refused. */
  | 'dead'
  /** The connection is reset. */
  | 'reset'
  /** The response is delayed, in milliseconds. */
  | { readonly slowMs: number }
  /** A fixed response. */
  | { readonly status: number; readonly text?: string; readonly retryAfter?: string }

/** Faults of a fake service: each request consumes the first of `next`; `always` applies once `next` is empty. */
export interface ServiceFaults {
  readonly next: ServiceFault[]
  always: ServiceFault | undefined
}

/** Returns the response body: text, or a value to encode as JSON; undefined is 404. */
type Respond = (url: string, init: FetchInit) => unknown

/** Creates a fetch that is answered in this process. */
export function createFakeFetch(
  handle: Respond,
  { clock, faults }: { readonly clock: Clock; readonly faults: ServiceFaults },
): Fetch {
  return async (url, init) => {
    const fault = faults.next.shift() ?? faults.always
    if (fault === 'dead' || fault === 'reset') throw brokenConnection(fault)
    if (typeof fault === 'object' && 'slowMs' in fault) await delay(fault.slowMs, { clock, signal: init.signal })
    else if (fault !== undefined)
      return respond(fault.status, fault.text ?? '', fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter })
    const value = handle(url, init)
    return value === undefined
      ? respond(404, 'not found')
      : respond(200, typeof value === 'string' ? value : JSON.stringify(value))
  }
}

function respond(status: number, text: string, headers: Readonly<Record<string, string>> = {}): FetchResponse {
  return {
    status,
    headers: { get: (name) => headers[name.toLowerCase()] ?? null },
    body: (async function* () {
      yield new TextEncoder().encode(text)
    })(),
  }
}

function brokenConnection(fault: 'dead' | 'reset'): Error {
  const code = fault === 'dead' ? 'ECONNREFUSED' : 'ECONNRESET'
  return Object.assign(new Error(`fetch failed: ${code}`), { code })
}

function delay(ms: number, { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal }): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.setTimeout(resolve, ms)
    signal.addEventListener(
      'abort',
      () => {
        cancel()
        reject(signal.reason as Error)
      },
      { once: true },
    )
  })
}
