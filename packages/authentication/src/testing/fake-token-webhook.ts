import type { Fetch } from '@krmkit/base/fetch'
import type { Clock, UserInfo } from '@krmkit/meta'
import { createFakeFetch, type ServiceFaults } from './fake-fetch.ts'

export interface KnownToken {
  readonly user: UserInfo
  /** Audiences returned in reviews of the token. Absent: none are returned, as by webhooks that ignore audiences. */
  readonly audiences?: readonly string[]
}

/** An in-process TokenReview webhook. */
export interface FakeTokenWebhook {
  readonly url: string
  readonly fetch: Fetch
  readonly faults: ServiceFaults
  /** Valid tokens. */
  readonly known: Map<string, KnownToken>
  /** `status.error` for other tokens; empty for no error. */
  error: string
  /** Every review received. */
  readonly reviews: { readonly apiVersion: string; readonly spec: { readonly token: string; readonly audiences?: string[] } }[]
  /** Replaces each response before it is sent. */
  alter: ((review: Record<string, unknown>) => unknown) | undefined
}

/**
 * Creates a TokenReview webhook that accepts the tokens in `known`.
 *
 * @see {@link createWebhookTokenAuthenticator} for an example.
 */
export function createFakeTokenWebhook({
  clock,
  url = 'https://webhook.test/review',
}: {
  readonly clock: Clock
  readonly url?: string
}): FakeTokenWebhook {
  const faults: ServiceFaults = { next: [], always: undefined }
  const webhook: FakeTokenWebhook = {
    url,
    faults,
    known: new Map(),
    error: '',
    reviews: [],
    alter: undefined,
    fetch: createFakeFetch(
      (requestUrl, init) => {
        if (requestUrl !== url || init.method !== 'POST') return undefined
        const review = JSON.parse(init.body ?? '') as FakeTokenWebhook['reviews'][number]
        webhook.reviews.push(review)
        const response = { ...review, status: statusOf(webhook, review.spec) }
        return webhook.alter === undefined ? response : webhook.alter(response)
      },
      { clock, faults },
    ),
  }
  return webhook
}

function statusOf(
  webhook: FakeTokenWebhook,
  { token, audiences = [] }: { readonly token: string; readonly audiences?: string[] },
): object {
  const found = webhook.known.get(token)
  if (found === undefined) return { authenticated: false, ...(webhook.error === '' ? {} : { error: webhook.error }) }
  const common = found.audiences?.filter((audience) => audiences.includes(audience))
  if (common?.length === 0) return { authenticated: false }
  return { authenticated: true, user: found.user, ...(common === undefined ? {} : { audiences: common }) }
}
