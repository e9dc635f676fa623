import { describe, expect, it } from 'vitest'
import { noQueues, type Queuing } from './fair-queues.ts'
import { sampleQueues } from './testing/sample-requests.ts'

const queuing: Queuing = { queues: 64, handSize: 4, queueLengthLimit: 50 }
/** A hand of one card, so that each of a few flows has its own queue. */
const oneEach: Queuing = { queues: 1000, handSize: 1, queueLengthLimit: 1000 }

describe('seats without queues', () => {
  it('are granted up to the limit; further requests are rejected', () => {
    const { queues, start, request, statistics } = sampleQueues(noQueues, 2)
    const [first] = start('a', 2)
    expect(queues.start(request('b'))).toBe('rejected')
    expect(statistics).toMatchObject({ dispatched: 2, executingRequests: 2, rejected: { 'concurrency-limit': 1 } })
    queues.finish(first!)
    expect(queues.start(request('b'))).toBe('executing')
  })

  it('are unlimited in an exempt level, but counted', () => {
    const { queues, start } = sampleQueues(noQueues, 0, { exempt: true })
    for (const each of start('a', 700)) queues.finish(each)
    expect(queues).toMatchObject({ dispatched: 700, rejected: 0, seatsInUse: 0, isIdle: true })
  })

  it('let a request with more seats than the limit start when nothing else executes', () => {
    const { queues, start, request } = sampleQueues(noQueues, 3)
    const [small] = start('a')
    expect(queues.start(request('b', { seats: 5 }))).toBe('rejected')
    queues.finish(small!)
    expect(queues.start(request('b', { seats: 5 }))).toBe('executing')
    expect(queues.seatsInUse).toBe(5)
  })
})

