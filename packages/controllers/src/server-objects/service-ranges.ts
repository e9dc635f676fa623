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

/** Maintains the default ServiceCIDR, which publishes the address ranges of services. */
export function serviceRanges(facts: ServerFacts): Controller {
  return {
    name: 'service-ranges',
    start(context) {
      const work = context.queue<'sync'>({
        async sync() {
          await tell(context, facts)
          return { requeueAfterMs: resyncMs }
        },
      })
      work.add('sync')
      return disposeSubscriptions([])
    },
  }
}

async function tell(context: ControllerContext, facts: ServerFacts): Promise<void> {
  const { client, clock, fieldManager, profile, signal } = context
  const cidrs = [...facts.serviceRanges]
  const found = await ensureObject(context, serviceCIDRs, { metadata: { name: profile.vendor }, spec: { cidrs } })
  const known = found.status?.conditions ?? []
  // A terminating object, or one with a Ready condition, is not changed.
  if (found.metadata.deletionTimestamp !== undefined || known.some(({ type }) => type === 'Ready')) return
  const message = 'The default ranges of service addresses are in use.'
  const lastTransitionTime = formatTime(clock.now())
  const ready = { type: 'Ready', status: 'True', reason: '', message, lastTransitionTime }
  const changed = { ...found, status: { ...found.status, conditions: [...known, ready] } }
  await client.update(serviceCIDRs, changed, { subresource: 'status', fieldManager, signal })
}
