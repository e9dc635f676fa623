import { describe, expect, it } from 'vitest'
import type { TestServer, TestServerOptions } from './interfaces.ts'
import { objectMatchers, requestMatchers } from './matchers.ts'
import { OutboundFaults } from './outbound-faults.ts'
import { skewedClock } from './test-clock.ts'
import { clusterPerTest, createTestServer, explore } from './test-server.ts'

/** Values of wrong kinds and ranges, as passed by untyped callers. Each must be an error that states the expected value. */

type Call = (server: TestServer) => unknown
type Case = readonly [call: Call, message: string]

const wrong = (value: unknown) => value as never
const hints = (message: string) => expect.objectContaining({ message: expect.stringContaining(message) })
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }
const test = () => undefined

const users: readonly Case[] = [
  [(server) => server.as(wrong(undefined)), 'a user is a name or { username, groups }, not undefined'],
  [(server) => server.as(''), 'a user is a name or { username, groups }, not ""'],
  [(server) => server.as(wrong({ user: 'bob' })), 'a user has no "user"; known: username, uid, groups, extra'],
  [(server) => server.as(wrong({ username: 'bob' })), 'the user "bob" needs groups, a list of strings'],
  [(server) => server.as(wrong({ username: 'bob', groups: 'dev' })), 'a user: groups is a list of strings, not "dev"'],
  [(server) => server.tokenOf(wrong({})), 'a user needs a username'],
  [(server) => server.expireTokens(wrong(undefined)), 'a user is a name or'],
  [(server) => server.writeKubeconfig({ user: wrong({}) }), 'a user needs a username'],
]

const faults: readonly Case[] = [
  [(server) => server.faults.next({}, wrong(undefined)), 'a fault has one of fail, delayMs, lose'],
  [(server) => server.faults.next({}, wrong('lose')), 'given: "lose"'],
  [(server) => server.faults.next({}, wrong({ lose: false })), 'a fault with lose: lose is true, not false'],
  [(server) => server.faults.next({}, wrong({ stale: 'x' })), 'stale is true'],
  [(server) => server.faults.next({}, wrong({ fail: '503' })), 'fail: "503" is not a status of an error'],
  [(server) => server.faults.next({}, { fail: 503.5 }), 'fail: 503.5 is not a status of an error'],
  [(server) => server.faults.next({}, wrong({ fail: 503, reason: 3 })), 'reason is a string, not 3'],
  [(server) => server.faults.next({}, { fail: 429, retryAfterSeconds: -1 }), 'retryAfterSeconds is an integer from 0, not -1'],
  [(server) => server.faults.next({}, wrong({ fail: 500, afterWrite: 'yes' })), 'afterWrite is true or false'],
  [(server) => server.faults.next({ verb: 'get' }, { fail: 500, afterWrite: true }), 'the verb get writes nothing'],
  [(server) => server.faults.next({}, { fail: 500 }, { times: 1.5 }), 'times: 1.5 is not a number of requests from 1'],
  [(server) => server.faults.next({}, { fail: 500 }, { times: wrong('2') }), 'times: "2"'],
  [(server) => server.faults.next({}, { fail: 500 }, { after: -1 }), 'after: -1 is not a number of requests'],
  [
    (server) => server.faults.next({}, { delayMs: Number.POSITIVE_INFINITY }),
    'delayMs: Infinity is not a number of milliseconds',
  ],
  [(server) => server.faults.next({}, { watch: {} }), 'a fault of a watch needs one of end, bookmarks, delayMs'],
  [(server) => server.faults.next({}, { watch: { end: 'closed', afterEvents: 1.5 } }), 'watch.afterEvents: 1.5'],
  [(server) => server.faults.next({ verb: 'crate' }, { fail: 503 }), 'unknown verb "crate"; known: get, list, watch'],
  [(server) => server.faults.next({ verb: 'apply' }, { fail: 503 }), 'unknown verb "apply"; write patch'],
  [(server) => server.faults.next({ user: wrong({ username: 'x' }) }, { fail: 503 }), 'user is a string'],
  [() => new OutboundFaults().next(wrong('x')), 'a fault of a call has one of fail, body, delayMs, refused'],
  [() => new OutboundFaults().next({ fail: 99 }), 'fail: 99 is not a status of HTTP'],
  [() => new OutboundFaults().next({ fail: 500 }, { url: wrong('x') }), 'url is a regular expression, not "x"'],
  [() => new OutboundFaults().next({ fail: 500 }, { times: 0 }), 'times: 0'],
]

const requests: readonly Case[] = [
  [(server) => server.ledger.find({ verb: 'craete' }), 'unknown verb "craete"'],
  [(server) => server.ledger.find({ verb: 'POST' }), 'unknown verb "POST"; write create'],
  [(server) => server.ledger.count({ code: wrong('200') }), 'code is an integer from 0, not "200"'],
  [(server) => server.ledger.expect(wrong(undefined)), 'which requests are expected?'],
  [(server) => server.ledger.expectNone(wrong(undefined)), 'which requests are expected?'],
  [(server) => server.ledger.expect({ verb: 'list' }, -1), 'times is an integer from 0, not -1'],
  [(server) => requestMatchers.toHaveRequested(server, wrong(undefined)), 'which requests?'],
  [(server) => requestMatchers.toHaveRequested(server, 'craete pods'), 'unknown verb "craete"'],
  [(server) => requestMatchers.toHaveRequested(server, '*', wrong({ atmost: 3 })), 'has no "atmost"; did you mean "atMost"?'],
  [(server) => requestMatchers.toHaveRequested(server, '*', { atLeast: 3, atMost: 1 }), 'atLeast 3 is more than atMost 1'],
  [() => requestMatchers.toHaveRequested(wrong({}), '*'), 'expect needs a test server or its ledger'],
  [(server) => requestMatchers.toHaveNoHotLoop(server, wrong({ max: 3 })), 'has no "max"; known: atMost, withinMs, match'],
  [(server) => requestMatchers.toHaveNoHotLoop(server, { atMost: -1 }), 'atMost is an integer from 0, not -1'],
]

