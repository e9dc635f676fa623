import { stringifyJson } from '@krmkit/schema'
import type { AuditBackend, AuditEvent } from './interfaces.ts'

export interface TruncateOptions {
  /** Bytes of one event; a larger event loses its bodies, and is dropped when that does not suffice. */
  readonly maxEventSize: number
  /** Bytes of one batch. */
  readonly maxBatchSize: number
  /** `k8s.io` */
  readonly apiDomain: string
  /** Called with each dropped event. */
  readonly onLost: (event: AuditEvent) => void
}

/**
 * Limits the size of events and batches for a backend.
 *
 * @example
 * ```ts
 * import { auditLog, truncatedAudit } from '@krmkit/apiserver/audit'
 *
 * const log = auditLog({ write: async (text) => void process.stdout.write(text) })
 * const onLost = ({ auditID }: { auditID: string }) => console.error(`event ${auditID} is too large`)
 * const backend = truncatedAudit(log, { maxEventSize: 102_400, maxBatchSize: 10_485_760, apiDomain: 'k8s.io', onLost })
 * ```
 */
export function truncatedAudit(backend: AuditBackend, options: TruncateOptions): AuditBackend {
  return {
    async process(events) {
      let batch: AuditEvent[] = []
      let size = 0
      for (const event of events) {
        const fitting = truncate(event, options)
        if (fitting === undefined) {
          options.onLost(event)
          continue
        }
        if (batch.length > 0 && size + fitting.size > options.maxBatchSize) {
          await backend.process(batch)
          batch = []
          size = 0
        }
        batch.push(fitting.event)
        size += fitting.size
      }
      if (batch.length > 0) await backend.process(batch)
    },
    ...(backend.strict === undefined ? {} : { strict: backend.strict }),
    ...(backend.close === undefined ? {} : { close: () => backend.close?.() ?? Promise.resolve() }),
  }
}

function truncate(
  event: AuditEvent,
  { maxEventSize, apiDomain }: TruncateOptions,
): { readonly event: AuditEvent; readonly size: number } | undefined {
  const size = sizeOf(event)
  if (size <= maxEventSize) return { event, size }
  const { requestObject: _request, responseObject: _response, ...rest } = event
  const smaller = { ...rest, annotations: { ...event.annotations, [`audit.${apiDomain}/truncated`]: 'true' } }
  const smallerSize = sizeOf(smaller)
  return smallerSize <= maxEventSize ? { event: smaller, size: smallerSize } : undefined
}

function sizeOf(event: AuditEvent): number {
  return new TextEncoder().encode(stringifyJson(event)).byteLength
}
