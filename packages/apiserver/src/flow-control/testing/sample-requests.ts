import { type FakeClock, fakeClock, type UserInfo } from '@krmkit/meta'
import { parseRequestInfo } from '../../request/info.ts'
import { parseQuery } from '../../request/query.ts'
import { FairQueues, type Queuing } from '../fair-queues.ts'
import { FlowStatistics } from '../flow-statistics.ts'
import { SeatRequest } from '../seat-request.ts'
import { hashText } from '../shuffle-shard.ts'

/** Sample requests and queues for tests of flow control. */

export const seed = { a: 1, b: 2 }

/** The part of a request that is classified and estimated. */
export function classified(target: string, { method = 'GET', user = 'jane', groups = ['system:authenticated'] } = {}) {
  const [path = '', search = ''] = target.split('?')
  const query = parseQuery(search)
  const info = parseRequestInfo(method, path, query.has('watch'))
  if (info === undefined) throw new Error(`no path: ${target}`)
  const userInfo: UserInfo = { username: user, groups }
  return { info, query, user: userInfo }
}

export interface SampleQueues {
  readonly clock: FakeClock
  readonly queues: FairQueues
  readonly statistics: FlowStatistics
  /** A request of a flow. */
  request(flow: string, work?: { readonly seats?: number; readonly finalSeats?: number; readonly lingerMs?: number }): SeatRequest
  /** Starts requests of a flow. A queued request adds its flow to `order` when it starts. */
  start(flow: string, count?: number, work?: { readonly seats?: number }): SeatRequest[]
  /** Flows of queued requests, in the order of their start. */
  readonly order: string[]
}

/** Queues with a number of seats. */
export function sampleQueues(queuing: Queuing, limit: number, { exempt = false } = {}): SampleQueues {
  const clock = fakeClock()
  const queues = new FairQueues({ now: () => clock.now(), setTimeout: (fn, ms) => clock.setTimeout(fn, ms), exempt })
  queues.configure(queuing, limit)
  const statistics = new FlowStatistics('schema', 'level')
  const order: string[] = []
  const request: SampleQueues['request'] = (flow, { seats = 1, finalSeats = 0, lingerMs = 0 } = {}) =>
    new SeatRequest(
      classified('/api/v1/pods', { user: flow }),
      { statistics, distinguisher: flow, hash: queuing.queues === 0 ? undefined : hashText(seed, flow) },
      { initialSeats: seats, finalSeats, lingerMs },
    )
  return {
    ...{ clock, queues, statistics, request, order },
    start: (flow, count = 1, work = {}) =>
      Array.from({ length: count }, () => {
        const created = request(flow, work)
        if (queues.start(created) === 'waiting')
          created.settle = (outcome) => void order.push(outcome === 'execute' ? flow : outcome)
        return created
      }),
  }
}
