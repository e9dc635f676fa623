import type { Clock, NamingProfile, Random } from '@krmkit/meta'
import { stringifyJson } from '@krmkit/schema'
import { AuditError } from './audit-error.ts'
import type { AuditBackend, AuditEvent } from './interfaces.ts'

/** Posts JSON to the audit service. Resolves with the HTTP status of the response; rejects when none arrives. */
export type PostAuditEvents = (body: string) => Promise<number>

export interface AuditWebhookOptions {
  readonly post: PostAuditEvents
  readonly clock: Clock
  readonly random: Random
  readonly profile: NamingProfile
  /** Milliseconds before the first retry. Default 10 000. */
  readonly initialBackoffMs?: number
}

const maxAttempts = 5
const factor = 1.5
const jitter = 0.2

/**
 * Posts events as an `EventList`. Retries with exponential backoff, five attempts in all.
 *
 * @example
 * ```ts
 * import { auditWebhook } from '@krmkit/apiserver/audit'
 * import { stockProfile, systemClock, systemRandom } from '@krmkit/meta'
 *
 * const headers = { 'content-type': 'application/json' }
 * const post = async (body: string) => (await fetch('https://audit.example.com', { method: 'POST', headers, body })).status
 * const backend = auditWebhook({ post, clock: systemClock, random: systemRandom, profile: stockProfile })
 * ```
 */
export function auditWebhook(options: AuditWebhookOptions): AuditBackend {
  const { post, clock, random, profile, initialBackoffMs = 10_000 } = options
  const closing = new AbortController()
  const backoff = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const cancel = clock.setTimeout(resolve, ms)
      const stop = () => {
        cancel()
        resolve()
      }
      closing.signal.addEventListener('abort', stop, { once: true })
    })
  const deliver = async (body: string): Promise<void> => {
    let waitMs = initialBackoffMs
    for (let attempt = 1; ; attempt++) {
      const failure = await postFailure(post, body)
      if (failure === undefined) return
      if (attempt === maxAttempts || closing.signal.aborted) {
        throw new AuditError({ code: 'NotDelivered', message: `the audit webhook failed: ${failure}` })
      }
      const share = (random.bytes(1)[0] ?? 0) / 256
      await backoff(waitMs * (1 + jitter * share))
      waitMs *= factor
    }
  }
  return {
    process: (events) => deliver(eventListText(events, profile)),
    async close() {
      closing.abort()
    },
  }
}

async function postFailure(post: PostAuditEvents, body: string): Promise<string | undefined> {
  try {
    const status = await post(body)
    return status >= 200 && status < 300 ? undefined : `status ${status}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function eventListText(events: readonly AuditEvent[], { apiDomain }: NamingProfile): string {
  return stringifyJson({ kind: 'EventList', apiVersion: `audit.${apiDomain}/v1`, metadata: {}, items: events })
}
