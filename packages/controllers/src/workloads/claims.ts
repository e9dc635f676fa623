import type { ResourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly, JsonObject, OwnerReference } from '@krmkit/meta'
import type { LabelSelector } from '@krmkit/meta/selectors'
import { controllerOf } from '@krmkit/meta/validation'
import { ignoreNotFound, ignoreReasons } from '../framework/api-errors.ts'
import type { ControllerContext } from '../interfaces.ts'

/** Ownership of pods and other objects by controllers: adoption and release. */

/** Returns the group and version of a resource, as in `apiVersion`. */
function apiVersionOf({ group, version }: ResourceType): string {
  return group === '' ? version : `${group}/${version}`
}

/** Returns the reference of a controller in the objects that it creates. */
export function controllerReference(owner: DeepReadonly<ApiObject>, resource: ResourceType): OwnerReference {
  const { name = '', uid = '' } = owner.metadata
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, name, uid, controller: true, blockOwnerDeletion: true }
}

export interface ClaimOptions<T extends ApiObject> {
  readonly context: ControllerContext
  /** Resource of the owner. */
  readonly ownerResource: ResourceType
  /** Resource of the claimed objects. */
  readonly resource: ResourceType<T>
  readonly selector: LabelSelector
  /** Further condition for adoption and ownership. */
  readonly accepts?: (object: DeepReadonly<T>) => boolean
  /** Finalizer that is added on adoption and removed on release. */
  readonly finalizer?: string
}

/**
 * Returns the objects that belong to an owner. Adopts objects without a controller that the selector matches, and releases owned ones
 * that it no longer matches. A deleted owner neither adopts nor releases.
 */
export async function claim<T extends ApiObject>(
  owner: DeepReadonly<ApiObject>,
  candidates: readonly DeepReadonly<T>[],
  options: ClaimOptions<T>,
): Promise<DeepReadonly<T>[]> {
  const { selector, accepts = () => true } = options
  const { uid, deletionTimestamp } = owner.metadata
  const claimed: DeepReadonly<T>[] = []
  let mayAdopt: Promise<boolean> | undefined
  for (const object of candidates) {
    const { metadata } = object as DeepReadonly<ApiObject>
    const controller = controllerOf(metadata.ownerReferences)
    if (controller !== undefined && controller.uid !== uid) continue
    const matches = selector.matches(metadata.labels ?? {}) && accepts(object)
    if (controller !== undefined && matches) claimed.push(object)
    else if (deletionTimestamp !== undefined) continue
    else if (controller !== undefined) await release(owner, object, options)
    else if (matches && metadata.deletionTimestamp === undefined) {
      mayAdopt ??= isAlive(owner, options)
      if (!(await mayAdopt)) continue
      const adopted = await adopt(owner, object, options)
      if (adopted !== undefined) claimed.push(adopted as DeepReadonly<T>)
    }
  }
  return claimed
}

/** Checks the live owner, because the informer may not have delivered its deletion or recreation yet. */
async function isAlive<T extends ApiObject>(
  { metadata: { name = '', namespace = '', uid } }: DeepReadonly<ApiObject>,
  { context: { client, signal }, ownerResource }: ClaimOptions<T>,
): Promise<boolean> {
  const { metadata } = (await ignoreNotFound(client.get(ownerResource, name, { namespace, signal }))) ?? {}
  return metadata?.uid === uid && metadata?.deletionTimestamp === undefined
}

async function adopt<T extends ApiObject>(
  owner: DeepReadonly<ApiObject>,
  object: DeepReadonly<ApiObject>,
  { context, ownerResource, resource, finalizer }: ClaimOptions<T>,
): Promise<T | undefined> {
  const { client, fieldManager, signal } = context
  const { name = '', namespace = '', uid = '' } = object.metadata
  const metadata = {
    uid,
    ownerReferences: [{ ...controllerReference(owner, ownerResource) }],
    ...(finalizer === undefined ? {} : { finalizers: [finalizer] }),
  }
  const patch: JsonObject = { metadata }
  return ignoreNotFound(client.patch(resource, name, { namespace, type: 'strategic', patch, fieldManager, signal }))
}

/** Removes the reference to an owner from an object. */
export async function release<T extends ApiObject>(
  owner: DeepReadonly<ApiObject>,
  object: DeepReadonly<ApiObject>,
  { context, resource, finalizer }: Pick<ClaimOptions<T>, 'context' | 'resource' | 'finalizer'>,
): Promise<void> {
  const { client, fieldManager, signal } = context
  const { name = '', namespace = '', uid = '' } = object.metadata
  const metadata = {
    uid,
    ownerReferences: [{ $patch: 'delete', uid: owner.metadata.uid ?? '' }],
    ...(finalizer === undefined ? {} : { '$deleteFromPrimitiveList/finalizers': [finalizer] }),
  }
  const patch: JsonObject = { metadata }
  // Invalid means that the object no longer has the reference.
  const request = client.patch(resource, name, { namespace, type: 'strategic', patch, fieldManager, signal })
  await ignoreReasons(request, ['NotFound', 'Invalid'])
}
