import { type Informer, resourceType } from '@krmkit/client'
import { type ApiObject, formatTime } from '@krmkit/meta'
import { ignoreNotFound } from '../framework/api-errors.ts'
import type { RequeueAfter } from '../framework/work-queue.ts'
import type { ControllerContext } from '../interfaces.ts'
import { type Node, nodes, pods } from '../workloads/objects.ts'
import { podCondition } from '../workloads/pod-state.ts'
import { changePodStatus } from '../workloads/pod-status.ts'

interface Lease extends ApiObject {
  spec?: { renewTime?: string }
}

interface NodeCondition {
  type: string
  status: string
  reason?: string
  message?: string
  lastHeartbeatTime?: string | null
  lastTransitionTime?: string | null
}

const leases = resourceType<Lease>({ group: 'coordination.k8s.io', version: 'v1', resource: 'leases', kind: 'Lease' })

/** A node without a heartbeat for this time is marked as unknown. */
const gracePeriodMs = 50_000
/** Grace period of a node that has not reported a status yet. */
const startupGracePeriodMs = 60_000
const monitoredConditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']

/**
 * Marks nodes as unknown, and their pods as not ready, when their heartbeats stop.
 *
 * Differs: only nodes that have had a lease are monitored, so that nodes created by a test without a kubelet are not
 * changed.
 */
export class HeartbeatMonitor implements AsyncDisposable {
  readonly #context: ControllerContext
  readonly #nodes: Informer<Node>
  readonly #leases: Informer<Lease>
  /** The last heartbeat of a node, and when it was seen. */
  readonly #seen = new Map<string, { readonly heartbeat: string; readonly atMs: number }>()
  readonly #subscriptions: readonly (() => void)[]

  constructor(context: ControllerContext) {
    const { informers, profile } = context
    this.#context = context
    this.#nodes = informers.of(nodes)
    this.#leases = informers.of(leases, { fieldSelector: `metadata.namespace=${profile.nodeLeaseNamespace}` })
    const queue = context.queue<string>({ sync: (name) => this.#sync(name) })
    const enqueue = ({ metadata }: { readonly metadata: { readonly name?: string } }) => queue.add(metadata.name ?? '')
    this.#subscriptions = [
      context.heartbeats?.onEnd((name) => queue.add(name)) ?? (() => undefined),
      this.#leases.on({ added: enqueue, updated: enqueue }),
      this.#nodes.on({
        added: enqueue,
        updated: enqueue,
        deleted: ({ metadata }) => this.#seen.delete(metadata.name ?? ''),
      }),
    ]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const unsubscribe of this.#subscriptions) unsubscribe()
  }

  async #sync(name: string): Promise<RequeueAfter | undefined> {
    const { clock, profile } = this.#context
    const node = this.#nodes.get(name) as Node | undefined
    const lease = this.#leases.get(name, profile.nodeLeaseNamespace)
    if (node === undefined || (lease === undefined && !this.#seen.has(name))) return undefined
    const ready = conditionsOf(node).find(({ type }) => type === 'Ready')
    const heartbeat = `${lease?.spec?.renewTime ?? ''} ${ready?.status === 'Unknown' ? '' : (ready?.lastHeartbeatTime ?? '')}`
    const now = clock.now()
    const known = this.#seen.get(name)
    const seen = known?.heartbeat === heartbeat ? known : { heartbeat, atMs: now }
    this.#seen.set(name, seen)
    if (this.#context.heartbeats?.isBeating(name) === true) return undefined
    const deadline = seen.atMs + (ready === undefined ? startupGracePeriodMs : gracePeriodMs)
    if (now <= deadline) return ready?.status === 'Unknown' ? undefined : { requeueAfterMs: deadline - now + 1 }
    if (ready?.status !== 'Unknown') await this.#markUnknown(node)
    await this.#markPods(name)
    return undefined
  }

  async #markUnknown(node: Node): Promise<void> {
    const { client, clock, fieldManager, signal } = this.#context
    const lastTransitionTime = formatTime(clock.now())
    const before = conditionsOf(node)
    const missing = monitoredConditions.filter((type) => !before.some((condition) => condition.type === type))
    const conditions = [
      ...before.map((condition) =>
        !monitoredConditions.includes(condition.type) || condition.status === 'Unknown'
          ? condition
          : {
              ...condition,
              status: 'Unknown',
              reason: 'NodeStatusUnknown',
              message: 'Kubelet stopped posting node status.',
              lastTransitionTime,
            },
      ),
      ...missing.map((type) => ({
        type,
        status: 'Unknown',
        reason: 'NodeStatusNeverUpdated',
        message: 'Kubelet never posted node status.',
        lastHeartbeatTime: node.metadata.creationTimestamp ?? null,
        lastTransitionTime,
      })),
    ]
    const changed = { ...structuredClone(node), status: { ...structuredClone(node.status), conditions } } as Node
    await ignoreNotFound(client.update(nodes, changed, { subresource: 'status', fieldManager, signal }))
  }

  async #markPods(name: string): Promise<void> {
    const { client, signal } = this.#context
    const { items } = await client.list(pods, { fieldSelector: `spec.nodeName=${name}`, signal })
    for (const pod of items) {
      const ready = podCondition(pod as Parameters<typeof podCondition>[0], 'Ready')
      if (ready === undefined || ready.status === 'False') continue
      const { reason, message } = ready
      const details = { ...(reason === undefined ? {} : { reason }), ...(message === undefined ? {} : { message }) }
      const condition = { type: 'Ready', status: 'False', ...details }
      await ignoreNotFound(changePodStatus(pod as Parameters<typeof podCondition>[0], { condition }, this.#context))
    }
  }
}

function conditionsOf({ status }: Node): readonly NodeCondition[] {
  return (status?.conditions ?? []) as NodeCondition[]
}
