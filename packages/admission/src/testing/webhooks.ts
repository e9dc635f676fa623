import { type ApiObject, type FakeClock, fakeClock, type JsonObject, seededRandom, stockProfile } from '@krmkit/meta'
import type { AdmissionContext, ObjectConvertor } from '../interfaces.ts'
import type { AdmissionReview, AdmissionVerdict, InProcessWebhook, WebhookLabels } from '../webhook/interfaces.ts'
import type { WebhookOptions } from '../webhook/options.ts'
import { contextOf } from './request.ts'

/** What tests of webhooks work with: configurations, functions that answer, and a record of what was told to whom. */

/** A webhook of a configuration: covers everything, unless `rest` says otherwise, and is answered by a function. */
export interface TestHook {
  readonly name: string
  readonly answer?: InProcessWebhook | AdmissionVerdict
  readonly rest?: object
}

const everything = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }]

export const urlOf = (name: string): string => `https://hooks.test/${name}`

export interface TestWebhooks {
  readonly options: WebhookOptions
  readonly clock: FakeClock
  readonly context: AdmissionContext & { readonly warnings: string[] }
  /** Names of webhooks in the order in which they were asked. */
  readonly asked: string[]
  readonly reviews: AdmissionReview[]
  /** Audit annotations, in the order in which they were made, with their level. */
  readonly notes: [key: string, value: string, level: string][]
  readonly signals: string[]
}

/** @param configurations webhooks by the name of their configuration */
export function testWebhooks(
  resource: 'mutatingwebhookconfigurations' | 'validatingwebhookconfigurations',
  configurations: Readonly<Record<string, readonly TestHook[]>>,
  {
    objects = {},
    forms,
    options = {},
  }: { objects?: Readonly<Record<string, object>>; forms?: ObjectConvertor; options?: Partial<WebhookOptions> } = {},
): TestWebhooks {
  const clock = fakeClock(Date.parse('2024-01-01T00:00:00Z'))
  const asked: string[] = []
  const reviews: AdmissionReview[] = []
  const notes: TestWebhooks['notes'] = []
  const signals: string[] = []
  const inProcess: Record<string, InProcessWebhook> = {}
  const stored: Record<string, object> = { ...objects }
  for (const [configuration, hooks] of Object.entries(configurations)) {
    const webhooks = hooks.map(({ name, answer = { allowed: true }, rest = {} }) => {
      inProcess[urlOf(name)] = (review, how) => {
        asked.push(name)
        reviews.push(review)
        return typeof answer === 'function' ? answer(review, how) : answer
      }
      const base = { name, clientConfig: { url: urlOf(name) }, rules: everything }
      return { ...base, sideEffects: 'None', admissionReviewVersions: ['v1'], ...rest }
    })
    stored[`${resource}//${configuration}`] = { metadata: { name: configuration }, webhooks }
  }
  const labelText = ({ name, type, operation }: WebhookLabels) => `${name} ${type} ${operation}`
  const context = {
    ...contextOf(stored),
    annotate: (key: string, value: string, level = 'Metadata') => void notes.push([key, value, level]),
    signals: {
      called: (labels: WebhookLabels, { rejected, code }: { rejected: boolean; code: number }) =>
        void signals.push(`called ${labelText(labels)} ${rejected} ${code}`),
      rejected: (labels: WebhookLabels, { cause, code }: { cause: string; code: number }) =>
        void signals.push(`rejected ${labelText(labels)} ${cause} ${code}`),
      failedOpen: (labels: WebhookLabels) => void signals.push(`failedOpen ${labelText(labels)}`),
      excluded: (labels: WebhookLabels) => void signals.push(`excluded ${labelText(labels)}`),
    },
    ...(forms === undefined ? {} : { forms }),
  }
  return {
    options: { clock, random: seededRandom(1), profile: stockProfile, inProcess, ...options },
    clock,
    context,
    asked,
    reviews,
    notes,
    signals,
  }
}

/** Allows, and puts a label on the object. */
export const label =
  (key: string, value: string): InProcessWebhook =>
  ({ request }) => {
    const labels = (request['object'] as JsonObject | null)?.['metadata'] as { labels?: object } | undefined
    const patch =
      labels?.labels === undefined
        ? [{ op: 'add', path: '/metadata/labels', value: { [key]: value } }]
        : [{ op: 'add', path: `/metadata/labels/${key}`, value }]
    return { allowed: true, patch }
  }

/** Allows, and adds to the text of a label, so that every call changes the object. */
export const append =
  (key: string, text: string): InProcessWebhook =>
  (review, how) => {
    const { metadata } = review.request['object'] as unknown as ApiObject
    return label(key, (metadata.labels?.[key] ?? '') + text)(review, how)
  }

export const deny = (message: string, more: object = {}): AdmissionVerdict => ({ allowed: false, status: { message, ...more } })

/** What a promise is rejected with. */
export async function failureOf(
  promise: Promise<unknown> | unknown,
): Promise<{ code: number; message: string; reason: string; status: object }> {
  try {
    await promise
  } catch (error) {
    return error as Awaited<ReturnType<typeof failureOf>>
  }
  throw new Error('nothing was refused')
}
