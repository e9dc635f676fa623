import { type Client, type ResourceRef, subresourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { controllerOf } from '@krmkit/meta/validation'
import { ControllersError } from '../controllers-error.ts'
import { ignoreNotFound } from '../framework/api-errors.ts'
import type { Monitors } from '../framework/monitors.ts'
import type { Pod } from './budget.ts'

interface Scale extends ApiObject {
  spec?: { replicas?: number }
}

export interface ScaleOptions {
  readonly client: Client
  /** Client that returns only metadata. */
  readonly metadata: Client
  readonly monitors: Monitors
  readonly signal: AbortSignal
}

/**
 * Returns the total replicas of the controllers of the pods, each controller counted once. Pods without a controller are
 * ignored.
 *
 * @throws ControllersError `NoScale` for a controller that is missing or has no scale subresource
 */
export async function expectedScale(pods: readonly DeepReadonly<Pod>[], options: ScaleOptions): Promise<number> {
  const requests = new Map<string, Promise<OwnerScale>>()
  for (const pod of pods) {
    const owner = controllerOf(pod.metadata.ownerReferences)
    if (owner === undefined || requests.has(owner.uid)) continue
    requests.set(owner.uid, scaleOf(owner, pod.metadata.namespace ?? '', options))
  }
  const byUid = new Map((await Promise.all(requests.values())).map(({ uid, replicas }) => [uid, replicas]))
  return [...byUid.values()].reduce((sum, replicas) => sum + replicas, 0)
}

interface OwnerScale {
  readonly uid: string
  readonly replicas: number
}

type Owner = { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string }

/** Returns the scale of an owner, or of the scalable controller above it, such as the Deployment of a ReplicaSet. */
async function scaleOf(owner: Owner, namespace: string, options: ScaleOptions): Promise<OwnerScale> {
  const resource = await scalableResource(owner, options)
  if (resource === undefined) throw noScale(owner)
  const { metadata: client, signal } = options
  const object = await ignoreNotFound(client.get(resource, owner.name, { namespace, signal }))
  if (object?.metadata.uid !== owner.uid) throw noScale(owner)
  const parent = controllerOf(object.metadata.ownerReferences)
  if (parent !== undefined && (await scalableResource(parent, options)) !== undefined) return scaleOf(parent, namespace, options)
  const type = subresourceType<Scale>(resource, { name: 'scale', apiVersion: 'autoscaling/v1', kind: 'Scale' })
  const scale = await ignoreNotFound(options.client.get(type, owner.name, { namespace, signal }))
  if (scale === undefined) throw noScale(owner)
  return { uid: owner.uid, replicas: scale.spec?.replicas ?? 0 }
}

async function scalableResource({ apiVersion, kind }: Owner, { monitors }: ScaleOptions): Promise<ResourceRef | undefined> {
  const resource = (await monitors.discovered()).ofKind(apiVersion, kind)
  return resource?.subresources.has('scale') ? resource : undefined
}

function noScale({ kind, name }: Owner): ControllersError {
  return new ControllersError({
    code: 'NoScale',
    message: `the controller ${kind} ${JSON.stringify(name)} has no scale`,
  })
}
