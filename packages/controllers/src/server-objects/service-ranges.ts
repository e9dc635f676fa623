import { resourceType } from '@krmkit/client'
import { type ApiObject, formatTime } from '@krmkit/meta'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { ensureObject } from './ensure-object.ts'
import { resyncMs, type ServerFacts } from './interfaces.ts'

interface Condition {
  type: string
  status: string
  reason: string
  message: string
  lastTransitionTime: string
}

interface ServiceCIDR extends ApiObject {
  spec?: { cidrs?: string[] }
  status?: { conditions?: Condition[] }
}

const serviceCIDRs = resourceType<ServiceCIDR>({
  group: 'networking.k8s.io',
  version: 'v1',
  resource: 'servicecidrs',
  kind: 'ServiceCIDR',
  namespaced: false,
})

/** Tells clients the ranges of addresses that the server hands out to services, in the object that is there by default. */
export function serviceRanges(facts: ServerFacts): Controller {
  return {
    name: 'service-ranges',
    start(context) {
      const work = context.queue<'enqueue'>({
        async sync() {
          await tell(context, facts)
          return { requeueAfterMs: resyncMs }
        },
      })
      work.add('enqueue')
      return disposeSubscriptions([])
    },
  }
}

async function tell(context: ControllerContext, facts: ServerFacts): Promise<void> {
  const { client, clock, fieldManager, profile, signal } = context
  const cidrs = [...facts.serviceRanges]
  const found = await ensureObject(context, serviceCIDRs, { metadata: { name: profile.vendor }, spec: { cidrs } })
  const known = found.status?.conditions ?? []
  // One that is on its way out, or that somebody else has judged, is left to others.
  if (found.metadata.deletionTimestamp !== undefined || known.some(({ type }) => type === 'Ready')) return
  const message = 'The default ranges of service addresses are in use.'
  const lastTransitionTime = formatTime(clock.now())
  const ready = { type: 'Ready', status: 'True', reason: '', message, lastTransitionTime }
  const changed = { ...found, status: { ...found.status, conditions: [...known, ready] } }
  await client.update(serviceCIDRs, changed, { subresource: 'status', fieldManager, signal })
}
