import { type FakeClock, fakeClock, type UserInfo } from '@krmkit/meta'
import { parseQuery } from '../../query.ts'
import { parseRequestInfo } from '../../request-info.ts'
import { FairQueues, type Queuing } from '../fair-queues.ts'
import { FlowStatistics } from '../flow-statistics.ts'
import { SeatRequest } from '../seat-request.ts'
import { hashText } from '../shuffle-shard.ts'

/** Requests and queues as tests of flow control use them. */

export const seed = { a: 1, b: 2 }

/** What a request is classed and estimated by. */
export function classified(target: string, { method = 'GET', user = 'jane', groups = ['system:authenticated'] } = {}) {
  const [path = '', search = ''] = target.split('?')
  const query = parseQuery(search)
  const info = parseRequestInfo(method, path, query.has('watch'))
  if (info === undefined) throw new Error(`no path: ${target}`)
  const caller: UserInfo = { username: user, groups }
  return { info, query, user: caller }
}

export interface SampleQueues {
  readonly clock: FakeClock
  readonly queues: FairQueues
  readonly statistics: FlowStatistics
  /** A request of a flow. */
  request(flow: string, work?: { readonly seats?: number; readonly finalSeats?: number; readonly lingerMs?: number }): SeatRequest
  /** Starts requests of a flow; those that wait note their name when they start. */
  start(flow: string, count?: number, work?: { readonly seats?: number }): SeatRequest[]
  /** Flows of the requests that waited, in the order in which they started. */
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
        const made = request(flow, work)
        if (queues.start(made) === 'waiting') made.settle = (verdict) => void order.push(verdict === 'execute' ? flow : verdict)
        return made
      }),
  }
}
