import { type Client, type ResourceRef, subresourceType } from '@krmkit/client'
import { type ApiObject, controllerOf, type DeepReadonly } from '@krmkit/meta'
import { ControllersError } from '../controllers-error.ts'
import { ignoreNotFound } from '../framework/api-errors.ts'
import type { Monitors } from '../framework/monitors.ts'
import type { Pod } from './budget.ts'

interface Scale extends ApiObject {
  spec?: { replicas?: number }
}

export interface ScaleOptions {
  readonly client: Client
  /** Answers with metadata alone. */
  readonly metadata: Client
  readonly monitors: Monitors
  readonly signal: AbortSignal
}

/**
 * How many pods the controllers of these pods want in all, each controller counted once. A pod without a controller counts
 * for nothing.
 *
 * @throws ControllersError `NoScale` for a controller that is not there or does not tell.
 */
export async function expectedScale(pods: readonly DeepReadonly<Pod>[], options: ScaleOptions): Promise<number> {
  const asked = new Map<string, Promise<Found>>()
  for (const pod of pods) {
    const owner = controllerOf(pod.metadata.ownerReferences)
    if (owner === undefined || asked.has(owner.uid)) continue
    asked.set(owner.uid, scaleOf(owner, pod.metadata.namespace ?? '', options))
  }
  const byUid = new Map((await Promise.all(asked.values())).map(({ uid, replicas }) => [uid, replicas]))
  return [...byUid.values()].reduce((sum, replicas) => sum + replicas, 0)
}

interface Found {
  readonly uid: string
  readonly replicas: number
}

type Owner = { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string }

/** Of a controller that is itself controlled by something with a scale (a ReplicaSet of a Deployment), that one's is asked. */
async function scaleOf(owner: Owner, namespace: string, options: ScaleOptions): Promise<Found> {
  const resource = await scalableResource(owner, options)
  if (resource === undefined) throw noScale(owner)
  const { metadata: client, signal } = options
  const object = await ignoreNotFound(client.get(resource, owner.name, { namespace, signal }))
  if (object?.metadata.uid !== owner.uid) throw noScale(owner)
  const above = controllerOf(object.metadata.ownerReferences)
  if (above !== undefined && (await scalableResource(above, options)) !== undefined) return scaleOf(above, namespace, options)
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
    message: `the controller ${kind} ${JSON.stringify(name)} does not tell how many pods it wants`,
  })
}
