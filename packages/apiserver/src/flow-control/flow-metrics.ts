import type { Histogram } from '../metrics/histogram.ts'
import { histogramSamples, type Sample, type SampledMetric, sampledMetric } from '../metrics/sampled-metric.ts'
import { isMutating } from '../request/long-running.ts'
import type { FlowController } from './flow-controller.ts'
import type { FlowStatistics, Rejection } from './flow-statistics.ts'
import type { PriorityLevel } from './priority-level.ts'

type Labels = Sample['labels']

const prefix = 'apiserver_flowcontrol_'

/** Metrics under the names of kube-apiserver. Series exist only for configured schemas and levels. */
export function flowMetrics(controller: FlowController): readonly SampledMetric[] {
  return [...flowCounters(controller), ...flowHistograms(controller), ...levelSeats(controller), ...levelProgress(controller)]
}

function labelsOf({ schema, level }: FlowStatistics): Labels {
  return { flow_schema: schema, priority_level: level }
}

/** Flow schemas that have received a request. */
function activeFlows(controller: FlowController): FlowStatistics[] {
  return [...controller.statistics()].filter(({ estimatedSeats }) => estimatedSeats.total > 0)
}

function flowCounters(controller: FlowController): readonly SampledMetric[] {
  const count = (type: 'gauge' | 'counter', name: string, help: string, value: (flow: FlowStatistics) => number) =>
    sampledMetric(type, [`${prefix}${name}`, help], () =>
      activeFlows(controller).map((flow) => ({ labels: labelsOf(flow), value: value(flow) })),
    )
  const inQueue = ['apiserver_current_inqueue_requests', 'Number of queued requests, by kind.'] as const
  return [
    count('counter', 'dispatched_requests_total', 'Number of requests that were executed.', ({ dispatched }) => dispatched),
    sampledMetric('counter', [`${prefix}rejected_requests_total`, 'Number of requests that were rejected, by reason.'], () =>
      activeFlows(controller).flatMap((flow) =>
        (Object.keys(flow.rejected) as Rejection[])
          .filter((reason) => flow.rejected[reason] > 0)
          .map((reason) => ({ labels: { ...labelsOf(flow), reason }, value: flow.rejected[reason] })),
      ),
    ),
    sampledMetric(
      'counter',
      [`${prefix}request_dispatch_no_accommodation_total`, 'Number of times a request was due but had too few seats.'],
      () =>
        activeFlows(controller)
          .filter(({ insufficientSeats }) => insufficientSeats > 0)
          .map((flow) => ({ labels: labelsOf(flow), value: flow.insufficientSeats })),
    ),
    count('gauge', 'current_inqueue_requests', 'Number of queued requests.', (flow) => flow.waitingRequests),
    count('gauge', 'current_inqueue_seats', 'Seats requested by queued requests.', (flow) => flow.waitingSeats),
    count('gauge', 'current_executing_requests', 'Number of executing requests; watches count during initialization.', (flow) => {
      return flow.executingRequests
    }),
    count('gauge', 'current_executing_seats', 'Seats of executing requests.', (flow) => flow.executingSeats),
    sampledMetric('gauge', inQueue, () => {
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
    sampledMetric('histogram', [`${prefix}${name}`, help], () =>
      activeFlows(controller).flatMap((flow) =>
        of(flow)
          .filter(([, { total }]) => total > 0)
          .flatMap(([labels, values]) => histogramSamples(`${prefix}${name}`, { ...labelsOf(flow), ...labels }, values)),
      ),
    )
  return [
    histogram('request_queue_length_after_enqueue', 'Length of the queue after a request was enqueued.', (flow) => [
      [{}, flow.queueLength],
    ]),
    histogram('request_wait_duration_seconds', 'Time that requests waited in queues, in seconds.', (flow) => [
      [{ execute: 'true' }, flow.waitToExecute],
      [{ execute: 'false' }, flow.waitToReject],
    ]),
    histogram(
      'request_execution_seconds',
      'Execution time of requests in seconds; of watches, until the initial state was sent.',
      (flow) => [
        [{ type: 'regular' }, flow.regularExecution],
        [{ type: 'watch' }, flow.watchExecution],
      ],
    ),
    histogram('watch_count_samples', 'Number of watches affected by a write.', (flow) => [[{}, flow.watchCount]]),
    histogram('work_estimated_seats', 'Estimated seats of requests.', (flow) => [[{}, flow.estimatedSeats]]),
  ]
}

function levelSeats(controller: FlowController): readonly SampledMetric[] {
  const gauge = (name: string, help: string, value: (level: PriorityLevel) => number) =>
    sampledMetric('gauge', [`${prefix}${name}`, help], () =>
      controller.levels().map((level) => ({ labels: { priority_level: level.name }, value: value(level) })),
    )
  return [
    gauge('nominal_limit_seats', 'Nominal seats of a priority level.', (level) => level.nominalSeats),
    gauge('lower_limit_seats', 'Minimum seats of a priority level, after lending.', (level) => level.lowerSeats),
    gauge('upper_limit_seats', 'Maximum seats of a priority level, with borrowing.', (level) => level.upperSeats),
    gauge('current_limit_seats', 'Current seats of a priority level.', (level) => level.currentSeats),
    gauge('demand_seats_high_watermark', 'Maximum seat demand in the last period.', ({ demand }) => demand.highWatermark),
    gauge('demand_seats_average', 'Average seat demand in the last period.', ({ demand }) => demand.average),
    gauge('demand_seats_stdev', 'Standard deviation of seat demand in the last period.', ({ demand }) => demand.deviation),
    gauge('demand_seats_smoothed', 'Smoothed seat demand.', ({ demand }) => demand.smoothed),
    gauge('target_seats', 'Target seats of the last adjustment.', ({ targetSeats }) => targetSeats),
    sampledMetric('gauge', [`${prefix}seat_fair_frac`, 'Fraction of its target that each priority level gets.'], () => [
      { labels: {}, value: controller.fairFraction },
    ]),
  ]
}

function levelProgress(controller: FlowController): readonly SampledMetric[] {
  const readings = (name: string, help: string, of: (level: PriorityLevel) => readonly (readonly [Labels, number])[]) =>
    sampledMetric('gauge', [`${prefix}${name}`, help], () =>
      controller.levels().flatMap((level) => {
        return of(level).map(([labels, value]) => ({ labels: { ...labels, priority_level: level.name }, value }))
      }),
    )
  /** Empty before the first dispatch from queues. */
  const dispatch = ({ queues }: PriorityLevel) => (queues.dispatch.r === undefined ? [] : [queues.dispatch])
  const timed = (name: string, help: string, of: (level: PriorityLevel) => readonly (readonly [Labels, Histogram])[]) =>
    sampledMetric('histogram', [`${prefix}${name}`, help], () =>
      controller.levels().flatMap((level) => {
        level.queues.advance()
        return of(level).flatMap(([labels, values]) =>
          histogramSamples(`${prefix}${name}`, { ...labels, priority_level: level.name }, values),
        )
      }),
    )
  return [
    readings('current_r', 'Progress of the queues of a priority level, in seat-seconds.', ({ queues }) => [[{}, queues.r]]),
    readings('dispatch_r', 'Progress at the last dispatch.', (level) => dispatch(level).map(({ r }) => [{}, r ?? 0])),
    readings('latest_s', 'Progress at which the last dispatched request was due.', (level) =>
      dispatch(level).map(({ latest }) => [{}, latest]),
    ),
    readings('next_s_bounds', 'Minimum and maximum progress at which the oldest requests of queues are due.', (level) =>
      dispatch(level).flatMap(({ earliest, last }) => bounds(earliest, last)),
    ),
    readings('next_discounted_s_bounds', 'Minimum and maximum due progress, less the work in progress.', (level) =>
      dispatch(level).flatMap(({ discountedEarliest, discountedLast }) => bounds(discountedEarliest, discountedLast)),
    ),
    timed('demand_seats', 'Seat demand as a fraction of nominal seats, observed every nanosecond.', ({ queues }) => [
      [{}, queues.demandRatio.histogram],
    ]),
    timed(
      'priority_level_request_utilization',
      'Requests as a fraction of the limit, observed every nanosecond.',
      ({ queues }) => [
        [{ phase: 'waiting' }, queues.waitingRatio.histogram],
        [{ phase: 'executing' }, queues.executingRatio.histogram],
      ],
    ),
    timed(
      'priority_level_seat_utilization',
      'Seats in use as a fraction of the limit, observed every nanosecond.',
      ({ queues }) => [[{ phase: 'executing' }, queues.seatRatio.histogram]],
    ),
  ]
}

function bounds(min: number, max: number): readonly (readonly [Labels, number])[] {
  return [
    [{ bound: 'min' }, min],
    [{ bound: 'max' }, max],
  ]
}
