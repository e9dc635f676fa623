import type { ApiObject, DeepReadonly, NamingProfile } from '@krmkit/meta'

/** What the conditions of a node ask for. */

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

/** Condition, then status -> the last part of the key. */
const taintsOfConditions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: 'not-ready', Unknown: 'unreachable' },
  MemoryPressure: { True: 'memory-pressure' },
  DiskPressure: { True: 'disk-pressure' },
  PIDPressure: { True: 'pid-pressure' },
  NetworkUnavailable: { True: 'network-unavailable' },
}
const unschedulable = 'unschedulable'
const managed = new Set([...Object.values(taintsOfConditions).flatMap((keys) => Object.values(keys)), unschedulable])
/** Pods that are there have to go, too. */
const evicting = new Set(['not-ready', 'unreachable'])

/**
 * The taints that a node should have: those of others as they are, and those that its conditions ask for. A node that has never
 * said whether it is ready is not.
 *
 * @returns undefined when it has them already.
 */
export function desiredTaints(node: DeepReadonly<Node>, { domain }: NamingProfile, now: string): Taint[] | undefined {
  const prefix = `node.${domain}/`
  const present = node.spec?.taints ?? []
  const wanted = desiredTaintKeys(node)
  const isManaged = ({ key, effect }: DeepReadonly<Taint>): boolean => {
    const name = key.startsWith(prefix) ? key.slice(prefix.length) : ''
    return managed.has(name) && (effect === 'NoSchedule' || (effect === 'NoExecute' && evicting.has(name)))
  }
  const asked = wanted.flatMap((name) => [
    { key: prefix + name, effect: 'NoSchedule' },
    ...(evicting.has(name) && hasReadiness(node) ? [{ key: prefix + name, effect: 'NoExecute' }] : []),
  ])
  const same = (a: DeepReadonly<Taint>, b: DeepReadonly<Taint>) => a.key === b.key && a.effect === b.effect
  const kept = present.filter((taint) => !isManaged(taint) || asked.some((each) => same(each, taint)))
  const added = asked.filter((each) => !present.some((taint) => same(each, taint)))
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
  const never = !hasReadiness(node) && (node.spec?.taints ?? []).some(({ key }) => key.endsWith('/not-ready'))
  return [...new Set([...keys, ...(never ? ['not-ready'] : []), ...(node.spec?.unschedulable === true ? [unschedulable] : [])])]
}
