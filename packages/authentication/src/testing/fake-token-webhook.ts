import type { Clock, UserInfo } from '@krmkit/meta'
import type { Fetch } from '../fetch.ts'
import { type LabFaults, labFetch } from './fake-fetch.ts'

export interface KnownToken {
  readonly user: UserInfo
  /** Audiences that the reviewer says the token is good for. Absent: it does not know of audiences. */
  readonly audiences?: readonly string[]
}

/** A service that reviews tokens, in this process. */
export interface WebhookLab {
  readonly url: string
  readonly fetch: Fetch
  readonly faults: LabFaults
  /** The tokens it knows. */
  readonly known: Map<string, KnownToken>
  /** What it says about the others; empty: nothing. */
  error: string
  /** Every review as it came. */
  readonly reviews: { readonly apiVersion: string; readonly spec: { readonly token: string; readonly audiences?: string[] } }[]
  /** Changes an answer before it is given. */
  alter: ((review: Record<string, unknown>) => unknown) | undefined
}

export function webhookLab({
  clock,
  url = 'https://webhook.test/review',
}: {
  readonly clock: Clock
  readonly url?: string
}): WebhookLab {
  const faults: LabFaults = { next: [], always: undefined }
  const lab: WebhookLab = {
    url,
    faults,
    known: new Map(),
    error: '',
    reviews: [],
    alter: undefined,
    fetch: labFetch(
      (asked, init) => {
        if (asked !== url || init.method !== 'POST') return undefined
        const review = JSON.parse(init.body ?? '') as WebhookLab['reviews'][number]
        lab.reviews.push(review)
        const answer = { ...review, status: statusOf(lab, review.spec) }
        return lab.alter === undefined ? answer : lab.alter(answer)
      },
      { clock, faults },
    ),
  }
  return lab
}

function statusOf(lab: WebhookLab, { token, audiences = [] }: { readonly token: string; readonly audiences?: string[] }): object {
  const found = lab.known.get(token)
  if (found === undefined) return { authenticated: false, ...(lab.error === '' ? {} : { error: lab.error }) }
  const common = found.audiences?.filter((audience) => audiences.includes(audience))
  if (common?.length === 0) return { authenticated: false }
  return { authenticated: true, user: found.user, ...(common === undefined ? {} : { audiences: common }) }
}
