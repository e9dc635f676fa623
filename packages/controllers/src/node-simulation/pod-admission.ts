import type { DeepReadonly } from '@krmkit/meta'
import { nodeAffinity, nodePorts, type ResourceShortage, resourceShortages } from '../scheduler/filters.ts'
import { NodeInfo, type PodInfo, podInfo } from '../scheduler/node-info.ts'
import { untoleratedTaint } from '../workloads/node-selection.ts'
import type { Node } from '../workloads/objects.ts'
import type { ReadonlyPod } from './objects.ts'
import type { ResizeObstacle } from './pod-resize.ts'

/** The reason why a kubelet rejects a pod that is bound to its node. */
export interface PodRefusal {
  readonly reason: string
  readonly message: string
}

type ReadonlyNode = DeepReadonly<Node>

const osName = 'linux'
/** Sysctls that pods may set without a permission of the node. */
const safeSysctls: ReadonlySet<string> = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ping_group_range',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.tcp_wmem',
])

/**
 * Admission of pods by a kubelet: checks resources, ports and the like again, because pods may be bound without the
 * scheduler.
 */
export class PodAdmission {
  readonly #pods = new Map<string, PodInfo>()
  #node: NodeInfo | undefined

  /**
   * Admits a pod and counts its requests until it is removed.
   *
   * @param node absent for a pod that already runs, which is not checked
   * @returns why the node rejects the pod; undefined when it is admitted
   */
  admit(pod: ReadonlyPod, node: ReadonlyNode | undefined): PodRefusal | undefined {
    const info = podInfo(pod)
    const refusal = node === undefined ? undefined : this.#refusal(pod, info, node)
    if (refusal !== undefined) return refusal
    this.#pods.set(info.uid, info)
    this.#node?.add(info)
    return undefined
  }

  /**
   * Admits the changed resources of a running pod.
   *
   * @returns why the node rejects the change, undefined when it is admitted; a rejected pod keeps its resources
   */
  resize(pod: ReadonlyPod, node: ReadonlyNode): ResizeObstacle | undefined {
    // The current resources of the pod itself do not count as used.
    const { status: _, ...desired } = pod
    const info = podInfo(desired)
    const before = this.#pods.get(info.uid)
    const view = this.#viewOf(node)
    for (const name of ['memory', 'cpu']) {
      const [requested, capacity] = [info.requests.get(name) ?? 0, view.allocatable.get(name) ?? 0]
      const message = `Node didn't have enough capacity: ${name}, requested: ${requested}, capacity: ${capacity}`
      if (requested > capacity) return { reason: 'Infeasible', message }
    }
    view.remove(info.uid)
    const [shortage] = resourceShortages(info, view)
    if (shortage !== undefined) {
      if (before !== undefined) view.add(before)
      return { reason: 'Deferred', message: shortageText(shortage) }
    }
    this.#pods.set(info.uid, info)
    view.add(info)
    return undefined
  }

  /** Frees the requests of a pod. */
  remove(uid: string): void {
    if (this.#pods.delete(uid)) this.#node?.remove(uid)
  }

  #refusal({ spec }: ReadonlyPod, info: PodInfo, node: ReadonlyNode): PodRefusal | undefined {
    const { os, securityContext, tolerations } = spec ?? {}
    const sysctl = securityContext?.sysctls?.find(({ name }) => !safeSysctls.has(name.replaceAll('/', '.')))
    if (sysctl !== undefined) {
      return { reason: 'SysctlForbidden', message: `forbidden sysctl: ${JSON.stringify(sysctl.name)} not allowlisted` }
    }
    if (os !== undefined && os.name !== osName) {
      return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" }
    }
    const view = this.#viewOf(node)
    const [shortage] = resourceShortages(info, view).filter(({ name }) => !isUnknownExtended(name, node))
    if (shortage !== undefined) return { reason: `OutOf${shortage.name}`, message: shortageText(shortage) }
    const refusal = nodeAffinity(info, view) ?? nodePorts(info, view)
    if (refusal !== undefined) return failed(refusal.plugin, refusal.reasons[0] ?? '')
    const taint = untoleratedTaint(node.spec?.taints, tolerations, ['NoExecute'])
    return taint === undefined ? undefined : failed('TaintToleration', "node(s) had taints that the pod didn't tolerate")
  }

  #viewOf(node: ReadonlyNode): NodeInfo {
    if (this.#node?.node !== node) this.#node = new NodeInfo(node, this.#pods.values())
    return this.#node
  }
}

function shortageText({ name, requested, used, capacity }: ResourceShortage): string {
  return `Node didn't have enough resource: ${name}, requested: ${requested}, used: ${used}, capacity: ${capacity}`
}

function failed(name: string, description: string): PodRefusal {
  return { reason: name, message: `Predicate ${name} failed: ${description}` }
}

/** An extended resource that the node does not list is ignored, because it may be a cluster-level resource. */
function isUnknownExtended(name: string, { status }: ReadonlyNode): boolean {
  return name.includes('/') && status?.allocatable?.[name] === undefined
}
