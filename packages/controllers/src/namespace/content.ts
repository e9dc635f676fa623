import type { Client } from '@krmkit/client'
import { ApiError, type ApiObject } from '@krmkit/meta'
import { ignoreNotFound } from '../framework/api-errors.ts'
import type { DiscoveredResource, Discovery } from '../framework/discovery.ts'
import { type DeletionObstacles, type Remaining, resourceName } from './conditions.ts'

export interface ContentOptions {
  /** Client that returns only metadata. */
  readonly client: Client
  readonly discovered: Discovery
  readonly signal: AbortSignal
}

const maxConcurrency = 16

/**
 * Deletes all objects of a namespace. Pods are deleted first; other objects are kept until no pod is left, because
 * terminating pods may need them.
 *
 * @returns what prevents the deletion of the namespace
 */
export async function deleteContent(namespace: string, options: ContentOptions): Promise<DeletionObstacles> {
  const { discovered } = options
  const remaining: Remaining[] = []
  const finalizers = new Map<string, number>()
  const deletion: string[] = []
  const deletable = discovered.preferred.filter(({ namespaced, verbs }) => namespaced && verbs.has('delete') && verbs.has('list'))
  const isPods = ({ group, resource }: DiscoveredResource) => group === '' && resource === 'pods'

  const empty = async (resource: DiscoveredResource): Promise<void> => {
    try {
      const left = await emptyResource(resource, namespace, options)
      if (left.length > 0) remaining.push({ resource, count: left.length })
      for (const { metadata } of left)
        for (const finalizer of metadata.finalizers ?? []) finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1)
    } catch (error) {
      options.signal.throwIfAborted()
      deletion.push(`${resourceName(resource)}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  await forEachConcurrently(deletable.filter(isPods), empty)
  if (remaining.length === 0 && deletion.length === 0)
    await forEachConcurrently(
      deletable.filter((resource) => !isPods(resource)),
      empty,
    )
  return {
    discovery: [...discovered.failures].map(([version, why]) => `${version}: ${why}`),
    parsing: [],
    deletion,
    remaining,
    finalizers,
  }
}

/** Deletes the objects of one resource. @returns those that remain */
async function emptyResource(
  resource: DiscoveredResource,
  namespace: string,
  options: ContentOptions,
): Promise<readonly ApiObject[]> {
  const { client, signal } = options
  const objects = await listAll(resource, namespace, options)
  if (objects.length === 0) return objects
  if (resource.verbs.has('deletecollection')) {
    try {
      await client.deleteCollection(resource, { namespace, signal, propagationPolicy: 'Background' })
      return listAll(resource, namespace, options)
    } catch (error) {
      if (!(ApiError.is(error) && error.code === 405)) throw error
    }
  }
  for (const { metadata } of objects) {
    if (metadata.deletionTimestamp !== undefined) continue
    await ignoreNotFound(client.delete(resource, metadata.name ?? '', { namespace, signal, propagationPolicy: 'Background' }))
  }
  return listAll(resource, namespace, options)
}

async function listAll(
  resource: DiscoveredResource,
  namespace: string,
  { client, signal }: ContentOptions,
): Promise<readonly ApiObject[]> {
  const objects: ApiObject[] = []
  try {
    for await (const page of client.listPages(resource, { namespace, signal })) objects.push(...page.items)
  } catch (error) {
    // The resource is no longer served.
    if (ApiError.is(error) && (error.code === 404 || error.code === 405)) return []
    throw error
  }
  return objects
}

async function forEachConcurrently<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items]
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(maxConcurrency, items.length) }, worker))
}
