import { type ApiObject, type FakeClock, fakeClock, type JsonObject, seededRandom, stockProfile } from '@krmkit/meta'
import type { AdmissionContext, VersionConverter } from '../interfaces.ts'
import type { WebhookLabels } from '../metrics.ts'
import type { AdmissionReview, InProcessWebhook, InProcessWebhookResponse } from '../webhook/interfaces.ts'
import type { WebhookOptions } from '../webhook/options.ts'
import { contextOf } from './request.ts'

/** Fixtures for tests of webhooks: configurations, in-process webhooks, and records of calls, annotations and metrics. */

/** A webhook of a configuration that matches every request unless `rest` overrides its rules. */
export interface TestHook {
  readonly name: string
  readonly response?: InProcessWebhook | InProcessWebhookResponse
  /** Further members of the webhook. */
  readonly rest?: object
}

const everything = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }]

export const urlOf = (name: string): string => `https://hooks.test/${name}`

export interface TestWebhooks {
  readonly options: WebhookOptions
  readonly clock: FakeClock
  readonly context: AdmissionContext & { readonly warnings: string[] }
  /** Names of the called webhooks, in call order. */
  readonly called: string[]
  readonly reviews: AdmissionReview[]
  /** Audit annotations with their level, in order. */
  readonly annotations: [key: string, value: string, level: string][]
  /** Recorded metrics as text. */
  readonly metrics: string[]
}

/** @param configurations webhooks by configuration name. */
export function testWebhooks(
  resource: 'mutatingwebhookconfigurations' | 'validatingwebhookconfigurations',
  configurations: Readonly<Record<string, readonly TestHook[]>>,
  {
    objects = {},
    versionConverter,
    options = {},
  }: { objects?: Readonly<Record<string, object>>; versionConverter?: VersionConverter; options?: Partial<WebhookOptions> } = {},
): TestWebhooks {
  const clock = fakeClock(Date.parse('2024-01-01T00:00:00Z'))
  const called: string[] = []
  const reviews: AdmissionReview[] = []
  const annotations: TestWebhooks['annotations'] = []
  const metrics: string[] = []
  const inProcess: Record<string, InProcessWebhook> = {}
  const stored: Record<string, object> = { ...objects }
  for (const [configuration, hooks] of Object.entries(configurations)) {
    const webhooks = hooks.map(({ name, response = { allowed: true }, rest = {} }) => {
      inProcess[urlOf(name)] = (review, callOptions) => {
        called.push(name)
        reviews.push(review)
        return typeof response === 'function' ? response(review, callOptions) : response
      }
      const base = { name, clientConfig: { url: urlOf(name) }, rules: everything }
      return { ...base, sideEffects: 'None', admissionReviewVersions: ['v1'], ...rest }
    })
    stored[`${resource}//${configuration}`] = { metadata: { name: configuration }, webhooks }
  }
  const labelText = ({ name, type, operation }: WebhookLabels) => `${name} ${type} ${operation}`
  const context = {
    ...contextOf(stored),
    annotate: (key: string, value: string, level = 'Metadata') => void annotations.push([key, value, level]),
    metrics: {
      pluginCompleted: () => undefined,
      phaseCompleted: () => undefined,
      policies: { checked: () => undefined, conditionsEvaluated: () => undefined },
      podSecurity: { evaluated: () => undefined, exempted: () => undefined, failed: () => undefined },
      webhooks: {
        called: (labels: WebhookLabels, { rejected, code }: { rejected: boolean; code: number }) =>
          void metrics.push(`called ${labelText(labels)} ${rejected} ${code}`),
        rejected: (labels: WebhookLabels, { cause, code }: { cause: string; code: number }) =>
          void metrics.push(`rejected ${labelText(labels)} ${cause} ${code}`),
        failedOpen: (labels: WebhookLabels) => void metrics.push(`failedOpen ${labelText(labels)}`),
        conditionsEvaluated: (labels: WebhookLabels, { outcome }: { outcome: string }) =>
          void metrics.push(`${outcome} ${labelText(labels)}`),
      },
    },
    ...(versionConverter === undefined ? {} : { versionConverter }),
  }
  return {
    options: { clock, random: seededRandom(1), profile: stockProfile, inProcess, ...options },
    clock,
    context,
    called,
    reviews,
    annotations,
    metrics,
  }
}

/** Allows, and sets a label on the object. */
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

/** Allows, and appends to the value of a label, so that every call changes the object. */
export const append =
  (key: string, text: string): InProcessWebhook =>
  (review, options) => {
    const { metadata } = review.request['object'] as unknown as ApiObject
    return label(key, (metadata.labels?.[key] ?? '') + text)(review, options)
  }

export const deny = (message: string, more: object = {}): InProcessWebhookResponse => ({
  allowed: false,
  status: { message, ...more },
})

/** The error that a promise rejects with. */
export async function failureOf(
  promise: Promise<unknown> | unknown,
): Promise<{ code: number; message: string; reason: string; status: object }> {
  try {
    await promise
  } catch (error) {
    return error as Awaited<ReturnType<typeof failureOf>>
  }
  throw new Error('the promise did not reject')
}
