import { resourceType } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import { ControllersError } from '../controllers-error.ts'
import { ignoreNotFound } from '../framework/api-errors.ts'
import type { Metadata } from '../framework/monitors.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { RequeueAfter } from '../framework/work-queue.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { type NamespaceCondition, namespaceConditions } from './conditions.ts'
import { deleteContent } from './content.ts'

export interface Namespace extends ApiObject {
  spec?: { finalizers?: string[] }
  status?: { phase?: string; conditions?: NamespaceCondition[] }
}

export const namespaces = resourceType<Namespace>({
  group: '',
  version: 'v1',
  resource: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
})

/** The finalizer that this controller removes. A fixed name in every naming profile. */
const namespaceFinalizer = 'kubernetes'
/** Delay before resources that cannot be watched are listed again. */
const requeueAfterMs = 15_000

/**
 * Deletes the content of terminating namespaces, then removes their finalizer.
 *
 *     terminating --objects remain--> waits for deletions --> terminating
 *                 \--empty--> finalizer removed
 *
 * @see API protocol specification, 2.1 and 3
 */
export const namespaceController: Controller = {
  name: 'namespace-controller',
  start(context) {
    const terminating = new Set<string>()
    const queue = context.queue<string>({ sync: (name) => empty(name, context) })
    const enqueue = (name: string, isTerminating: boolean) => {
      if (!isTerminating) {
        terminating.delete(name)
        return
      }
      terminating.add(name)
      queue.add(name)
    }
    const leaveNamespaces = context.informers.of(namespaces).on({
      added: ({ metadata }) => enqueue(metadata.name ?? '', metadata.deletionTimestamp !== undefined),
      updated: ({ metadata }) => enqueue(metadata.name ?? '', metadata.deletionTimestamp !== undefined),
      deleted: ({ metadata }) => enqueue(metadata.name ?? '', false),
    })
    const gone = (_: unknown, { metadata: { namespace } }: Metadata) => {
      if (namespace !== undefined && terminating.has(namespace)) queue.add(namespace)
    }
    const leaveMonitors = context.monitors.on({
      deleted: gone,
      dropped: gone,
      discovered: () => {
        for (const name of terminating) queue.add(name)
      },
    })
    return disposeSubscriptions([leaveNamespaces, leaveMonitors])
  },
}

async function empty(name: string, context: ControllerContext): Promise<RequeueAfter | undefined> {
  const { client, metadata, monitors, clock, fieldManager, signal } = context
  const namespace = await ignoreNotFound(client.get(namespaces, name, { signal }))
  if (namespace?.metadata.deletionTimestamp === undefined) return undefined
  const finalizers = namespace.spec?.finalizers ?? []
  if (!finalizers.includes(namespaceFinalizer)) return undefined
  const obstacles = await deleteContent(name, { client: metadata, discovered: await monitors.discovered(), signal })

  const { status = {} } = namespace
  const before = status.conditions ?? []
  const conditions = namespaceConditions(before, obstacles, clock.now())
  let current: Namespace | undefined = namespace
  if (conditions !== before) {
    const changed = { ...namespace, status: { ...status, conditions: [...conditions] } }
    current = await ignoreNotFound(client.update(namespaces, changed, { subresource: 'status', fieldManager, signal }))
  }
  if (obstacles.deletion.length > 0 || obstacles.discovery.length > 0) {
    throw new ControllersError({
      code: 'NotEmptied',
      message: `the namespace ${name} could not be emptied: ${[...obstacles.discovery, ...obstacles.deletion].join('; ')}`,
    })
  }
  if (obstacles.remaining.length > 0) {
    // Deletions of monitored resources cause events; others are polled.
    return obstacles.remaining.every(({ resource }) => monitors.of(resource) !== undefined) ? undefined : { requeueAfterMs }
  }
  if (current === undefined) return undefined
  const spec = { ...current.spec, finalizers: finalizers.filter((finalizer) => finalizer !== namespaceFinalizer) }
  await ignoreNotFound(client.update(namespaces, { ...current, spec }, { subresource: 'finalize', fieldManager, signal }))
  return undefined
}
