import { type DeepReadonly, Quantity } from '@krmkit/meta'
import { ObjectEvents } from '../events/object-events.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller } from '../interfaces.ts'
import { type Claim, claims, keyOf, volumes } from '../volume/objects.ts'
import { splitKey } from '../workloads/objects.ts'

/** Records an event for bound claims that request more storage than they have: the driver must resize the volume. */
export const volumeExpanderController: Controller = {
  name: 'persistentvolume-expander-controller',
  isDefault: false,
  start(context) {
    const known = context.informers.of(claims)
    const bound = context.informers.of(volumes)
    const events = new ObjectEvents(context, claims, 'volume_expand')
    const work = context.queue<string>({
      async sync(key) {
        if (!bound.hasSynced) await bound.synced
        const { namespace, name } = splitKey(key)
        const claim = known.get(name, namespace)
        if (claim === undefined || !needsExpansion(claim)) return undefined
        if (bound.get(claim.spec?.volumeName ?? '')?.spec?.claimRef?.uid !== claim.metadata.uid) return undefined
        events.normal(claim, 'ExternalExpanding', 'waiting for an external controller to expand this PVC')
        return undefined
      },
      rateLimit: context.rateLimit,
    })
    const enqueue = (claim: DeepReadonly<Claim>) => work.add(keyOf(claim))
    return disposeSubscriptions([known.on({ added: enqueue, updated: enqueue })])
  },
}

/** Whether a bound claim requests more storage than it has. */
export function needsExpansion({ spec, status }: DeepReadonly<Claim>): boolean {
  const wanted = spec?.resources?.requests?.['storage']
  const present = status?.capacity?.['storage']
  if (status?.phase !== 'Bound' || wanted === undefined || present === undefined) return false
  return Quantity.parse(wanted).compare(Quantity.parse(present)) > 0
}
