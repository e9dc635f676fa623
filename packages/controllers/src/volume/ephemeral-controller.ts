import type { DeepReadonly } from '@krmkit/meta'
import { ObjectEvents } from '../events/object-events.ts'
import { ignoreCreateConflict } from '../framework/api-errors.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { isDeleted, isOwnedBy } from './claim-use.ts'
import { claims, ephemeralClaimName, keyOf, type Pod, pods } from './objects.ts'

/**
 * Creates the claims of ephemeral volumes, named by pod and volume. The pod owns the claims, so they are deleted with it. An
 * existing claim of that name with another owner is not changed; the pod then stays pending.
 *
 * @see Configuration and storage specification, 2.3
 */
export const ephemeralVolumeController: Controller = {
  name: 'ephemeral-volume-controller',
  start(context) {
    const known = context.informers.of(pods)
    const events = new ObjectEvents(context, pods, 'ephemeral_volume')
    const work = context.queue<string>({
      async sync(key) {
        const [namespace = '', name = ''] = key.split('/')
        const pod = known.get(name, namespace)
        if (pod !== undefined && !isDeleted(pod)) await createClaims(pod, events, context)
        return undefined
      },
    })
    const enqueue = (pod: DeepReadonly<Pod>) => {
      if (!isDeleted(pod) && pod.spec?.volumes?.some(({ ephemeral }) => ephemeral !== undefined) === true) work.add(keyOf(pod))
    }
    // Recreates claims that are deleted while their pod exists.
    const claimSubscription = context.informers.of(claims).on({
      deleted: ({ metadata: { namespace = '', ownerReferences } }) => {
        for (const { kind, name, controller } of ownerReferences ?? [])
          if (kind === 'Pod' && controller === true && known.get(name, namespace) !== undefined) work.add(`${namespace}/${name}`)
      },
    })
    return disposeSubscriptions([known.on({ added: enqueue }), claimSubscription])
  },
}

async function createClaims(pod: DeepReadonly<Pod>, events: ObjectEvents<Pod>, context: ControllerContext): Promise<void> {
  const { client, informers, fieldManager, signal } = context
  const namespace = pod.metadata.namespace ?? ''
  for (const volume of pod.spec?.volumes ?? []) {
    if (volume.ephemeral === undefined) continue
    const name = ephemeralClaimName(pod, volume)
    const present = informers.of(claims).get(name, namespace)
    if (present !== undefined) {
      if (isOwnedBy(present, pod)) continue
      const key = `${namespace}/${name}`
      const problem = `PVC ${key} was not created for pod ${namespace}/${pod.metadata.name} (pod is not owner)`
      events.warning(pod, 'FailedBinding', `ephemeral volume ${volume.name}: ${problem}`)
      context.onError(new Error(`the claim ${key} is not owned by the pod`))
      continue
    }
    const { metadata: { labels, annotations } = {}, spec } = volume.ephemeral.volumeClaimTemplate ?? {}
    const owner = { apiVersion: 'v1', kind: 'Pod', name: pod.metadata.name ?? '', uid: pod.metadata.uid ?? '' }
    const claim = structuredClone({
      metadata: {
        name,
        namespace,
        ...(labels === undefined ? {} : { labels }),
        ...(annotations === undefined ? {} : { annotations }),
        ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
      },
      spec: spec ?? {},
    })
    await ignoreCreateConflict(client.create(claims, claim as never, { fieldManager, signal }))
  }
}
