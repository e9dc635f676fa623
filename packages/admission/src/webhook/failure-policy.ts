import { ApiError, type Clock } from '@krmkit/meta'
import type { WebhookLabels } from '../metrics.ts'
import type { WebhookCall } from './dispatcher.ts'
import { WebhookError } from './webhook-error.ts'

/** The result of a call that did not fail. */
export type CallResult<T> =
  | { readonly kind: 'allowed'; readonly value: T }
  | { readonly kind: 'refused'; readonly error: ApiError }

/**
 * Runs a call, records its metrics, and applies the failure policy.
 *
 * @returns undefined when the call failed and the failure policy is `Ignore`.
 * @throws ApiError the webhook's refusal; 500 when the call failed; 504 when the request timed out meanwhile.
 * @see API protocol specification, 6 and 7
 */
export async function applyFailurePolicy<T>(
  { invocation: { hook }, context }: WebhookCall,
  labels: WebhookLabels,
  clock: Clock,
  { run, failedOpen }: { readonly run: () => Promise<CallResult<T>>; readonly failedOpen: (message: string) => void },
): Promise<T | undefined> {
  const { bounds } = context
  const metrics = context.metrics?.webhooks
  const startedAt = clock.now()
  const count = (rejected: boolean, code: number): void => {
    metrics?.called(labels, { seconds: (clock.now() - startedAt) / 1000, rejected, code })
  }
  let result: CallResult<T>
  try {
    result = await run()
  } catch (error) {
    if (!(error instanceof WebhookError)) {
      metrics?.rejected(labels, { cause: 'apiserver_internal_error', code: 0 })
      count(true, 0)
      throw error
    }
    const ignored = hook.failurePolicy === 'Ignore'
    const message = `failed calling webhook ${JSON.stringify(hook.name)}: ${error.message}`
    if (!ignored) metrics?.rejected(labels, { cause: 'calling_webhook_error', code: error.httpCode })
    count(!ignored, error.httpCode)
    if (!ignored) throw ApiError.internalError(message)
    metrics?.failedOpen(labels)
    failedOpen(message)
    const timedOut = bounds?.signal.aborted === true || (bounds?.deadline !== undefined && bounds.deadline <= clock.now())
    if (timedOut) throw ApiError.timeout('request did not complete within requested timeout')
    return undefined
  }
  if (result.kind === 'refused') {
    metrics?.rejected(labels, { cause: 'no_error', code: result.error.code })
    count(true, result.error.code)
    throw result.error
  }
  count(false, 200)
  return result.value
}
