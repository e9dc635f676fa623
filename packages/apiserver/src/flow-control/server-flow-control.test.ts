import type { UserInfo } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { requestOf, sampleServer } from '../testing/sample-server.ts'
import { configMaps, gate, jane, levelOf, limitedServer, queuing, schemaOf, turn } from './testing/limited-server.ts'

describe('debug pages', () => {
  const folder = '/debug/api_priority_and_fairness'

  it('show levels, queues and requests as tables of text', async () => {
    const { authorizer, open } = gate()
    const { ask, create, server } = await limitedServer({ authorizer })
    await create(levelOf('few', { limitResponse: { type: 'Queue', queuing: { ...queuing, queues: 4, handSize: 1 } } }))
    await create(schemaOf('own', 'few'))
    const pending = [0, 1, 2].map(() => server.handle(requestOf(`${configMaps}/x`, { user: jane })))
    await turn()
    const levels = await ask(`${folder}/dump_priority_levels`)
    expect([levels.headers['content-type'], levels.headers['x-content-type-options']]).toEqual([
      'text/plain; charset=utf-8',
      undefined,
    ])
    expect(levels.text).toBe(`\
PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ExecutingRequests, DispatchedRequests, RejectedRequests, TimedoutRequests, CancelledRequests
catch-all,         0,            true,   false,       0,               0,                 0,                  0,                0,                0
exempt,            0,            false,  false,       0,               1,                 3,                  0,                0,                0
few,               1,            false,  false,       1,               2,                 2,                  0,                0,                0
`)
    const queues = (await ask(`${folder}/dump_queues`)).text.split('\n')
    expect(queues).toHaveLength(6)
    expect(queues[0]).toBe(
      'PriorityLevelName, Index,  PendingRequests, ExecutingRequests, SeatsInUse, NextDispatchR, InitialSeatsSum, MaxSeatsSum, TotalWorkSum',
    )
    expect(queues.filter((line) => /^few, +\d, +1, +2, +2, +0\.00600000ss, +1, +1, +0\.00300000ss$/.test(line))).toHaveLength(1)
    const requests = (await ask(`${folder}/dump_requests?includeRequestDetails=1`)).text.split('\n')
    expect(requests[0]).toContain('FlowDistingsher, ArriveTime,')
    const own = requests.filter((line) => line.startsWith('few,'))
    const cells = own.map((line) => line.split(',').map((cell) => cell.trim()))
    expect(cells.map((row) => [row[1], row[3], row[4], row[9], ...row.slice(10)])).toEqual([
      ...[0, 1].map(() => ['own', '-1', 'jane', '2024-01-01T00:00:00.000Z', ...detailsOf('get')]),
      ['own', '0', 'jane', '0001-01-01T00:00:00Z', ...detailsOf('get')],
    ])
    open()
    await turn()
    open()
    await Promise.all(pending)
  })

  const detailsOf = (verb: string) => ['jane', verb, `${configMaps}/x`, 'default', 'x', 'v1', 'configmaps', '']

  it('are not listed, require authorization, and do not exist without flow control', async () => {
    const authorizer = {
      authorize: ({ user }: { user: UserInfo }) =>
        user.username === 'admin' ? { decision: 'allow' as const, reason: '' } : { decision: 'deny' as const, reason: '' },
    }
    const { ask } = await limitedServer({ authorizer })
    expect((await ask('/')).text).not.toContain('/debug')
    const refused = await ask(`${folder}/dump_queues`, { user: jane })
    expect(refused.json).toMatchObject({
      code: 403,
      message: `forbidden: User "jane" cannot get path "${folder}/dump_queues"`,
    })
    expect((await ask(`${folder}/other`)).status).toBe(404)
    const plain = await sampleServer()
    expect((await plain.ask(`${folder}/dump_queues`)).status).toBe(404)
  })
})

describe('metrics', () => {
  it('report seats of all levels, and other series of used flow schemas only', async () => {
    const { ask, create } = await limitedServer({}, 100)
    await create(levelOf('few'))
    await create(levelOf('more', { nominalConcurrencyShares: 2, lendablePercent: 50 }))
    await create(schemaOf('own', 'few'))
    await create(schemaOf('unused', 'more', { precedence: 900 }))
    await ask('/version', { user: jane })
    const lines = (await ask('/metrics')).text.split('\n')
    const of = (name: string) => lines.filter((line) => line.startsWith(`apiserver_flowcontrol_${name}{`))
    const seats = (name: string) => of(name).map((line) => line.replace(/^.*priority_level="([^"]+)"} /, '$1 '))
    expect(seats('nominal_limit_seats')).toEqual(['catch-all 63', 'exempt 0', 'few 13', 'more 25'])
    expect(seats('lower_limit_seats')).toEqual(['catch-all 63', 'exempt 0', 'few 13', 'more 12'])
    expect(seats('upper_limit_seats')).toEqual(['catch-all 163', 'exempt 100', 'few 113', 'more 125'])
    expect(of('dispatched_requests_total').map((line) => line.slice(line.indexOf('{')))).toEqual([
      '{flow_schema="own",priority_level="few"} 1',
      expect.stringMatching(/^\{flow_schema="exempt",priority_level="exempt"\} \d+$/),
    ])
    expect(of('work_estimated_seats_bucket')[0]).toBe(
      'apiserver_flowcontrol_work_estimated_seats_bucket{flow_schema="own",priority_level="few",le="1"} 1',
    )
    for (const name of [
      'demand_seats_bucket',
      'priority_level_request_utilization_bucket',
      'priority_level_seat_utilization_bucket',
    ])
      expect(of(name).length, name).toBeGreaterThan(20)
    expect(lines.some((line) => line.startsWith('apiserver_flowcontrol_seat_fair_frac '))).toBe(true)
  })
})
