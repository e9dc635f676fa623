import { resourceType } from '@krmkit/client'
import type { ApiObject, NamingProfile } from '@krmkit/meta'
import { formatMicroTime } from '@krmkit/meta/time'
import { ignoreNotFound } from '../framework/api-errors.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { ensureObject, hasLabels, withLabels } from './ensure-object.ts'
import { elapsedMs, leaseSeconds, resyncMs, type ServerFacts } from './interfaces.ts'

export interface Lease extends ApiObject {
  spec?: { holderIdentity?: string; leaseDurationSeconds?: number; renewTime?: string }
}

export const leases = resourceType<Lease>({ group: 'coordination.k8s.io', version: 'v1', resource: 'leases', kind: 'Lease' })

/** Returns the label and the annotation of server Leases. */
export function identityNames(profile: NamingProfile) {
  const prefix = `apiserver.${profile.domain}`
  return { label: `${prefix}/identity`, component: 'kube-apiserver', address: `${prefix}/address` }
}

/** Renews the identity Lease of the server and deletes expired Leases of other servers. */
export function serverIdentity(facts: ServerFacts): Controller {
  return {
    name: 'server-identity',
    start(context) {
      const work = context.queue<'renew'>({
        async sync() {
          await renew(context, facts)
          await removeOld(context)
          return { requeueAfterMs: resyncMs }
        },
      })
      work.add('renew')
      return disposeSubscriptions([])
    },
  }
}

async function renew(context: ControllerContext, facts: ServerFacts): Promise<void> {
  const { clock, profile } = context
  const names = identityNames(profile)
  const labels = { [names.label]: names.component, [`${profile.domain}/hostname`]: facts.hostname }
  const annotations = facts.address === undefined ? {} : { [names.address]: facts.address }
  const spec = { holderIdentity: facts.holder, leaseDurationSeconds: leaseSeconds, renewTime: formatMicroTime(clock.now()) }
  const metadata = { name: facts.name, namespace: profile.systemNamespace, labels, annotations }
  await ensureObject(context, leases, { metadata, spec }, (current) => {
    const labelled = withLabels(current, labels)
    return {
      ...labelled,
      metadata: { ...labelled.metadata, annotations: { ...current.metadata.annotations, ...annotations } },
      spec: { ...current.spec, ...spec },
    }
  })
}

async function removeOld(context: ControllerContext): Promise<void> {
  const { client, clock, profile, signal } = context
  for (const { metadata, spec } of await serverLeases(context)) {
    if (elapsedMs(spec?.renewTime, clock) <= (spec?.leaseDurationSeconds ?? leaseSeconds) * 1000) continue
    const { name = '', uid = '', resourceVersion = '' } = metadata
    const preconditions = { uid, resourceVersion }
    await ignoreNotFound(client.delete(leases, name, { namespace: profile.systemNamespace, preconditions, signal }))
  }
}

/** Returns the Leases of all servers of the cluster. */
export async function serverLeases({ client, profile, signal }: ControllerContext): Promise<readonly Lease[]> {
  const { label, component } = identityNames(profile)
  const selection = { namespace: profile.systemNamespace, labelSelector: `${label}=${component}`, signal }
  const { items } = await client.list(leases, selection)
  return items.filter((lease) => hasLabels(lease, { [label]: component }))
}