describe('queues', () => {
  it('hold requests above the limit, and reject those above the queue length', () => {
    const { queues, start, statistics } = sampleQueues({ ...queuing, handSize: 1, queueLengthLimit: 3 }, 1)
    start('a', 6)
    expect(queues).toMatchObject({ requestsExecuting: 1, requestsWaiting: 3, rejected: 2 })
    expect(statistics).toMatchObject({ waitingRequests: 3, waitingSeats: 3, rejected: { 'queue-full': 2 } })
    expect(statistics.queueLength).toMatchObject({ total: 4, sum: 1 + 1 + 2 + 3 })
  })

  it('dispatch the requests of one flow in order of arrival', () => {
    const { queues, start, request, clock } = sampleQueues(oneEach, 1)
    const [running] = start('a')
    const order: number[] = []
    const waiting = [0, 1, 2, 3].map((i) => {
      const each = request('a')
      queues.start(each)
      each.settle = () => void order.push(i)
      return each
    })
    for (const each of [running!, ...waiting]) {
      clock.advance(5)
      queues.finish(each)
    }
    expect(order).toEqual([0, 1, 2, 3])
    expect(queues.isIdle).toBe(true)
  })

  it('dispatch a small flow while a large one has hundreds of waiting requests', () => {
    const { queues, start, clock, order } = sampleQueues(oneEach, 2)
    const elephant = start('elephant', 300)
    const mouse = start('mouse', 3)
    let ended = 0
    while (order.filter((flow) => flow === 'mouse').length < 3) {
      clock.advance(10)
      queues.finish([...mouse, ...elephant].find(({ executing }) => executing)!)
      ended++
    }
    expect(ended).toBeLessThanOrEqual(7)
  })

  it('share seats evenly among flows, regardless of number and length of their requests', () => {
    const { queues, clock, request } = sampleQueues(oneEach, 4)
    const busy: { readonly seat: ReturnType<typeof request>; readonly flow: string; readonly until: number }[] = []
    const used: Record<string, number> = { slow: 0, quick: 0 }
    const lasts: Record<string, number> = { slow: 40, quick: 10 }
    const feed = (flow: string) => {
      const seat = request(flow)
      const begin = () => void busy.push({ seat, flow, until: clock.now() + lasts[flow]! })
      if (queues.start(seat) === 'executing') begin()
      else seat.settle = begin
    }
    for (let i = 0; i < 50; i++) feed('slow')
    for (let i = 0; i < 200; i++) feed('quick')
    while (clock.now() < 2000) {
      clock.advance(10)
      for (const each of busy.filter(({ until }) => until <= clock.now())) {
        busy.splice(busy.indexOf(each), 1)
        used[each.flow]! += lasts[each.flow]!
        queues.finish(each.seat)
        feed(each.flow)
      }
    }
    expect(used.slow! / used.quick!).toBeGreaterThan(0.85)
    expect(used.slow! / used.quick!).toBeLessThan(1.15)
  })

  it('share seats, not requests: a request with many seats takes a longer turn', () => {
    const { queues, start, clock, order, request } = sampleQueues(oneEach, 4)
    const running = start('first', 4)
    const wide = Array.from({ length: 10 }, () => {
      const each = request('wide', { seats: 4 })
      queues.start(each)
      each.settle = () => void order.push('wide')
      return each
    })
    const narrow = start('narrow', 20)
    for (const each of running) queues.finish(each)
    for (let i = 0; i < 8; i++) {
      clock.advance(3)
      for (const each of [...wide, ...narrow].filter(({ executing }) => executing)) queues.finish(each)
    }
    const count = (flow: string) => order.filter((each) => each === flow).length
    expect(count('narrow')).toBeGreaterThanOrEqual(3 * count('wide'))
  })

  it('do not accumulate the share of an idle flow', () => {
    const { queues, start, clock, order } = sampleQueues(oneEach, 1)
    const busy = start('busy', 40)
    for (let i = 0; i < 10; i++) {
      clock.advance(100)
      queues.finish(busy[i]!)
    }
    order.length = 0
    const late = start('late', 20)
    for (let i = 0; i < 12; i++) {
      clock.advance(10)
      queues.finish([...busy, ...late].find(({ executing }) => executing)!)
    }
    expect(order.filter((flow) => flow === 'busy').length).toBeGreaterThanOrEqual(4)
    expect(order.filter((flow) => flow === 'late').length).toBeGreaterThanOrEqual(4)
  })

  it('wait for enough seats for a large request instead of skipping it', () => {
    const { queues, start, request } = sampleQueues(oneEach, 3)
    const running = start('a', 3)
    const wide = request('b', { seats: 3 })
    queues.start(wide)
    wide.settle = () => undefined
    queues.finish(running[0]!)
    expect([wide.executing, queues.seatsInUse]).toEqual([false, 2])
    queues.finish(running[1]!)
    queues.finish(running[2]!)
    expect([wide.executing, queues.seatsInUse]).toEqual([true, 3])
  })

  it('remove a withdrawn request, and dispatch the others', () => {
    const { queues, start, order, statistics } = sampleQueues(oneEach, 1)
    const [running] = start('a')
    const [late, gone] = start('b', 2)
    start('c')
    queues.withdraw(late!, 'time-out')
    queues.withdraw(gone!, 'cancelled')
    queues.withdraw(gone!, 'cancelled')
    queues.withdraw(running!, 'cancelled')
    expect(order).toEqual(['time-out', 'cancelled'])
    expect(queues).toMatchObject({ requestsWaiting: 1, requestsExecuting: 1, timedOut: 1, cancelled: 1, rejected: 2 })
    expect(statistics.rejected).toMatchObject({ 'time-out': 1, cancelled: 1 })
    queues.finish(running!)
    expect(order.at(-1)).toBe('c')
  })

  it('dispatch waiting requests at once when the limit is raised, and none while it is exceeded', () => {
    const { queues, start, order } = sampleQueues(oneEach, 1)
    const [first] = start('a')
    start('b', 3)
    queues.configure(oneEach, 3)
    expect([queues.requestsExecuting, order.length]).toEqual([3, 2])
    queues.configure(oneEach, 1)
    queues.finish(first!)
    expect([queues.requestsExecuting, queues.requestsWaiting]).toEqual([2, 1])
  })

  it('drain when their number is lowered', () => {
    const { queues, start, order } = sampleQueues(queuing, 1)
    const running = start('a', 4)
    queues.configure(noQueues, 1)
    for (const each of running) queues.finish(running.find(({ executing }) => executing) ?? each)
    expect(order).toEqual(['a', 'a', 'a'])
    expect([queues.isIdle, queues.queues().length]).toEqual([true, 0])
  })

  it('are deleted when unused, except for a few', () => {
    const { queues, request } = sampleQueues({ queues: 10_000_000, handSize: 2, queueLengthLimit: 50 }, 1000)
    const running = Array.from({ length: 1000 }, (_, i) => request(`flow-${i}`))
    for (const each of running) expect(queues.start(each)).toBe('executing')
    expect(queues.queues().length).toBeGreaterThan(900)
    for (const each of running) queues.finish(each)
    expect(queues.queues().length).toBeLessThanOrEqual(128)
    queues.configure(noQueues, 1)
    expect(queues.queues()).toEqual([])
  })

  it('hold the seats of writes while watches are notified, with one timer', () => {
    const { queues, request, clock } = sampleQueues(queuing, 10)
    const writes = [0, 1, 2].map(() => request('a', { finalSeats: 3, lingerMs: 5 }))
    for (const each of writes) queues.start(each)
    expect(queues.seatsInUse).toBe(9)
    for (const each of writes) queues.finish(each)
    expect([queues.seatsInUse, queues.requestsExecuting, clock.pending]).toEqual([9, 0, 1])
    clock.advance(5)
    expect([queues.seatsInUse, clock.pending]).toEqual([0, 0])
  })

  it('limit the final seats of a write and hold them longer', () => {
    const { queues, request, clock } = sampleQueues(queuing, 2)
    const write = request('a', { finalSeats: 6, lingerMs: 5 })
    expect(queues.start(write)).toBe('executing')
    expect([write.finalSeats, write.lingerMs, queues.seatsInUse]).toEqual([2, 15, 2])
    queues.finish(write)
    clock.advance(14)
    expect(queues.seatsInUse).toBe(2)
    clock.advance(1)
    expect(queues.seatsInUse).toBe(0)
  })
})