const objects: readonly Case[] = [
  [(server) => server.explain(wrong(undefined), '.spec'), 'explain needs an object with metadata.name or metadata.uid'],
  [(server) => server.explain(pod, wrong(undefined)), 'the path of a field is a string, not undefined'],
  [() => objectMatchers.toBeOwnedBy(pod, wrong(undefined)), 'toBeOwnedBy needs an object with metadata.name'],
  [() => objectMatchers.toBeManagedBy(pod, wrong(undefined)), 'the manager is a string, not undefined'],
  [() => objectMatchers.toHaveCondition(pod, 'Ready', wrong('true')), 'is one of True, False, Unknown, not "true"'],
  [() => objectMatchers.toHaveCondition(wrong(undefined), 'Ready'), 'expect needs an object with metadata, not undefined'],
  [() => objectMatchers.toEqualObject(pod, pod, wrong({ ignored: [] })), 'has no "ignored"; did you mean "ignore"?'],
  [() => objectMatchers.toIncludeFields(pod, pod, { ignore: wrong('.status') }), 'ignore is a list of strings, not ".status"'],
]

const others: readonly Case[] = [
  [(server) => server.clock.advance({}), 'a duration has one of days, hours'],
  [(server) => server.clock.advance(Number.NaN), 'NaN is not a number of milliseconds'],
  [(server) => server.clock.advance('-1h'), 'time cannot go back by 3600000 ms'],
  [() => skewedClock(wrong(undefined), 5), 'skewedClock needs a function `now`'],
  [(server) => server.run([]), 'run needs controllers'],
  [(server) => server.run({ name: 'x', start: wrong(test) }, wrong({ usr: 'a' })), 'run has no "usr"; did you mean "user"?'],
  [(server) => server.listen(wrong(undefined)), 'listen needs a function'],
  [(server) => server.save(wrong(undefined)), 'save is a string, not undefined'],
  [(server) => server.inspect({ file: wrong(3) }), 'inspect: file is a string, not 3'],
  [() => clusterPerTest(wrong(undefined)), 'the hooks have neither `afterAll` nor `after`'],
  [() => explore({ runs: 1 }, wrong(undefined)), 'explore needs a test'],
  [() => explore({ seeds: [] }, test), 'seeds is a list of integers'],
  [() => explore({ seeds: wrong(3) }, test), 'seeds is a list of integers'],
  [() => explore({ runs: 3, seeds: [1] }, test), 'only one of runs, seeds and order; given: runs, seeds'],
  [() => explore({ order: wrong(3) }, test), 'order is a string, not 3'],
  [() => explore({ runs: 1, shrinkRuns: -1 }, test), 'shrinkRuns: -1 is not an integer from 0'],
  [() => explore({ runs: 1, maxSteps: 0 }, test), 'maxSteps: 0 is not an integer from 1'],
]

const options: readonly (readonly [options: unknown, message: string])[] = [
  [{ startAtMs: Number.NaN }, '`startAtMs` is not a number of milliseconds: NaN'],
  [{ seed: 3 }, '`seed` is a folder or a list'],
  [{ controllers: [3] }, '`controllers` is a list of strings'],
  [{ clock: {} }, '`clock` needs a function `now`'],
  [{ clock: { now: Date.now, setTimeout: test }, startAtMs: 3 }, '`startAtMs` is the time of the virtual clock'],
  [{ authenticator: 'x' }, '`authenticator` needs a function `authenticate`'],
  [{ metrics: { cpu: 1 } }, '`metrics` has no "cpu"; known: resource, pods, object, external'],
  [{ metrics: { pods: 1 } }, '`metrics`: pods is a function, not 1'],
  [{ signing: 'yes' }, "`signing` is { signers }, or 'none'"],
  [{ onError: 'x' }, 'createTestServer: onError is a function, not "x"'],
  [{ rootCA: 3 }, 'rootCA is a string, not 3'],
  [{ emulate: 1.3 }, 'emulate is a string, not 1.3'],
  [{ users: { bob: [{ verbs: [] }] } }, 'a rule of "bob" needs `verbs`, a list'],
  [{ users: { bob: [{ verbs: ['get'], resources: 'pods' }] } }, 'resources is a list of strings, not "pods"'],
  [{ faults: { rate: 0.1, kinds: [] } }, 'kinds is empty'],
  [{ cluster: { nodes: 1, heartbeatMs: 0 } }, 'heartbeatMs: must be a number of milliseconds above 0'],
]

describe('wrong arguments', () => {
  it.each([
    ['users', users],
    ['faults', faults],
    ['requests', requests],
    ['objects', objects],
    ['others', others],
  ] as const)('of %s are errors with a hint', async (_, cases) => {
    await using server = await createTestServer({ controllers: [] })
    for (const [call, message] of cases) {
      const made = new Promise((resolve) => resolve(call(server)))
      await expect(made, message).rejects.toEqual(hints(message))
    }
  })

  it.each(options)('of a server are errors with a hint: %j', async (given, message) => {
    await expect(createTestServer(given as TestServerOptions)).rejects.toEqual(hints(message))
  })
})
