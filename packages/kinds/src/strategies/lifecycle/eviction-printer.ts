import type { Cell, Printer } from '../../interfaces.ts'
import { agedPrinter, column, wide } from '../../printers/columns.ts'
import { humanDuration, parseTimestamp, since } from '../../printers/duration.ts'
import { firstFew } from '../../printers/text.ts'
import { stateOf, targetCells } from './printers.ts'

/** The Table of Eviction of the group `lifecycle.k8s.io`. */

interface TargetResponder {
  readonly name?: string
  readonly state?: string
}

interface ResponderStatus {
  readonly name?: string
  readonly startTime?: string | null
  readonly heartbeatTime?: string | null
  readonly expectedCompletionTime?: string | null
  readonly completionTime?: string | null
  readonly message?: string | null
}

interface EvictionStatus {
  readonly requesters?: readonly { readonly name?: string; readonly intent?: string }[] | null
  readonly targetResponders?: readonly TargetResponder[] | null
  readonly responders?: readonly ResponderStatus[] | null
}

const unset = '<unset>'
const ended: readonly (string | undefined)[] = ['Canceled', 'Interrupted', 'Completed']

/** The last active responder, otherwise the last one that ended; and how many are active or ended. */
function currentResponder(responders: readonly TargetResponder[]): { current: TargetResponder | undefined; begun: number } {
  const active = responders.filter(({ state }) => state === 'Active')
  const past = responders.filter(({ state }) => ended.includes(state))
  return { current: active.at(-1) ?? past.at(-1), begun: active.length + past.length }
}

/** State of a responder, and when it is expected to finish. */
function progressCells(state: string | undefined, report: ResponderStatus, now: number): [state: string, finish: string] {
  if (ended.includes(state)) {
    const completed = state === 'Completed' && isTime(report.completionTime)
    return [completed ? `${state} (${since(report.completionTime, now)} ago)` : `${state}`, '-']
  }
  if (!isTime(report.startTime)) return [state ?? '', '<unknown>']
  return [`Started (${since(report.startTime, now)} ago)`, finishText(report.expectedCompletionTime, now)]
}

function isTime(time: string | null | undefined): time is string {
  return time !== undefined && time !== null
}

function finishText(time: string | null | undefined, now: number): string {
  const at = parseTimestamp(time)
  if (at === undefined) return '<unknown>'
  return at > now ? `in ${humanDuration(at - now)}` : `${humanDuration(now - at)} ago`
}

function requestersText(requesters: NonNullable<EvictionStatus['requesters']>): string {
  if (requesters.length === 0) return '<none>'
  const names = requesters.filter(({ intent }) => intent !== 'Withdrawn').map(({ name = '' }) => name)
  return names.length === 0 ? '<withdrawn>' : firstFew(names.sort(), 1)
}

function responderCells(status: EvictionStatus, now: number): { readonly shown: Cell[]; readonly wide: Cell[] } {
  const responders = status.targetResponders ?? []
  const { current, begun } = currentResponder(responders)
  const counted = `${current === undefined ? unset : current.name} (${begun}/${responders.length})`
  const report = current === undefined ? undefined : status.responders?.find(({ name }) => name === current.name)
  if (report === undefined) return { shown: [counted, unset, '<unknown>'], wide: [unset, unset] }
  const heartbeat = isTime(report.heartbeatTime) ? `${since(report.heartbeatTime, now)} ago` : unset
  return {
    shown: [counted, ...progressCells(current?.state, report, now)],
    wide: [heartbeat, (report.message ?? '').trim() || unset],
  }
}

const shown = /* @__PURE__ */ agedPrinter(
  [
    column('Target', 'string', 'Object to evict.'),
    column('Target Type', 'string', 'Kind of the object to evict.'),
    column('Status', 'string', 'State of the eviction.'),
    column('Active Responder', 'string', 'Responder that acts or acted last, and how many of all have begun.'),
    column('Responder Status', 'string', 'State of the responder.'),
    column('Responder Expected Finish', 'string', 'When the responder is expected to finish.'),
    column('Requesters', 'string', 'Requesters that have not withdrawn.'),
  ],
  (object, { now }) => {
    const { status } = object as { readonly status?: EvictionStatus }
    const responder = responderCells(status ?? {}, now).shown
    return [
      ...targetCells(object as Parameters<typeof targetCells>[0]),
      stateOf(object),
      ...responder,
      requestersText(status?.requesters ?? []),
    ]
  },
)

export const evictionPrinter: Printer = {
  columns: [
    ...shown.columns,
    wide('Responder Heartbeat', 'string', 'Time since the responder last reported.'),
    wide('Responder Status Message', 'string', 'Message of the responder.'),
  ],
  cells(object, options) {
    const { status } = object as { readonly status?: EvictionStatus }
    return [...shown.cells(object, options), ...responderCells(status ?? {}, options.now).wide]
  },
}
