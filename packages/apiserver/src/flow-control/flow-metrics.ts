import { isMutating } from '../filters/long-running.ts'
import type { FlowController } from './flow-controller.ts'
import type { FlowStatistics, Rejection } from './flow-statistics.ts'
import type { Histogram } from './histogram.ts'
import type { PriorityLevel } from './priority-level.ts'

interface Sample {
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

/** A metric as a registry of metrics prints it: its values are made when they are read. */
export interface SampledMetric {
  readonly name: string
  readonly help: string
  readonly type: 'gauge' | 'counter' | 'histogram'
  readonly aggregator: 'sum'
  get(): Promise<SampledMetric & { readonly values: readonly Sample[] }>
}

type Labels = Sample['labels']

const prefix = 'apiserver_flowcontrol_'

function metric(
  type: SampledMetric['type'],
  [name, help]: readonly [string, string],
  samples: () => Iterable<Sample>,
): SampledMetric {
  const made: SampledMetric = {
    ...{ name, help, type, aggregator: 'sum' },
    get: async () => ({ ...made, values: [...samples()] }),
  }
  return made
}

/** Metrics under the names of the stock server. Labels come from objects in force, and go with them. */
export function flowMetrics(controller: FlowController): readonly SampledMetric[] {
  return [...flowCounters(controller), ...flowHistograms(controller), ...levelSeats(controller), ...levelProgress(controller)]
}

function labelsOf({ schema, level }: FlowStatistics): Labels {
  return { flow_schema: schema, priority_level: level }
}

/** Flow schemas that have had a request. */
function activeFlows(controller: FlowController): FlowStatistics[] {
  return [...controller.statistics()].filter(({ estimatedSeats }) => estimatedSeats.total > 0)
}

function flowCounters(controller: FlowController): readonly SampledMetric[] {
  const count = (type: 'gauge' | 'counter', name: string, help: string, value: (flow: FlowStatistics) => number) =>
    metric(type, [`${prefix}${name}`, help], () =>
      activeFlows(controller).map((flow) => ({ labels: labelsOf(flow), value: value(flow) })),
    )
  const inQueue = ['apiserver_current_inqueue_requests', 'Requests that wait in queues, by kind.'] as const
  return [
    count('counter', 'dispatched_requests_total', 'Requests that were executed.', ({ dispatched }) => dispatched),
    metric('counter', [`${prefix}rejected_requests_total`, 'Requests that were rejected, by reason.'], () =>
      activeFlows(controller).flatMap((flow) =>
        (Object.keys(flow.rejected) as Rejection[])
          .filter((reason) => flow.rejected[reason] > 0)
          .map((reason) => ({ labels: { ...labelsOf(flow), reason }, value: flow.rejected[reason] })),
      ),
    ),
    metric('counter', [`${prefix}request_dispatch_no_accommodation_total`, 'Times that a request due had too few seats.'], () =>
      activeFlows(controller)
        .filter(({ insufficientSeats: noAccommodation }) => noAccommodation > 0)
        .map((flow) => ({ labels: labelsOf(flow), value: flow.insufficientSeats })),
    ),
    count('gauge', 'current_inqueue_requests', 'Requests that wait in queues.', (flow) => flow.waitingRequests),
    count('gauge', 'current_inqueue_seats', 'Seats that waiting requests ask for.', (flow) => flow.waitingSeats),
    count('gauge', 'current_executing_requests', 'Requests that execute; watches while they begin.', (flow) => {
      return flow.executingRequests
    }),
    count('gauge', 'current_executing_seats', 'Seats of requests that execute.', (flow) => flow.executingSeats),
    metric('gauge', inQueue, () => {
      const waiting = controller.levels().flatMap(({ queues }) => queues.queues().flatMap((queue) => [...queue.requests()]))
      const mutating = waiting.filter(({ context: state }) => isMutating(state.info)).length
      return [
        { labels: { request_kind: 'mutating' }, value: mutating },
        { labels: { request_kind: 'readOnly' }, value: waiting.length - mutating },
      ]
    }),
  ]
}

function flowHistograms(controller: FlowController): readonly SampledMetric[] {
  const histogram = (name: string, help: string, of: (flow: FlowStatistics) => readonly (readonly [Labels, Histogram])[]) =>
    metric('histogram', [`${prefix}${name}`, help], () =>
      activeFlows(controller).flatMap((flow) =>
        of(flow)
          .filter(([, { total }]) => total > 0)
          .flatMap(([labels, values]) => samplesOf(`${prefix}${name}`, { ...labelsOf(flow), ...labels }, values)),
      ),
    )
  return [
    histogram('request_queue_length_after_enqueue', 'Length of the queue that a request joined, with it.', (flow) => [
      [{}, flow.queueLength],
    ]),
    histogram('request_wait_duration_seconds', 'Seconds that requests waited in queues.', (flow) => [
      [{ execute: 'true' }, flow.waitToExecute],
      [{ execute: 'false' }, flow.waitToReject],
    ]),
    histogram(
      'request_execution_seconds',
      'Seconds that requests executed; watches until their initial state was read.',
      (flow) => [
        [{ type: 'regular' }, flow.regularExecution],
        [{ type: 'watch' }, flow.watchExecution],
      ],
    ),
    histogram('watch_count_samples', 'Watches that a write concerns.', (flow) => [[{}, flow.watchCount]]),
    histogram('work_estimated_seats', 'Seats that requests were estimated to need.', (flow) => [[{}, flow.estimatedSeats]]),
  ]
}

function levelSeats(controller: FlowController): readonly SampledMetric[] {
  const gauge = (name: string, help: string, value: (level: PriorityLevel) => number) =>
    metric('gauge', [`${prefix}${name}`, help], () =>
      controller.levels().map((level) => ({ labels: { priority_level: level.name }, value: value(level) })),
    )
  return [
    gauge('nominal_limit_seats', 'Seats of a priority level by its shares.', (level) => level.nominalSeats),
    gauge('lower_limit_seats', 'Seats that a priority level keeps when it lends.', (level) => level.lowerSeats),
    gauge('upper_limit_seats', 'Seats that a priority level has when it borrows all it may.', (level) => level.upperSeats),
    gauge('current_limit_seats', 'Seats that a priority level has now.', (level) => level.currentSeats),
    gauge('demand_seats_high_watermark', 'Most seats wanted at a time in the last period.', ({ demand }) => demand.highWatermark),
    gauge('demand_seats_average', 'Seats wanted in the last period, on average.', ({ demand }) => demand.average),
    gauge('demand_seats_stdev', 'Standard deviation of the seats wanted in the last period.', ({ demand }) => demand.deviation),
    gauge('demand_seats_smoothed', 'Seats wanted, smoothed over periods.', ({ demand }) => demand.smoothed),
    gauge('target_seats', 'Seats that the last adjustment aimed at.', ({ targetSeats }) => targetSeats),
    metric('gauge', [`${prefix}seat_fair_frac`, 'Fraction of its target that each priority level can have.'], () => [
      { labels: {}, value: controller.fairFraction },
    ]),
  ]
}

function levelProgress(controller: FlowController): readonly SampledMetric[] {
  const readings = (name: string, help: string, of: (level: PriorityLevel) => readonly (readonly [Labels, number])[]) =>
    metric('gauge', [`${prefix}${name}`, help], () =>
      controller.levels().flatMap((level) => {
        return of(level).map(([labels, value]) => ({ labels: { ...labels, priority_level: level.name }, value }))
      }),
    )
  /** Absent until the first dispatch from queues. */
  const dispatch = ({ queues }: PriorityLevel) => (queues.dispatch.r === undefined ? [] : [queues.dispatch])
  const timed = (name: string, help: string, of: (level: PriorityLevel) => readonly (readonly [Labels, Histogram])[]) =>
    metric('histogram', [`${prefix}${name}`, help], () =>
      controller.levels().flatMap((level) => {
        level.queues.advance()
        return of(level).flatMap(([labels, values]) =>
          samplesOf(`${prefix}${name}`, { ...labels, priority_level: level.name }, values),
        )
      }),
    )
  return [
    readings('current_r', 'Progress of the queues of a priority level, in seat-seconds.', ({ queues }) => [[{}, queues.r]]),
    readings('dispatch_r', 'Progress at the last dispatch.', (level) => dispatch(level).map(({ r }) => [{}, r ?? 0])),
    readings('latest_s', 'When the last dispatched request was due.', (level) =>
      dispatch(level).map(({ latest }) => [{}, latest]),
    ),
    readings('next_s_bounds', 'When the oldest requests of queues are due: first and last.', (level) =>
      dispatch(level).flatMap(({ earliest, last }) => bounds(earliest, last)),
    ),
    readings('next_discounted_s_bounds', 'The same less the work in progress.', (level) =>
      dispatch(level).flatMap(({ discountedEarliest, discountedLast }) => bounds(discountedEarliest, discountedLast)),
    ),
    timed('demand_seats', 'Seats wanted as a fraction of the nominal ones, once each nanosecond.', ({ queues }) => [
      [{}, queues.demandRatio.histogram],
    ]),
    timed('priority_level_request_utilization', 'Requests as a fraction of the limit, once each nanosecond.', ({ queues }) => [
      [{ phase: 'waiting' }, queues.waitingRatio.histogram],
      [{ phase: 'executing' }, queues.executingRatio.histogram],
    ]),
    timed('priority_level_seat_utilization', 'Seats in use as a fraction of the limit, once each nanosecond.', ({ queues }) => [
      [{ phase: 'executing' }, queues.seatRatio.histogram],
    ]),
  ]
}

function bounds(min: number, max: number): readonly (readonly [Labels, number])[] {
  return [
    [{ bound: 'min' }, min],
    [{ bound: 'max' }, max],
  ]
}

function samplesOf(name: string, labels: Labels, { bounds: upper, counts, total, sum }: Histogram): Sample[] {
  let below = 0
  const buckets = upper.map((le, i) => {
    below += counts[i] as number
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: below }
  })
  return [
    ...buckets,
    { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: total },
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: total },
  ]
}
