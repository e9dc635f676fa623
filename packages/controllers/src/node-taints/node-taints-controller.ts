import { resourceType } from '@krmkit/client'
import { formatTime } from '@krmkit/meta'
import { ignoreNotFound } from '../framework/api-errors.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller } from '../interfaces.ts'
import { desiredTaints, type Node } from './desired-taints.ts'
import { HeartbeatMonitor } from './heartbeat-monitor.ts'

const nodes = resourceType<Node>({ group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false })

/**
 * Taints nodes according to their conditions, so that pods are not scheduled on unsuitable nodes, and marks nodes as unknown when their
 * heartbeats stop. Does not evict pods.
 */
export const nodeTaintsController: Controller = {
  name: 'node-lifecycle-controller',
  start(context) {
    const { client, informers, clock, profile, fieldManager, signal, queue } = context
    const monitor = new HeartbeatMonitor(context)
    const known = informers.of(nodes)
    const work = queue<string>({
      async sync(name) {
        const node = known.get(name)
        if (node === undefined) return undefined
        const taints = desiredTaints(node, profile, formatTime(clock.now()))
        if (taints === undefined) return undefined
        const next = structuredClone(node) as Node
        next.spec = { ...next.spec, taints }
        await ignoreNotFound(client.update(nodes, next, { fieldManager, signal }))
        return undefined
      },
    })
    const enqueue = ({ metadata }: { readonly metadata: { readonly name?: string } }) => work.add(metadata.name ?? '')
    const unsubscribe = known.on({ added: enqueue, updated: enqueue })
    return disposeSubscriptions([unsubscribe, () => void monitor[Symbol.asyncDispose]()])
  },
}
