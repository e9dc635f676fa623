import { describe, expect, it } from 'vitest'
import { OutboundFaults } from './outbound-faults.ts'
import { reconciler } from './reconciler.ts'
import { clusterPerTest, createTestServer, explore } from './test-server.ts'
import { clusterFixtures } from './vitest.ts'

/** Mistakes that only a type check would find. */

describe('misspelt members', () => {
  it.each([
    [{ nodes: 3 }, 'createTestServer has no "nodes"; known: seed, from, kubeconfig, users, controllers, cluster'],
    [{ seeds: [] }, 'createTestServer has no "seeds"'],
    [{ kinds: [] }, 'createTestServer has no "kinds"; write server: { kinds }'],
    [[], 'createTestServer needs an object, not []'],
    ['manifests/', 'createTestServer needs an object, not "manifests/"'],
    [{ server: { limit: {} } }, '`server` has no "limit"; did you mean "limits"?'],
    [{ users: { bob: [{ verb: ['get'] }] } }, 'a rule of "bob" has no "verb"; did you mean "verbs"?'],
    [{ users: { bob: [{}] } }, 'a rule of "bob" needs `verbs`, a list'],
    [{ users: { bob: 'none' } }, `the rules of "bob" are 'all' or a list`],
    [{ controllers: '*' }, '`controllers` is a list'],
    [{ startAtMs: '2024' }, '`startAtMs` is not a number of milliseconds: "2024"'],
    [{ traces: -1 }, '`traces` is not a number of requests: -1'],
    [{ kubeconfig: 'path' }, '`kubeconfig` is true or false'],
    [{ faults: { rates: 1 } }, 'faults has no "rates"; did you mean "rate"?'],
    [{ faults: { rate: 1, match: { users: 'a' } } }, 'a match of requests has no "users"'],
  ])('of options are errors: %j', async (options, message) => {
    const error = { code: 'InvalidOption', message: expect.stringContaining(message) }
    await expect(createTestServer(options as object)).rejects.toMatchObject(error)
  })

  it('of matches are errors', async () => {
    await using server = await createTestServer({ controllers: [] })
    const wrong = { verbs: ['create'] } as object
    const error = expect.objectContaining({
      code: 'InvalidOption',
      message: expect.stringContaining('no "verbs"; did you mean "verb"?'),
    })
    expect(() => server.ledger.find(wrong)).toThrow(error)
    expect(() => server.ledger.expectNone(wrong)).toThrow(error)
    expect(() => server.faults.next(wrong, { fail: 503 })).toThrow(error)
    expect(() => server.faults.dropWatches(wrong)).toThrow(error)
    expect(() => server.faults.freezeReads(wrong)).toThrow(error)
  })

  it('of calls are errors', async () => {
    await using server = await createTestServer({ controllers: [] })
    const error = (message: string) =>
      expect.objectContaining({ code: 'InvalidOption', message: expect.stringContaining(message) })
    const hooks = { beforeEach: () => undefined, afterEach: () => undefined, after: () => undefined }
    for (const [call, message] of [
      [
        () => server.faults.next({}, { fail: 500 }, { time: 1 } as object),
        'the options of a fault has no "time"; did you mean "times"?',
      ],
      [
        () => server.faults.next({}, { fail: 500, after: true } as never),
        'a fault with fail has no "after"; known: fail, reason',
      ],
      [() => server.faults.next({}, { watch: { ending: 'expired' } } as never), 'a fault of a watch has no "ending"'],
      [
        () => new OutboundFaults().next({ fail: 500 }, { urls: /x/ } as object),
        'the options of a fault has no "urls"; did you mean "url"?',
      ],
      [() => server.run({} as never), 'run needs controllers'],
      [() => server.settleWith(undefined as never), 'settleWith needs a function'],
      [() => reconciler({ name: 'x' } as never), 'reconciler needs a name, a resource and a function'],
      [() => reconciler({ name: 'x', reconciler: 1 } as never), 'reconciler has no "reconciler"; did you mean "reconcile"?'],
      [() => clusterPerTest(hooks, { inspectFolder: 'x' } as object), 'createTestServer has no "inspectFolder"'],
      [() => clusterFixtures({ seeds: [] } as object), 'createTestServer has no "seeds"'],
    ] as const)
      expect(call, message).toThrow(error(message))
    for (const [call, message] of [
      [() => server.inspect({ path: 'x' } as object), 'inspect has no "path"; known: file'],
      [() => server.writeKubeconfig({ usr: 'x' } as object), 'writeKubeconfig has no "usr"; did you mean "user"?'],
      [() => explore({ run: 3 } as object, () => undefined), 'explore has no "run"; did you mean "runs"?'],
    ] as const)
      await expect(call(), message).rejects.toEqual(error(message))
    expect(() => server.faults.endWatches({}, 'gone' as never)).toThrow('a watch ends as one of expired, closed, dropped, silent')
    expect(() => server.faults.next({}, { watch: { end: 'dead' } } as never)).toThrow('a watch ends as one of')
    expect(() => server.faults.next({}, { watch: { bookmarks: 'late' } } as never)).toThrow(
      "watch.bookmarks is 'lost' or { delayMs }",
    )
    expect(() => server.faults.next({}, { delayMs: '2s' } as never)).toThrow('delayMs: 2s is not a number of milliseconds')
  })

  it('of durations are errors that show the valid form', async () => {
    await using server = await createTestServer({ controllers: [] })
    for (const [span, message] of [
      ['1 hour', 'write 1h30m, 90s or 250ms'],
      [{ hour: 1 }, 'unknown part "hour"; known parts: days, hours'],
      [undefined, 'undefined is not a duration'],
      [-1, 'time cannot go back'],
    ] as const)
      await expect(server.clock.advance(span as string)).rejects.toMatchObject({
        code: 'InvalidDuration',
        message: expect.stringContaining(message),
      })
  })
})
