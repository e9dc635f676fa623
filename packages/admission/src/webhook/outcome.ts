import { ApiError, type Clock } from '@krmkit/meta'
import type { Call } from './caller.ts'
import type { WebhookLabels } from './interfaces.ts'
import { WebhookError } from './webhook-error.ts'

/** What a call gave, when it gave anything. */
export type Answered<T> = { readonly kind: 'allowed'; readonly value: T } | { readonly kind: 'refused'; readonly error: ApiError }

/**
 * Asks, counts, and decides by the failure policy what becomes of the request.
 *
 * @returns undefined when the call failed and its webhook says that this is to be ignored.
 * @throws ApiError what the webhook refused with; 500 when it could not be asked; 504 when nobody waits any more.
 * @see API protocol specification, 6 and 7
 */
export async function outcomeOf<T>(
  { candidate, context }: Call,
  labels: WebhookLabels,
  clock: Clock,
  { ask, failedOpen }: { readonly ask: () => Promise<Answered<T>>; readonly failedOpen: (message: string) => void },
): Promise<T | undefined> {
  const { metrics: signals, bounds } = context
  const from = clock.now()
  const count = (rejected: boolean, code: number): void => {
    signals?.called(labels, { seconds: (clock.now() - from) / 1000, rejected, code })
  }
  let answered: Answered<T>
  try {
    answered = await ask()
  } catch (error) {
    if (!(error instanceof WebhookError)) {
      signals?.rejected(labels, { cause: 'apiserver_internal_error', code: 0 })
      count(true, 0)
      throw error
    }
    const ignored = candidate.hook.failurePolicy === 'Ignore'
    const message = `failed calling webhook ${JSON.stringify(candidate.hook.name)}: ${error.message}`
    if (!ignored) signals?.rejected(labels, { cause: 'calling_webhook_error', code: error.httpCode })
    count(!ignored, error.httpCode)
    if (!ignored) throw ApiError.internalError(message)
    signals?.failedOpen(labels)
    failedOpen(message)
    const over = bounds?.signal.aborted === true || (bounds?.deadline !== undefined && bounds.deadline <= clock.now())
    if (over) throw ApiError.timeout('request did not complete within requested timeout')
    return undefined
  }
  if (answered.kind === 'refused') {
    signals?.rejected(labels, { cause: 'no_error', code: answered.error.code })
    count(true, answered.error.code)
    throw answered.error
  }
  count(false, 200)
  return answered.value
}
