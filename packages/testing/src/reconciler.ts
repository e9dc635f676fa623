import type { Client, Informer, ResourceRef } from '@krmkit/client'
import type { Controller, ControllerContext } from '@krmkit/controllers'
import type { RequeueAfter } from '@krmkit/controllers/framework'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { checkMembers, invalidOption } from './known-members.ts'

/** One object to reconcile. */
export interface ReconcileRequest<T extends ApiObject> {
  readonly name: string
  /** Empty for cluster-scoped objects. */
  readonly namespace: string
  /** The object in the cache of the informer; undefined if it was deleted. */
  readonly object: DeepReadonly<T> | undefined
  readonly client: Client
  /** Returns the objects of another resource from a shared, synced informer. */
  cached<R extends ApiObject>(resource: ResourceRef<R>): Promise<Informer<R>>
}

export interface ReconcilerOptions<T extends ApiObject> {
  readonly name: string
  /** Resource whose objects are reconciled after each change. */
  readonly resource: ResourceRef<T>
  /** May return a delay after which to run again. If it throws, it is retried with exponential backoff. */
  readonly reconcile: (request: ReconcileRequest<T>) => Promise<RequeueAfter | undefined>
}

/**
 * Creates a controller from a reconcile function, for `cluster.run`. The function never runs concurrently for the same
 * object.
 *
 * @throws TestingError `InvalidOption`
 * @see {@link createTestServer}
 * @example
 * import { ConfigMap } from '@krmkit/kinds/core/v1'
 * import { createTestServer, reconciler } from '@krmkit/testing'
 * const cluster = await createTestServer()
 * const labeler = reconciler({
 *   name: 'labeler',
 *   resource: ConfigMap,
 *   async reconcile({ name, namespace, object, client }) {
 *     if (object === undefined || object.metadata.labels?.['seen'] === 'true') return undefined
 *     const patch = { metadata: { labels: { seen: 'true' } } }
 *     await client.patch(ConfigMap, name, { namespace, type: 'merge', patch })
 *     return undefined
 *   },
 * })
 * cluster.run(labeler)
 */
export function reconciler<T extends ApiObject>(options: ReconcilerOptions<T>): Controller {
  checkMembers('reconciler', options, { name: true, resource: true, reconcile: true })
  const { name, resource, reconcile } = options
  if (typeof name !== 'string' || resource === undefined || typeof reconcile !== 'function') {
    throw invalidOption('reconciler needs a name, a resource and a function: { name, resource, reconcile }')
  }
  return { name, start: (context) => startReconciler(context, { resource, reconcile }) }
}

/** @throws TestingError `InvalidOption` */
export function checkControllers(controllers: readonly Controller[]): void {
  const isController = (value: Controller) => typeof value?.name === 'string' && typeof value.start === 'function'
  if (controllers.length === 0 || !controllers.every(isController))
    throw invalidOption('run needs controllers: those of reconciler(), or objects with a name and a function `start`')
}

function startReconciler<T extends ApiObject>(
  context: ControllerContext,
  { resource, reconcile }: Pick<ReconcilerOptions<T>, 'resource' | 'reconcile'>,
): AsyncDisposable {
  const { client, informers } = context
  const informer = informers.of(resource)
  const cached = async <R extends ApiObject>(other: ResourceRef<R>) => {
    const shared = informers.of(other)
    await shared.synced
    return shared
  }
  const queue = context.queue<string>({
    sync: (key) => {
      const [namespace = '', name = ''] = key.split('/')
      const object = namespace === '' ? informer.get(name) : informer.get(name, namespace)
      return reconcile({ name, namespace, object, client, cached })
    },
  })
  const enqueue = ({ metadata }: DeepReadonly<T>) => queue.add(`${metadata.namespace ?? ''}/${metadata.name ?? ''}`)
  const unsubscribe = informer.on({ added: enqueue, updated: enqueue, deleted: enqueue })
  return { [Symbol.asyncDispose]: async () => unsubscribe() }
}
