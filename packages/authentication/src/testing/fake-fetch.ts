import type { Clock } from '@krmkit/meta'
import type { Fetch, FetchedResponse, FetchInit } from '../fetch.ts'

/** What a service of the identity lab does wrong. */
export type ServiceFault =
  /** Nobody answers: the connection is refused. */
  | 'dead'
  /** The connection breaks. */
  | 'reset'
  /** The answer comes after so many milliseconds. */
  | { readonly slowMs: number }
  /** Another answer. */
  | { readonly status: number; readonly text?: string; readonly retryAfter?: string }

/** Faults of a service: the first of `next` is used up by a request; `always` holds for the others. */
export interface ServiceFaults {
  readonly next: ServiceFault[]
  always: ServiceFault | undefined
}

type Answer = (url: string, init: FetchInit) => unknown

/** A fetch that is answered in this process; an answer of undefined is 404. */
export function createFakeFetch(
  answer: Answer,
  { clock, faults }: { readonly clock: Clock; readonly faults: ServiceFaults },
): Fetch {
  return async (url, init) => {
    const fault = faults.next.shift() ?? faults.always
    if (fault === 'dead' || fault === 'reset') throw brokenConnection(fault)
    if (typeof fault === 'object' && 'slowMs' in fault) await delay(fault.slowMs, { clock, signal: init.signal })
    else if (fault !== undefined)
      return respond(fault.status, fault.text ?? '', fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter })
    const value = answer(url, init)
    return value === undefined
      ? respond(404, 'nothing here')
      : respond(200, typeof value === 'string' ? value : JSON.stringify(value))
  }
}

function respond(status: number, text: string, headers: Readonly<Record<string, string>> = {}): FetchedResponse {
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
