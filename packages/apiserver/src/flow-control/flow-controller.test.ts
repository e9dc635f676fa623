import { fakeClock } from '@krmkit/meta'
import type { FrozenObject } from '@krmkit/registry'
import { describe, expect, it } from 'vitest'
import { adjustmentMs, FlowController } from './flow-controller.ts'
import type { SeatRequest } from './seat-request.ts'
import { classified, seed } from './testing/sample-requests.ts'

const queuing = { queues: 64, handSize: 4, queueLengthLimit: 50 }
const level = (name: string, shares: number, limited: object = {}): FrozenObject => ({
  apiVersion: '',
  kind: '',
  metadata: { name, uid: `uid-${name}` },
  spec: {
    type: 'Limited',
    limited: { nominalConcurrencyShares: shares, lendablePercent: 0, limitResponse: { type: 'Queue', queuing }, ...limited },
  },
})
const schema = (name: string, to: string, { precedence = 500, user = '*', method = 'ByUser' } = {}): FrozenObject => ({
  apiVersion: '',
  kind: '',
  metadata: { name, uid: `uid-${name}` },
  spec: {
    matchingPrecedence: precedence,
    priorityLevelConfiguration: { name: to },
    distinguisherMethod: { type: method },
    rules: [
      {
        subjects: [{ kind: 'User', user: { name: user } }],
        resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
      },
    ],
  },
})

function controlled({ seats = 100, watches = 0 } = {}) {
  const clock = fakeClock()
  const controller = new FlowController({
    ...{ seats, seed, now: () => clock.now(), setTimeout: (fn, ms) => clock.setTimeout(fn, ms) },
    work: { objectCount: () => 0, watchCount: () => watches },
  })
  const ask = (target = '/api/v1/namespaces/a/pods/x', options: Parameters<typeof classified>[1] = {}) => {
    const request = classified(target, options)
    const found = controller.classify(request)
    const started = controller.start(request, found)
    const outcome = started === undefined ? 'rejected' : started.executing ? 'executing' : 'waiting'
    return { schema: found, request: started as SeatRequest, outcome }
  }
  const seatsOf = () => Object.fromEntries(controller.levels().map(({ name, currentSeats }) => [name, currentSeats]))
  return { clock, controller, ask, seatsOf }
}

const signal = new AbortController().signal

describe('mandatory levels', () => {
  it('apply without stored objects: administrators are exempt, all others share one level', () => {
    const { controller, ask } = controlled({ seats: 5 })
    expect(controller.levels().map(({ name, nominalSeats }) => [name, nominalSeats])).toEqual([
      ['catch-all', 5],
      ['exempt', 0],
    ])
    const admin = { user: 'admin', groups: ['system:masters'] }
    const outcomes = Array.from({ length: 6 }, () => ask().outcome)
    expect(outcomes).toEqual([...Array.from({ length: 5 }, () => 'executing'), 'rejected'])
    expect(ask('/api/v1/pods', admin)).toMatchObject({ outcome: 'executing', schema: { name: 'exempt', headers: undefined } })
  })

  it('replace invalid objects, and serve users that no schema matches', () => {
    const { controller, ask } = controlled()
    controller.digest({ levels: [{ ...level('exempt', 5) }, level('catch-all', 5, { limitResponse: {} })], schemas: [] })
    expect(controller.levels().map(({ name, configuration }) => [name, configuration.uid])).toEqual([
      ['catch-all', ''],
      ['exempt', ''],
    ])
    expect(ask('/api/v1/pods', { user: 'x', groups: [] }).schema.name).toBe('catch-all')
  })
})

