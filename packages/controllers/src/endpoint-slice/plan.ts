import { sameJson } from '../framework/same-json.ts'
import { canonicalText } from '../workloads/canonical-text.direct.ts'
import type { Endpoint, EndpointPort, EndpointSlice, ReadonlySlice } from './objects.ts'

/** Endpoints with the same ports. */
export interface EndpointGroup {
  readonly ports: readonly EndpointPort[]
  readonly endpoints: Endpoint[]
}

export interface SlicePlanOptions {
  /** Existing slices of one address type. */
  readonly existing: readonly ReadonlySlice[]
  readonly groups: readonly EndpointGroup[]
  /** Builds an empty slice with these ports. */
  readonly build: (ports: readonly EndpointPort[]) => EndpointSlice
  readonly maxPerSlice: number
  /** Whether one slice without endpoints is kept when there are no endpoints. */
  readonly keepsPlaceholder: boolean
}

export interface SlicePlan {
  readonly create: EndpointSlice[]
  readonly update: EndpointSlice[]
  readonly delete: ReadonlySlice[]
}

/**
 * Distributes endpoints over slices with few changes: endpoints stay in their slice, slices that change anyway are filled
 * first, and the remaining endpoints go into one unchanged slice or into new slices.
 */
export function planSlices(options: SlicePlanOptions): SlicePlan {
  const { existing, groups, build, keepsPlaceholder } = options
  const plan: SlicePlan = { create: [], update: [], delete: [] }
  const byPorts = new Map<string, ReadonlySlice[]>()
  for (const slice of existing) {
    const key = portsKey(slice.ports ?? [])
    byPorts.set(key, [...(byPorts.get(key) ?? []), slice])
  }
  for (const group of groups) {
    const key = portsKey(group.ports)
    planGroup(group, byPorts.get(key) ?? [], { ...options, plan })
    byPorts.delete(key)
  }
  for (const slices of byPorts.values()) plan.delete.push(...slices)
  if (keepsPlaceholder && plan.delete.length === existing.length && plan.create.length === 0) {
    const placeholder = build([])
    const [only] = plan.delete
    if (plan.delete.length === 1 && only !== undefined && isPlaceholder(only, placeholder)) plan.delete.length = 0
    else plan.create.push(placeholder)
  }
  reuseDeleted(plan)
  return plan
}

/** Replaces pairs of a deleted and a created slice by an update. */
function reuseDeleted(plan: SlicePlan): void {
  while (plan.create.length > 0 && plan.delete.length > 0) {
    const created = plan.create.pop()!
    const { name = '', resourceVersion = '', uid = '' } = plan.delete.shift()!.metadata
    plan.update.push({ ...created, metadata: { ...created.metadata, name, resourceVersion, uid } })
  }
}

function isPlaceholder(slice: ReadonlySlice, placeholder: EndpointSlice): boolean {
  const isEmpty = (slice.endpoints ?? []).length === 0 && (slice.ports ?? []).length === 0
  return isEmpty && sameJson(slice.metadata.labels ?? {}, placeholder.metadata.labels ?? {})
}

export function portsKey(ports: readonly EndpointPort[]): string {
  return ports
    .map((port) => canonicalText(port))
    .sort()
    .join()
}

function planGroup(
  { ports, endpoints }: EndpointGroup,
  existing: readonly ReadonlySlice[],
  { build, maxPerSlice, plan }: SlicePlanOptions & { readonly plan: SlicePlan },
): void {
  const desired = new Map(endpoints.map((endpoint) => [identityOf(endpoint), endpoint]))
  const template = build(ports)
  const changed: EndpointSlice[] = []
  const unchanged: EndpointSlice[] = []
  for (const known of existing) {
    const slice = structuredClone(known) as EndpointSlice
    const before = slice.endpoints ?? []
    const kept: Endpoint[] = []
    for (const endpoint of before) {
      const wanted = desired.get(identityOf(endpoint))
      if (wanted === undefined) continue
      desired.delete(identityOf(endpoint))
      kept.push(wanted)
    }
    const isSame = sameJson(before, kept)
    const hasMetadata = hasSameMetadata(slice, template)
    slice.endpoints = kept
    slice.metadata.labels = { ...template.metadata.labels }
    if (template.metadata.annotations !== undefined) slice.metadata.annotations = { ...template.metadata.annotations }
    if (isSame && hasMetadata) unchanged.push(slice)
    else if (kept.length === 0 && !isSame) plan.delete.push(known)
    else changed.push(slice)
  }
  const rest = [...desired.values()]
  for (const slice of changed.sort((a, b) => (b.endpoints?.length ?? 0) - (a.endpoints?.length ?? 0)))
    fill(slice, rest, maxPerSlice)
  plan.update.push(...changed)
  while (rest.length > 0) {
    const spare = rest.length < maxPerSlice ? bestFit(unchanged, rest.length, maxPerSlice) : undefined
    const slice = spare ?? build(ports)
    fill(slice, rest, maxPerSlice)
    if (spare === undefined) plan.create.push(slice)
    else {
      unchanged.splice(unchanged.indexOf(spare), 1)
      plan.update.push(spare)
    }
  }
}

function fill(slice: EndpointSlice, rest: Endpoint[], maxPerSlice: number): void {
  const endpoints = slice.endpoints ?? []
  slice.endpoints = [...endpoints, ...rest.splice(0, Math.max(0, maxPerSlice - endpoints.length))]
}

/** Returns the slice that is fullest after `count` endpoints are added. */
function bestFit(slices: readonly EndpointSlice[], count: number, maxPerSlice: number): EndpointSlice | undefined {
  const lengthOf = ({ endpoints }: EndpointSlice) => endpoints?.length ?? 0
  return slices
    .filter((slice) => lengthOf(slice) + count <= maxPerSlice)
    .reduce<EndpointSlice | undefined>(
      (best, slice) => (best !== undefined && lengthOf(best) >= lengthOf(slice) ? best : slice),
      undefined,
    )
}

function hasSameMetadata({ metadata }: EndpointSlice, template: EndpointSlice): boolean {
  const { labels = {}, annotations } = template.metadata
  if (!sameJson(metadata.labels ?? {}, labels)) return false
  return annotations === undefined || sameJson(metadata.annotations ?? {}, annotations)
}

/** Identifies an endpoint independently of its conditions. */
function identityOf({ addresses, hostname = '', targetRef }: Endpoint): string {
  return JSON.stringify([[...addresses].sort(), hostname, targetRef?.namespace ?? '', targetRef?.name ?? ''])
}
