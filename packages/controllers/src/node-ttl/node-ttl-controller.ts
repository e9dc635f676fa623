import type { DeepReadonly } from '@krmkit/meta'
import { ignoreNotFound } from '../framework/api-errors.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller } from '../interfaces.ts'
import { type Node, nodes } from '../workloads/objects.ts'

interface Step {
  /**
   * Range of node counts of this step. Below `min` or above `max` the neighbouring step applies; ranges overlap, so that a
   * cluster does not alternate between two steps.
   */
  readonly min: number
  readonly max: number
  readonly ttlSeconds: number
}

const steps: readonly Step[] = [
  { min: 0, max: 100, ttlSeconds: 0 },
  { min: 90, max: 500, ttlSeconds: 15 },
  { min: 450, max: 1000, ttlSeconds: 30 },
  { min: 900, max: 2000, ttlSeconds: 60 },
  { min: 1800, max: Number.POSITIVE_INFINITY, ttlSeconds: 300 },
]

/** Annotates nodes with the time for which kubelets may cache objects: the time grows with the cluster. */
export const nodeTtlController: Controller = {
  name: 'ttl-controller',
  isDefault: false,
  start({ client, fieldManager, informers, profile, queue, rateLimit, signal }) {
    const annotation = `node.alpha.${profile.domain}/ttl`
    const known = informers.of(nodes)
    let at = 0
    const work = queue<string>({
      async sync(name) {
        const node = known.get(name)
        const ttl = String(steps[at]?.ttlSeconds)
        if (node === undefined || node.metadata.annotations?.[annotation] === ttl) return undefined
        const patch = { metadata: { annotations: { [annotation]: ttl } } }
        await ignoreNotFound(client.patch(nodes, name, { type: 'merge', patch, fieldManager, signal }))
        return undefined
      },
      rateLimit,
    })
    const resize = () => {
      const before = at
      const count = known.list().length
      while (count > (steps[at]?.max ?? 0)) at++
      while (count < (steps[at]?.min ?? 0)) at--
      if (at !== before) for (const { metadata } of known.list()) work.add(metadata.name ?? '')
    }
    const enqueue = ({ metadata }: DeepReadonly<Node>) => work.add(metadata.name ?? '')
    const added = (node: DeepReadonly<Node>) => {
      resize()
      enqueue(node)
    }
    return disposeSubscriptions([known.on({ added, updated: enqueue, deleted: resize })])
  },
}
