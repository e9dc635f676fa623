import { type Clock, formatApiVersion } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { textResponse } from '../media/response-writer.ts'
import { flag, type Query, text } from '../request/query.ts'
import type { FlowController } from './flow-controller.ts'
import type { PriorityLevel } from './priority-level.ts'
import { Queue } from './queue.ts'
import type { SeatRequest } from './seat-request.ts'

/** The pages are not listed at `/`. */
const pathPrefix = '/debug/api_priority_and_fairness/'

/** Unused queues are omitted for levels with more queues than this. */
const maxShownQueues = 10_000

export interface DebugPagesOptions {
  readonly controller: FlowController
  readonly clock: Clock
  /** The time source of the controller, in milliseconds. */
  readonly now: () => number
}

/** Serves pages with levels, queues and requests as text tables; undefined for other paths. */
export function debugPages(options: DebugPagesOptions): (path: string, query: Query) => ApiResponse | undefined {
  return (path, query) => {
    if (!path.startsWith(pathPrefix)) return undefined
    const rows = rowsOf(options, path.slice(pathPrefix.length), query)
    if (rows === undefined) return undefined
    const { headers, ...rest } = textResponse(200, table(rows))
    const { 'x-content-type-options': _sniffing, ...plain } = headers
    return { ...rest, headers: plain }
  }
}

type Row = readonly (string | number | boolean)[]

function rowsOf(options: DebugPagesOptions, page: string, query: Query): readonly Row[] | undefined {
  const { controller } = options
  if (page === 'dump_priority_levels') return [levelColumns, ...controller.levels().map(levelRow)]
  if (page === 'dump_queues') return [queueColumns, ...controller.levels().flatMap(queueRows)]
  if (page !== 'dump_requests') return undefined
  const details = (text(query, 'includeRequestDetails') ?? '') !== '' && flag(query, 'includeRequestDetails')
  const rows = controller.levels().flatMap((level) => requestRows(level, { ...options, details }))
  return [details ? [...requestColumns, ...detailColumns] : requestColumns, ...rows]
}

const levelColumns = [
  'PriorityLevelName',
  'ActiveQueues',
  'IsIdle',
  'IsQuiescing',
  'WaitingRequests',
  'ExecutingRequests',
  'DispatchedRequests',
  'RejectedRequests',
  'TimedoutRequests',
  'CancelledRequests',
]

function levelRow({ name, queues, quiescing }: PriorityLevel): Row {
  const active = queues.queues().filter(({ length }) => length > 0).length
  const { requestsWaiting, requestsExecuting, dispatched, rejected, timedOut, cancelled } = queues
  return [
    ...[name, active, queues.isIdle, quiescing, requestsWaiting, requestsExecuting],
    ...[dispatched, rejected, timedOut, cancelled],
  ]
}

const queueColumns = [
  'PriorityLevelName',
  'Index',
  'PendingRequests',
  'ExecutingRequests',
  'SeatsInUse',
  'NextDispatchR',
  'InitialSeatsSum',
  'MaxSeatsSum',
  'TotalWorkSum',
]

function queueRows({ name, queues }: PriorityLevel): readonly Row[] {
  return allQueues(queues).map((queue) => [
    ...[name, queue.index, queue.length, queue.executing, queue.seatsInUse, seatSeconds(queue.nextDispatchR)],
    ...[queue.initialSeats, queue.maxSeats, seatSeconds(queue.work)],
  ])
}

/** All configured queues, those without requests included. */
function allQueues(queues: PriorityLevel['queues']): readonly Queue<SeatRequest>[] {
  const existing = queues.queues()
  const count = queues.queuing.queues
  if (count > maxShownQueues) return existing
  const shown = Array.from({ length: count }, (_, index) => new Queue<SeatRequest>(index))
  for (const queue of existing) shown[queue.index] = queue
  return shown
}

function seatSeconds(value: number): string {
  return `${value.toFixed(8)}ss`
}

const requestColumns = [
  'PriorityLevelName',
  'FlowSchemaName',
  'QueueIndex',
  'RequestIndexInQueue',
  'FlowDistingsher',
  'ArriveTime',
  'InitialSeats',
  'FinalSeats',
  'AdditionalLatency',
  'StartTime',
]

const detailColumns = ['UserName', 'Verb', 'APIPath', 'Namespace', 'Name', 'APIVersion', 'Resource', 'SubResource']

interface RequestRowOptions extends DebugPagesOptions {
  readonly details: boolean
}

function requestRows({ name, queues }: PriorityLevel, options: RequestRowOptions): readonly Row[] {
  const executing = [...queues.executing()].map((request) => [name, ...requestRow(request, -1, options)])
  const waiting = queues
    .queues()
    .flatMap((queue) => [...queue.requests()].map((request, i) => [name, ...requestRow(request, i, options)]))
  return [...executing, ...waiting]
}

function requestRow(request: SeatRequest, indexInQueue: number, { clock, now, details }: RequestRowOptions): Row {
  const { statistics, queue, distinguisher, initialSeats, finalSeats, lingerMs } = request
  const at = (ms: number): string => new Date(clock.now() - (now() - ms)).toISOString()
  const started = request.executing ? at(request.startedAt) : '0001-01-01T00:00:00Z'
  const linger = lingerMs === 0 ? '0s' : `${lingerMs}ms`
  const row = [
    ...[statistics.schema, queue?.index ?? -1, indexInQueue, distinguisher, at(request.arrivedAt)],
    ...[initialSeats, finalSeats, linger, started],
  ]
  if (!details) return row
  const { info, user } = request.context
  const apiVersion = formatApiVersion(info)
  return [
    ...[...row, user.username, info.verb, info.path, info.namespace, info.name],
    ...[apiVersion, info.resource, info.subresource],
  ]
}

const minColumnWidth = 8

/** Aligned columns, with a comma after each cell but the last. Control characters are replaced, because cells hold client input. */
function table(rows: readonly Row[]): string {
  const cells = rows.map((row) =>
    row.map((cell, i) => `${String(cell).replace(/\p{Cc}/gu, ' ')}${i < row.length - 1 ? ',' : ''}`),
  )
  const widths = (cells[0] ?? []).map((_, i) => Math.max(minColumnWidth, ...cells.map((row) => (row[i] ?? '').length + 1)))
  return cells
    .map((row) => `${row.map((cell, i) => (i < row.length - 1 ? cell.padEnd(widths[i] ?? 0) : cell)).join('')}\n`)
    .join('')
}
