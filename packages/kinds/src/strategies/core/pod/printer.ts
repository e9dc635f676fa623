import type { DeepReadonly } from '@krmkit/meta'
import type { Printer, RowCondition } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn, wide } from '../../../printers/columns.ts'
import { humanDuration, parseTimestamp, since } from '../../../printers/duration.ts'
import type { Container, ContainerState, ContainerStatus, Pod, PodCondition } from '../../../types/core-v1.generated.ts'

export const podPrinter: Printer<Pod> = {
  columns: [
    nameColumn,
    column('Ready', 'string', 'Ready containers out of those that run for the lifetime of the pod.'),
    column('Status', 'string', 'State of the pod, or the reason why containers do not run.'),
    column('Restarts', 'string', 'Number of container restarts, and the time since the last one.'),
    ageColumn,
    wide('IP', 'string', 'First address of the pod.'),
    wide('Node', 'string', 'Node that runs the pod.'),
    wide('Nominated Node', 'string', 'Node on which the scheduler preempts pods for this one.'),
    wide('Readiness Gates', 'string', 'Readiness gates with a true condition out of all.'),
  ],
  cells(pod, { now }) {
    const summary = summarize(pod)
    return [
      pod.metadata.name ?? '',
      `${summary.ready}/${summary.total}`,
      summary.reason,
      restartsText(summary.restarts, now),
      since(pod.metadata.creationTimestamp, now),
      pod.status?.podIPs?.[0]?.ip || pod.status?.podIP || '<none>',
      pod.spec?.nodeName || '<none>',
      pod.status?.nominatedNodeName || '<none>',
      readinessGates(pod),
    ]
  },
  conditions(pod) {
    return completed[pod.status?.phase ?? ''] ?? []
  },
}

/** Row conditions of pods that have ended. */
const completed: Readonly<Record<string, readonly RowCondition[]>> = {
  Succeeded: [{ type: 'Completed', status: 'True', reason: 'Succeeded', message: 'The pod has completed successfully.' }],
  Failed: [{ type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' }],
}

/** Number of restarts, and the latest time at which a restarted container ended. */
interface Restarts {
  count: number
  last: number | undefined
}

interface Summary {
  reason: string
  ready: number
  total: number
  restarts: Restarts
}

/** The status of a pod in 1.35: a container that failed is named before others that completed. */
export function laterPodReason(pod: DeepReadonly<Pod>): string {
  return summarize(pod, { namesErrors: true }).reason
}

interface ReasonRules {
  /** Errors of containers precede their completion. Default false. */
  readonly namesErrors?: boolean
}

/** The reason comes from init containers while they run, then from containers; deletion overrides both. */
function summarize(pod: DeepReadonly<Pod>, rules: ReasonRules = {}): Summary {
  const conditions = pod.status?.conditions ?? []
  const sidecars = new Set((pod.spec?.initContainers ?? []).filter(isSidecar).map(({ name }) => name))
  const summary: Summary = {
    reason: firstReason(pod, conditions),
    ready: 0,
    total: (pod.spec?.containers?.length ?? 0) + sidecars.size,
    restarts: { count: 0, last: undefined },
  }
  const ofSidecars: Restarts = { count: 0, last: undefined }
  const initializing = readInitContainers(pod, { sidecars, summary, ofSidecars })
  if (!initializing || isTrue(conditions, 'Initialized')) {
    summary.restarts = ofSidecars
    readContainers(pod, summary, rules)
  }
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (pod.status?.reason === 'NodeLost') summary.reason = 'Unknown'
    else if (pod.status?.phase !== 'Failed' && pod.status?.phase !== 'Succeeded') summary.reason = 'Terminating'
  }
  return summary
}

function firstReason(pod: DeepReadonly<Pod>, conditions: DeepReadonly<PodCondition[]>): string {
  const gated = conditions.some(({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated')
  return gated ? 'SchedulingGated' : pod.status?.reason || pod.status?.phase || ''
}

interface InitParts {
  readonly sidecars: ReadonlySet<string>
  readonly summary: Summary
  readonly ofSidecars: Restarts
}

/** Reads init containers up to the first unfinished one. @returns whether there is one. */
function readInitContainers(pod: DeepReadonly<Pod>, { sidecars, summary, ofSidecars }: InitParts): boolean {
  const statuses = pod.status?.initContainerStatuses ?? []
  for (const [index, status] of statuses.entries()) {
    const sidecar = sidecars.has(status.name)
    countRestarts(summary.restarts, status)
    if (sidecar) countRestarts(ofSidecars, status)
    const terminated = status.state?.terminated
    if (terminated && terminated.exitCode === 0) continue
    if (sidecar && status.started === true) {
      if (status.ready) summary.ready++
      continue
    }
    const waiting = status.state?.waiting?.reason
    if (terminated) summary.reason = `Init:${terminatedText(terminated)}`
    else if (waiting && waiting !== 'PodInitializing') summary.reason = `Init:${waiting}`
    else summary.reason = `Init:${index}/${pod.spec?.initContainers?.length ?? 0}`
    return true
  }
  return false
}

/** The reason of the first container in the list that has one wins. */
function readContainers(pod: DeepReadonly<Pod>, summary: Summary, { namesErrors = false }: ReasonRules): void {
  let running = false
  let error: string | undefined
  for (const status of [...(pod.status?.containerStatuses ?? [])].reverse()) {
    countRestarts(summary.restarts, status)
    const { waiting, terminated } = status.state ?? {}
    if (waiting?.reason) summary.reason = waiting.reason
    else if (terminated) {
      summary.reason = terminatedText(terminated)
      if (terminated.exitCode !== 0) error = summary.reason
    } else if (status.ready && status.state?.running) {
      running = true
      summary.ready++
    }
  }
  if (summary.reason !== 'Completed') return
  if (running && isTrue(pod.status?.conditions ?? [], 'Ready')) summary.reason = 'Running'
  else if (namesErrors && error !== undefined) summary.reason = error
  else if (running) summary.reason = 'NotReady'
}

function terminatedText({ reason, signal, exitCode }: DeepReadonly<NonNullable<ContainerState['terminated']>>): string {
  return reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`)
}

function countRestarts(restarts: Restarts, status: DeepReadonly<ContainerStatus>): void {
  restarts.count += status.restartCount ?? 0
  const ended = parseTimestamp(status.lastState?.terminated?.finishedAt)
  if (ended !== undefined && (restarts.last === undefined || ended > restarts.last)) restarts.last = ended
}

function restartsText({ count, last }: Restarts, now: number): string {
  if (count === 0 || last === undefined) return String(count)
  return `${count} (${humanDuration(now - last)} ago)`
}

function isSidecar({ restartPolicy }: DeepReadonly<Container>): boolean {
  return restartPolicy === 'Always'
}

/** Whether the first condition of the type is true. */
function isTrue(conditions: DeepReadonly<PodCondition[]>, type: string): boolean {
  return conditions.find((each) => each.type === type)?.status === 'True'
}

function readinessGates(pod: DeepReadonly<Pod>): string {
  const gates = pod.spec?.readinessGates ?? []
  if (gates.length === 0) return '<none>'
  const statuses = new Map<string, string>()
  for (const { type, status } of pod.status?.conditions ?? []) if (!statuses.has(type)) statuses.set(type, status)
  const passed = gates.filter(({ conditionType }) => statuses.get(conditionType) === 'True')
  return `${passed.length}/${gates.length}`
}