describe('configuration', () => {
  it('classifies requests by precedence into existing levels, and names both in headers', () => {
    const { controller, ask } = controlled()
    const schemas = [schema('late', 'few', { precedence: 900 }), schema('first', 'missing', { precedence: 10 })]
    controller.digest({ levels: [level('few', 5)], schemas })
    expect(ask().schema).toMatchObject({
      name: 'late',
      headers: { 'x-kubernetes-pf-flowschema-uid': 'uid-late', 'x-kubernetes-pf-prioritylevel-uid': 'uid-few' },
    })
  })

  it('divides seats by shares, rounded up, and limits lending and borrowing by percentages', () => {
    const { controller } = controlled({ seats: 100 })
    const levels = [level('a', 10, { lendablePercent: 50 }), level('b', 15, { borrowingLimitPercent: 20 })]
    controller.digest({ levels, schemas: [] })
    const reported = controller
      .levels()
      .map(({ name, nominalSeats, lowerSeats, upperSeats }) => [name, nominalSeats, lowerSeats, upperSeats])
    expect(reported).toEqual([
      ['a', 34, 17, 134],
      ['b', 50, 50, 60],
      ['catch-all', 17, 17, 117],
      ['exempt', 0, 0, 100],
    ])
  })

  it('can change while requests execute and wait: a deleted level drains and disappears', async () => {
    const { controller, ask } = controlled({ seats: 10 })
    const objects = { levels: [level('few', 1)], schemas: [schema('own', 'few')] }
    controller.digest(objects)
    const [running, waiting] = [ask(), ask()]
    expect([running?.outcome, waiting?.outcome]).toEqual(['executing', 'executing'])
    const third = ask()
    const verdict = controller.wait(third.request, third.schema, { waitMs: 1000, signal })
    controller.digest({ levels: [], schemas: objects.schemas })
    expect(controller.levels().map(({ name, quiescing }) => [name, quiescing])).toContainEqual(['few', true])
    expect(ask().schema.name).toBe('catch-all')
    controller.finish(running!.request, running!.schema)
    expect(await verdict).toBe('execute')
    for (const { name, queues } of controller.levels())
      if (name === 'few') for (const request of [...queues.executing()]) controller.finish(request, third.schema)
    expect(controller.levels().map(({ name }) => name)).toEqual(['catch-all', 'exempt'])
  })

  it('dispatches waiting requests as soon as a change raises the seats of their level', async () => {
    const { controller, ask } = controlled({ seats: 10 })
    const schemas = [schema('own', 'few')]
    controller.digest({ levels: [level('few', 1), level('much', 50)], schemas })
    expect(ask().outcome).toBe('executing')
    const second = ask()
    expect(second.outcome).toBe('waiting')
    const verdict = controller.wait(second.request, second.schema, { waitMs: 1000, signal })
    controller.digest({ levels: [level('few', 50), level('much', 1)], schemas })
    expect(await verdict).toBe('execute')
  })

  it('keeps statistics of configured schemas only', () => {
    const { controller, ask } = controlled()
    const named = () =>
      [...controller.statistics()].map(({ schema: name, level: to, dispatched }) => `${name}/${to}:${dispatched}`)
    controller.digest({ levels: [level('few', 1)], schemas: [schema('own', 'few')] })
    ask()
    expect(named()).toEqual(['own/few:1', 'exempt/exempt:0', 'catch-all/catch-all:0'])
    controller.digest({ levels: [level('few', 1)], schemas: [] })
    expect(named()).toEqual(['exempt/exempt:0', 'catch-all/catch-all:0'])
  })

  it('distinguishes flows by user, by namespace or not at all', () => {
    const { controller, ask } = controlled()
    const levels = [level('few', 1)]
    const flow = (method: string) => {
      controller.digest({ levels, schemas: [schema('own', 'few', { method })] })
      return ask().request.distinguisher
    }
    expect([flow('ByUser'), flow('ByNamespace'), flow('')]).toEqual(['jane', 'a', ''])
  })
})

describe('waiting', () => {
  const limited = (seats = 1) => {
    const made = controlled({ seats })
    made.controller.digest({ levels: [level('few', 100)], schemas: [schema('own', 'few')] })
    return made
  }

  it('ends after the allowed wait', async () => {
    const { controller, ask, clock } = limited()
    ask()
    const second = ask()
    const verdict = controller.wait(second.request, second.schema, { waitMs: 250, signal })
    clock.advance(249)
    expect(second.schema.level.queues.requestsWaiting).toBe(1)
    clock.advance(1)
    expect(await verdict).toBe('time-out')
    expect(second.schema.statistics).toMatchObject({ rejected: { 'time-out': 1 }, waitToReject: { total: 1, sum: 0.25 } })
    expect(clock.pending).toBe(0)
  })

  it('ends when the client disconnects, and leaves no timer', async () => {
    const { controller, ask, clock } = limited()
    ask()
    const second = ask()
    const gone = new AbortController()
    const verdict = controller.wait(second.request, second.schema, { waitMs: 250, signal: gone.signal })
    gone.abort()
    expect(await verdict).toBe('cancelled')
    expect([clock.pending, second.schema.level.queues.requestsWaiting]).toEqual([0, 0])
  })

  it('needs no timer when seats are free', () => {
    const { ask, clock } = limited(10)
    ask()
    expect(clock.pending).toBe(0)
  })
})

describe('borrowing', () => {
  it('lends idle seats to a busy level within 10 seconds, and reclaims them on demand', () => {
    const { controller, ask, clock, seatsOf } = controlled({ seats: 100 })
    const levels = [level('idle', 75, { lendablePercent: 80 }), level('busy', 20)]
    controller.digest({
      levels,
      schemas: [schema('idle', 'idle', { user: 'idle' }), schema('busy', 'busy', { precedence: 600 })],
    })
    const demand = (user: string, count: number) => Array.from({ length: count }, () => ask(undefined, { user }))
    const finish = (seated: readonly { request: SeatRequest; schema: Parameters<typeof controller.finish>[1] }[]) => {
      for (const each of seated) if (each.request.executing) controller.finish(each.request, each.schema)
    }
    const busy = demand('busy', 70)
    clock.advance(adjustmentMs)
    controller.adjust()
    const borrowed = seatsOf()
    expect(borrowed.busy).toBeGreaterThan(60)
    expect(borrowed.idle).toBeLessThan(35)
    expect(borrowed.idle! + borrowed.busy! + borrowed['catch-all']!).toBeLessThanOrEqual(101)
    const idle = demand('idle', 80)
    clock.advance(adjustmentMs)
    controller.adjust()
    expect(seatsOf()).toMatchObject({ idle: 75, busy: 20 })
    finish(busy)
    finish(idle)
  })

  it('keeps the lower limit of each level', () => {
    const { controller, ask, clock, seatsOf } = controlled({ seats: 100 })
    controller.digest({
      levels: [level('idle', 75, { lendablePercent: 20 }), level('busy', 20)],
      schemas: [schema('own', 'busy')],
    })
    for (let i = 0; i < 200; i++) ask()
    clock.advance(adjustmentMs)
    controller.adjust()
    expect(seatsOf().idle).toBe(60)
  })
})
