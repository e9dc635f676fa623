import { readCertificates } from '../request/certificate.ts'
import { decodeBase64 } from '../request/pem.ts'

/** The fields of a CertificateSigningRequest that determine its cleanup. */
export interface CleanupCandidate {
  readonly metadata: { readonly creationTimestamp?: string | null | undefined }
  readonly status?:
    | {
        readonly certificate?: string | null | undefined
        readonly conditions?: readonly CandidateCondition[] | null | undefined
      }
    | null
    | undefined
}

interface CandidateCondition {
  readonly type: string
  readonly lastUpdateTime?: string | null | undefined
  readonly lastTransitionTime?: string | null | undefined
}

const hourMs = 3_600_000
/** Retention of approved, denied and failed requests, in milliseconds. */
export const decidedRequestLifeMs = hourMs
/** Retention of pending requests, in milliseconds. */
export const pendingRequestLifeMs = 24 * hourMs
const decisions = ['Approved', 'Denied', 'Failed']

/**
 * Returns the time at which a request may be deleted, in milliseconds since the epoch: one hour after its last approval, denial or
 * failure; one day after creation while pending; but not later than the expiry of its certificate. Undefined without creation time.
 *
 * Differs: kube-controller-manager keeps approved requests without a certificate.
 *
 * @see API protocol specification, 3 and 8
 * @example
 * ```ts
 * import { cleanupTime } from '@krmkit/certificates'
 * import { formatTime } from '@krmkit/meta'
 *
 * const pending = cleanupTime({ metadata: { creationTimestamp: '2025-06-01T10:00:00Z' } })
 * if (pending !== undefined) formatTime(pending) // '2025-06-02T10:00:00Z'
 * ```
 */
export function cleanupTime(request: CleanupCandidate): number | undefined {
  const { conditions, certificate } = request.status ?? {}
  const decided = (conditions ?? []).filter(({ type }) => decisions.includes(type))
  const changes = decided.map(({ lastUpdateTime, lastTransitionTime }) => {
    return Math.max(timeOf(lastUpdateTime) ?? 0, timeOf(lastTransitionTime) ?? 0)
  })
  const created = timeOf(request.metadata.creationTimestamp)
  const since = Math.max(...changes, 0)
  const times = [
    decided.length === 0 ? later(created, pendingRequestLifeMs) : later(since === 0 ? created : since, decidedRequestLifeMs),
    certificateEnd(certificate),
  ].filter((time) => time !== undefined)
  return times.length === 0 ? undefined : Math.min(...times)
}

/** Returns the expiry of the issued certificate; undefined when it is absent or malformed. */
function certificateEnd(base64: string | null | undefined): number | undefined {
  const bytes = decodeBase64(base64 ?? '')
  if (bytes === undefined || bytes.length === 0) return undefined
  try {
    const [first] = readCertificates(new TextDecoder('latin1').decode(bytes))
    return first?.notAfter
  } catch {
    return undefined
  }
}

function later(time: number | undefined, ms: number): number | undefined {
  return time === undefined ? undefined : time + ms
}

function timeOf(text: string | null | undefined): number | undefined {
  const ms = Date.parse(text ?? '')
  return Number.isNaN(ms) ? undefined : ms
}
