import { readCertificates } from '../request/certificate.ts'
import { decodeBase64 } from '../request/pem.ts'

/** As much of a CertificateSigningRequest as tells when it has served its purpose. */
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
/** Life of a request after it was approved, denied or failed, in milliseconds. */
export const decidedRequestLifeMs = hourMs
/** Life of a request about which nobody decides. */
export const pendingRequestLifeMs = 24 * hourMs
const decisions = ['Approved', 'Denied', 'Failed']

/**
 * When a request may be deleted, in milliseconds since the epoch: an hour after the last decision about it, a day after it was
 * made when there is none, and in any case when its certificate ends. Undefined when it does not say when it was made.
 *
 * Differs: the stock cleaner keeps approved requests that nobody has signed.
 *
 * @see API protocol specification, 3 and 8
 */
export function cleanupTime(request: CleanupCandidate): number | undefined {
  const { conditions, certificate } = request.status ?? {}
  const decided = (conditions ?? []).filter(({ type }) => decisions.includes(type))
  const changes = decided.map(({ lastUpdateTime, lastTransitionTime }) => {
    return Math.max(timeOf(lastUpdateTime) ?? 0, timeOf(lastTransitionTime) ?? 0)
  })
  const made = timeOf(request.metadata.creationTimestamp)
  const since = Math.max(...changes, 0)
  const times = [
    decided.length === 0 ? later(made, pendingRequestLifeMs) : later(since === 0 ? made : since, decidedRequestLifeMs),
    certificateEnd(certificate),
  ].filter((time) => time !== undefined)
  return times.length === 0 ? undefined : Math.min(...times)
}

/** When the first certificate that was issued ends; what cannot be read never does. */
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
