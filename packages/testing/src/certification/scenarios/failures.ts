import type { InformerRun } from '../informer-run.ts'
import type { InformerScenario } from '../scenario.ts'
import { byClient } from '../stage.ts'
import { pause, require } from '../violation.ts'

const lists = { ...byClient, verb: 'list' }
const watches = { ...byClient, verb: 'watch' }
const both = { ...byClient, verb: ['list', 'watch'] }
const day = 86_400_000

async function waitsRetryAfter(run: InformerRun, verb: 'list' | 'watch'): Promise<void> {
  const { front, cluster } = run.stage
  const seconds = 2
  const refused = () => front.of(verb).find(({ code }) => code === 429)
  if (verb === 'list') {
    cluster.faults.next(lists, { fail: 429, retryAfterSeconds: seconds })
    await run.start()
  } else {
    await run.startAndSync()
    cluster.faults.next(watches, { fail: 429, retryAfterSeconds: seconds })
    cluster.faults.endWatches(byClient, 'closed')
  }
  await run.until(() => refused() !== undefined, `no ${verb} was refused`)
  const from = front.requests.indexOf(refused()!) + 1
  await run.until(() => front.requests.length > from, 'no request after 429')
  const waitedMs = front.requests[from]!.atMs - refused()!.atMs
  // Timers may fire a little early.
  require(waitedMs >= seconds * 1000 - 50, () =>
    `the next request came after ${Math.round(waitedMs)} ms; Retry-After was ${seconds} s`)
}

/** Makes list and watch requests fail; the client must back off and recover. */
async function failsForAWhile(run: InformerRun, fail: () => () => void): Promise<void> {
  await run.stage.put('a', { value: '1' })
  await run.startAndSync()
  const heal = fail()
  run.stage.cluster.faults.endWatches(byClient, 'dropped')
  await run.backsOff()
  await run.stage.put('a', { value: '2' })
  await run.stage.put('b')
  heal()
  await run.converged('after the server recovered')
}

export const failureScenarios: readonly InformerScenario[] = [
  {
    id: 'retry-after-list',
    title: 'waits Retry-After before it repeats a refused list (429)',
    why: 'The server sheds load; clients that come back earlier keep it overloaded.',
    run: (run) => waitsRetryAfter(run, 'list'),
  },
  {
    id: 'retry-after-watch',
    title: 'waits Retry-After before it repeats a refused watch (429)',
    why: 'The server sheds load; clients that come back earlier keep it overloaded.',
    run: (run) => waitsRetryAfter(run, 'watch'),
  },
  {
    id: 'first-list-fails',
    title: 'recovers when the first list and the first watch fail',
    why: 'A client may start before its server.',
    async run(run) {
      const { cluster } = run.stage
      await run.stage.put('a')
      cluster.faults.next(lists, { fail: 500 })
      cluster.faults.next(watches, { fail: 503 })
      await run.startAndSync()
    },
  },
  {
    id: 'server-errors',
    title: 'slows down while lists and watches fail with 500, and recovers',
    why: 'A loop without delay turns a small failure into an outage.',
    run: (run) => failsForAWhile(run, () => run.stage.cluster.faults.next(both, { fail: 500 }, { times: 100_000 })),
  },
  {
    id: 'refused-watches',
    title: 'slows down while lists work and every watch fails with 403, and recovers',
    why: 'With each failed watch a client may list again: the most expensive loop.',
    run: (run) => failsForAWhile(run, () => run.stage.cluster.faults.next(watches, { fail: 403 }, { times: 100_000 })),
  },
  {
    id: 'short-watches',
    title: 'slows down while every watch ends at once, and recovers',
    why: 'A proxy that does not stream ends each response early.',
    run: (run) =>
      failsForAWhile(run, () => run.stage.cluster.faults.next(watches, { watch: { end: 'closed' } }, { times: 100_000 })),
  },
  {
    id: 'lost-connections',
    title: 'slows down while connections are lost, and recovers',
    why: 'A client that connects in a loop fills the tables of proxies and firewalls.',
    run: (run) => failsForAWhile(run, () => run.stage.cluster.faults.next(both, { unreachable: true }, { times: 100_000 })),
  },
  {
    id: 'server-restart',
    title: 'recovers when the server restarts on its port without its history',
    why: 'After an upgrade of the server all clients return at once, with versions that its new cache does not have.',
    async run(run) {
      const { stage } = run
      await stage.put('a', { value: '1' })
      await stage.put('b')
      await run.startAndSync()
      await stage.stop()
      await stage.put('a', { value: '2' })
      await stage.remove('b')
      await stage.put('c')
      await stage.cluster.faults.compact()
      await pause(1500)
      await stage.restart()
      await run.converged('after the restart')
    },
  },
  {
    id: 'silent-watch',
    title: 'ends a watch that is silent past its timeout',
    why: 'When one half of a connection is lost, or a proxy hangs, nothing arrives any more, and no error either.',
    needs: 'watchTimeouts',
    async run(run) {
      const { stage } = run
      await stage.put('a', { value: '1' })
      await run.startAndSync({ watchTimeoutMs: 2000 })
      const asked = stage.front.of('watch').at(-1)!.parameters.get('timeoutSeconds')
      require(asked !== null, () => 'the watch does not ask the server for an end (timeoutSeconds)')
      stage.cluster.faults.endWatches(byClient, 'silent')
      await stage.put('a', { value: '2' })
      await run.converged('after a silent watch')
    },
  },
  {
    id: 'watch-timeout',
    title: 'asks the server to end each watch after some time (timeoutSeconds)',
    why: 'Watches that never end stick to one server of several, and never use its new certificates and permissions.',
    async run(run) {
      await run.startAndSync()
      const { parameters } = run.stage.front.of('watch').at(-1)!
      require(parameters.has('timeoutSeconds'), () => 'the watch has no timeoutSeconds')
    },
  },
  {
    id: 'renewed-credentials',
    title: 'reads its token file again, within 150 s',
    why: 'The tokens of pods are replaced before they expire. A client that keeps the old one goes blind.',
    async run(run) {
      const { stage } = run
      await stage.put('a', { value: '1' })
      await run.startAndSync()
      await stage.rotateToken()
      stage.cluster.faults.endWatches(byClient, 'closed')
      await stage.put('a', { value: '2' })
      // Some clients read the file only once a minute.
      await run.converged('after the token was replaced', run.patienceMs * 7.5)
    },
  },
  ...[-day, day].map(
    (aheadMs): InformerScenario => ({
      id: aheadMs < 0 ? 'clock-behind' : 'clock-ahead',
      title: `works with a server whose clock is a day ${aheadMs < 0 ? 'behind' : 'ahead'}`,
      why: 'Dates of the server say nothing about the age of a cache, nor about when to retry.',
      aheadMs,
      async run(run) {
        const { stage } = run
        await stage.put('a', { value: '1' })
        await run.startAndSync()
        await stage.sendBookmarks()
        stage.cluster.faults.next(watches, { fail: 429, retryAfterSeconds: 1 })
        stage.cluster.faults.endWatches(byClient, 'closed')
        await stage.put('a', { value: '2' })
        await run.converged('after a resumed watch')
      },
    }),
  ),
]
