import type { ApiObject, DeepReadonly, NamingProfile } from '@krmkit/meta'

/** Computes the taints that follow from the conditions of a node. */

export interface Taint {
  key: string
  value?: string
  effect: string
  /** RFC 3339. */
  timeAdded?: string
}

export interface Node extends ApiObject {
  spec?: { taints?: Taint[]; unschedulable?: boolean }
  status?: { conditions?: { type: string; status: string }[] }
}

/** Suffix of the taint key by condition type and status. */
const taintsOfConditions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: 'not-ready', Unknown: 'unreachable' },
  MemoryPressure: { True: 'memory-pressure' },
  DiskPressure: { True: 'disk-pressure' },
  PIDPressure: { True: 'pid-pressure' },
  NetworkUnavailable: { True: 'network-unavailable' },
}
const unschedulable = 'unschedulable'
const managed = new Set([...Object.values(taintsOfConditions).flatMap((keys) => Object.values(keys)), unschedulable])
/** Taints that also evict running pods. */
const evicting = new Set(['not-ready', 'unreachable'])

/**
 * Returns the taints of a node: unmanaged taints unchanged, and the taints that its conditions require. A node without a
 * Ready condition is not ready.
 *
 * @returns undefined when the taints are already correct
 */
export function desiredTaints(node: DeepReadonly<Node>, { domain }: NamingProfile, now: string): Taint[] | undefined {
  const prefix = `node.${domain}/`
  const present = node.spec?.taints ?? []
  const keys = desiredTaintKeys(node)
  const isManaged = ({ key, effect }: DeepReadonly<Taint>): boolean => {
    const name = key.startsWith(prefix) ? key.slice(prefix.length) : ''
    return managed.has(name) && (effect === 'NoSchedule' || (effect === 'NoExecute' && evicting.has(name)))
  }
  const desired = keys.flatMap((name) => [
    { key: prefix + name, effect: 'NoSchedule' },
    ...(evicting.has(name) && hasReadiness(node) ? [{ key: prefix + name, effect: 'NoExecute' }] : []),
  ])
  const same = (a: DeepReadonly<Taint>, b: DeepReadonly<Taint>) => a.key === b.key && a.effect === b.effect
  const kept = present.filter((taint) => !isManaged(taint) || desired.some((each) => same(each, taint)))
  const added = desired.filter((each) => !present.some((taint) => same(each, taint)))
  if (added.length === 0 && kept.length === present.length) return undefined
  return [...kept, ...added.map((taint) => (taint.effect === 'NoExecute' ? { ...taint, timeAdded: now } : taint))]
}

function hasReadiness({ status }: DeepReadonly<Node>): boolean {
  return (status?.conditions ?? []).some(({ type }) => type === 'Ready')
}

function desiredTaintKeys(node: DeepReadonly<Node>): string[] {
  const keys = (node.status?.conditions ?? []).flatMap(({ type, status }) => {
    const key = Object.hasOwn(taintsOfConditions, type) ? taintsOfConditions[type]?.[status] : undefined
    return key === undefined ? [] : [key]
  })
  const neverReady = !hasReadiness(node) && (node.spec?.taints ?? []).some(({ key }) => key.endsWith('/not-ready'))
  return [
    ...new Set([...keys, ...(neverReady ? ['not-ready'] : []), ...(node.spec?.unschedulable === true ? [unschedulable] : [])]),
  ]
}
