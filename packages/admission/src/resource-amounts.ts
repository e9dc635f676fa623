import { type DeepReadonly, Quantity } from '@krmkit/meta'
import type { Container, ContainerStatus, Pod } from './pod.ts'

/** Sums of container resources, by resource name. */

export type Amounts = ReadonlyMap<string, Quantity>

export function amountsOf(list: Readonly<Record<string, unknown>> | undefined): Map<string, Quantity> {
  const amounts = new Map<string, Quantity>()
  for (const name of Object.keys(list ?? {})) amounts.set(name, Quantity.parse(String(list?.[name])))
  return amounts
}

export function addTo(sum: Map<string, Quantity>, more: Amounts): void {
  for (const [name, amount] of more) {
    const before = sum.get(name)
    sum.set(name, before === undefined ? amount : before.add(amount))
  }
}

export function raiseAllTo(largest: Map<string, Quantity>, other: Amounts): void {
  for (const [name, amount] of other) raiseTo(largest, name, amount)
}

function raiseTo(largest: Map<string, Quantity>, name: string, amount: Quantity): void {
  const before = largest.get(name)
  if (before === undefined || before.compare(amount) < 0) largest.set(name, amount)
}

type ReadonlyPod = DeepReadonly<Pick<Pod, 'spec' | 'status'>>

interface PodAmountsOptions {
  /** Counts what containers have or are allocated while they are resized. Default: false. */
  readonly fromStatus?: boolean
}

/**
 * The effective requests or limits of a pod: the sum over its containers and sidecars, or, where that is larger, the amount of an init
 * container together with the sidecars started before it. Resources of the pod itself take the place of the sum.
 */
export function podAmounts(
  pod: ReadonlyPod,
  of: 'requests' | 'limits',
  { fromStatus = false }: PodAmountsOptions = {},
): Map<string, Quantity> {
  const { spec } = pod
  const resized = fromStatus ? reportedResources(pod) : undefined
  const amountsIn = (container: DeepReadonly<Container>) => containerAmounts(container, of, resized)
  const sum = new Map<string, Quantity>()
  for (const container of spec.containers ?? []) addTo(sum, amountsIn(container))
  const sidecars = new Map<string, Quantity>()
  const initPeak = new Map<string, Quantity>()
  for (const container of spec.initContainers ?? []) {
    const isSidecar = container.restartPolicy === 'Always'
    const amounts = isSidecar ? amountsIn(container) : amountsOf(container.resources?.[of])
    if (isSidecar) {
      addTo(sum, amounts)
      addTo(sidecars, amounts)
    }
    for (const [name, amount] of amounts) {
      const running = sidecars.get(name)
      raiseTo(initPeak, name, isSidecar || running === undefined ? (running ?? amount) : amount.add(running))
    }
  }
  raiseAllTo(sum, initPeak)
  for (const [name, amount] of amountsOf(spec.resources?.[of])) if (isPodLevelResource(name)) sum.set(name, amount)
  return sum
}

/** Whether a pod sets resources for all of its containers together. */
export function hasPodLevelResources({ spec: { resources } }: ReadonlyPod): boolean {
  return [resources?.requests, resources?.limits].some((list) => Object.keys(list ?? {}).some(isPodLevelResource))
}

function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-')
}

interface ReportedResources {
  readonly byContainer: ReadonlyMap<string, DeepReadonly<ContainerStatus>>
  /** Whether the node can never do the resize that the specification asks for. */
  readonly isInfeasible: boolean
}

/** The resources that the status of a pod reports, or `undefined` for a status without any. */
function reportedResources({ status }: ReadonlyPod): ReportedResources | undefined {
  const byContainer = new Map<string, DeepReadonly<ContainerStatus>>()
  for (const each of [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])])
    if (each.resources !== undefined) byContainer.set(each.name, each)
  if (byContainer.size === 0) return undefined
  const pending = status?.conditions?.find(({ type }) => type === 'PodResizePending')
  return { byContainer, isInfeasible: pending?.reason === 'Infeasible' }
}

/** The resources of a container; one that is resized keeps what it has until it has the new ones. */
function containerAmounts(
  { name, resources }: DeepReadonly<Container>,
  of: 'requests' | 'limits',
  reported: ReportedResources | undefined,
): Map<string, Quantity> {
  const current = reported?.byContainer.get(name)
  if (current === undefined) return amountsOf(resources?.[of])
  const amounts = reported?.isInfeasible ? new Map<string, Quantity>() : amountsOf(resources?.[of])
  raiseAllTo(amounts, amountsOf(current.resources?.[of]))
  if (of === 'requests') raiseAllTo(amounts, amountsOf(current.allocatedResources))
  return amounts
}
