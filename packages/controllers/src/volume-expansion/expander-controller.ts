import { type DeepReadonly, Quantity } from '@krmkit/meta'
import { ignoreNotFound } from '../framework/api-errors.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller } from '../interfaces.ts'
import { type Claim, claims, keyOf, volumes } from '../volume/objects.ts'
import { splitKey } from '../workloads/objects.ts'

/** Marks bound claims that request more storage than they have with the driver that must resize their volume. */
export const volumeExpanderController: Controller = {
  name: 'persistentvolume-expander-controller',
  isDefault: false,
  start({ client, fieldManager, informers, profile, queue, rateLimit, signal }) {
    const known = informers.of(claims)
    const bound = informers.of(volumes)
    const resizer = `volume.${profile.domain}/storage-resizer`
    const work = queue<string>({
      async sync(key) {
        if (!bound.hasSynced) await bound.synced
        const { namespace, name } = splitKey(key)
        const claim = known.get(name, namespace)
        if (claim === undefined || !needsExpansion(claim)) return undefined
        const csi = bound.get(claim.spec?.volumeName ?? '')?.spec?.csi as { readonly driver?: string } | undefined
        if (csi?.driver === undefined || claim.metadata.annotations?.[resizer] === csi.driver) return undefined
        const patch = { metadata: { uid: claim.metadata.uid ?? '', annotations: { [resizer]: csi.driver } } }
        await ignoreNotFound(client.patch(claims, name, { namespace, type: 'merge', patch, fieldManager, signal }))
        return undefined
      },
      rateLimit,
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
