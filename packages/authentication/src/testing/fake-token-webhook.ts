import type { Clock, UserInfo } from '@krmkit/meta'
import type { Fetch } from '../fetch.ts'
import { createFakeFetch, type ServiceFaults } from './fake-fetch.ts'

export interface KnownToken {
  readonly user: UserInfo
  /** Audiences that the reviewer says the token is good for. Absent: it does not know of audiences. */
  readonly audiences?: readonly string[]
}

/** A service that reviews tokens, in this process. */
export interface FakeTokenWebhook {
  readonly url: string
  readonly fetch: Fetch
  readonly faults: ServiceFaults
  /** The tokens it knows. */
  readonly known: Map<string, KnownToken>
  /** What it says about the others; empty: nothing. */
  error: string
  /** Every review as it came. */
  readonly reviews: { readonly apiVersion: string; readonly spec: { readonly token: string; readonly audiences?: string[] } }[]
  /** Changes an answer before it is given. */
  alter: ((review: Record<string, unknown>) => unknown) | undefined
}

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
      (asked, init) => {
        if (asked !== url || init.method !== 'POST') return undefined
        const review = JSON.parse(init.body ?? '') as FakeTokenWebhook['reviews'][number]
        webhook.reviews.push(review)
        const answer = { ...review, status: statusOf(webhook, review.spec) }
        return webhook.alter === undefined ? answer : webhook.alter(answer)
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
