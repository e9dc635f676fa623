import { ApiError, type Features, type FieldError, MetaError } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { formatTime, parseTime } from '@krmkit/meta/time'
import { field } from '@krmkit/meta/validation'
import { flag, integer, type Query, text } from '../request/query.ts'

/** The query of a request for a log. */
export interface LogOptions {
  /** Empty: the only container of the pod. */
  readonly container: string
  /** Whether the certificate of the kubelet is accepted unverified. */
  readonly skipVerify: boolean
  /** Query for the kubelet, with parameters sorted by name: empty, or beginning with a question mark. */
  readonly kubeletQuery: string
}

/** @throws ApiError 400 for malformed values, 422 for values out of range. */
export function logOptions(query: Query, podName: string, features: Features): LogOptions {
  const sinceTime = text(query, 'sinceTime') ?? ''
  const splits = gateEnabled('PodLogsQuerySplitStreams', features)
  const numbers = {
    limitBytes: integer(query, 'limitBytes'),
    sinceSeconds: integer(query, 'sinceSeconds'),
    tailLines: integer(query, 'tailLines'),
  }
  const parameters: Readonly<Record<string, string | undefined>> = {
    follow: flag(query, 'follow') ? 'true' : undefined,
    limitBytes: numbers.limitBytes?.toString(),
    previous: flag(query, 'previous') ? 'true' : undefined,
    sinceSeconds: numbers.sinceSeconds?.toString(),
    sinceTime: sinceTime === '' ? undefined : normalizedTime(sinceTime),
    stream: splits ? (text(query, 'stream') ?? 'All') : undefined,
    tailLines: numbers.tailLines?.toString(),
    timestamps: flag(query, 'timestamps') ? 'true' : undefined,
  }
  const errors = validate({ ...numbers, sinceTime, stream: text(query, 'stream'), splits })
  if (errors.length > 0) throw ApiError.invalid({ group: '', kind: 'PodLogOptions' }, podName, errors)
  const kubelet = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) kubelet.append(name, value)
  return {
    container: text(query, 'container') ?? '',
    skipVerify: flag(query, 'insecureSkipTLSVerifyBackend'),
    kubeletQuery: kubelet.toString() === '' ? '' : `?${kubelet}`,
  }
}

/** @throws ApiError 400 */
function normalizedTime(value: string): string {
  try {
    return formatTime(parseTime(value))
  } catch (error) {
    if (error instanceof MetaError) throw ApiError.badRequest(error.message)
    throw error
  }
}

const logStreams = ['All', 'Stderr', 'Stdout']

interface CheckedOptions {
  readonly limitBytes: number | undefined
  readonly sinceSeconds: number | undefined
  readonly sinceTime: string
  readonly stream: string | undefined
  /** Whether the client may choose stdout or stderr. */
  readonly splits: boolean
  readonly tailLines: number | undefined
}

function validate({ limitBytes, sinceSeconds, sinceTime, stream, splits, tailLines }: CheckedOptions): FieldError[] {
  const errors: FieldError[] = []
  if (tailLines !== undefined && tailLines < 0) {
    errors.push(field.invalid('tailLines', tailLines, 'must be greater than or equal to 0'))
  }
  if (limitBytes !== undefined && limitBytes < 1) errors.push(field.invalid('limitBytes', limitBytes, 'must be greater than 0'))
  if (sinceSeconds !== undefined && sinceTime !== '') {
    errors.push(field.forbidden('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'))
  } else if (sinceSeconds !== undefined && sinceSeconds < 1) {
    errors.push(field.invalid('sinceSeconds', sinceSeconds, 'must be greater than 0'))
  }
  if (stream === undefined) return errors
  if (!splits) return [...errors, field.forbidden('stream', 'may not be specified')]
  if (!logStreams.includes(stream)) errors.push(field.notSupported('stream', stream, logStreams))
  if (stream !== 'All' && tailLines !== undefined)
    errors.push(field.forbidden('[]', '`tailLines` and specific `stream` are mutually exclusive for now'))
  return errors
}
