import type { Front } from '../front.ts'
import { type InformerRun, requireChunks } from '../informer-run.ts'
import type { InformerScenario } from '../scenario.ts'
import { byClient, type Stage } from '../stage.ts'
import { require } from '../violation.ts'

const chunk = 3
const streamed = { ...byClient, verb: 'watch', query: /sendInitialEvents=true/ }

function isStreaming(front: Front): boolean {
  return front.of('watch').some(({ parameters }) => parameters.get('sendInitialEvents') === 'true')
}

/** Serves chunks of three objects to clients that list in chunks, and calls back before the second one. */
function smallChunks({ front }: Stage, beforeSecond: () => Promise<void>): void {
  let isFirst = true
  front.intercept({ verb: 'list', resource: 'configmaps' }, async (next, { parameters }) => {
    if (parameters.has('continue') && isFirst) {
      isFirst = false
      await beforeSecond()
    }
    if (Number(parameters.get('limit') ?? 0) <= chunk) return next()
    const query = new URLSearchParams(parameters)
    query.set('limit', String(chunk))
    return next(query.toString())
  })
}

async function fill(stage: Stage, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await stage.put(`c${i}`, { number: String(i) })
}

async function changeBetweenChunks(stage: Stage): Promise<void> {
  await stage.put('c0', { changed: 'yes' })
  await stage.remove('c1')
  await stage.put('c7', { changed: 'yes' })
  await stage.put('c9', { added: 'yes' })
}

/** Answers a list from an earlier state, like a lagging watch cache, if the request allows it. */
async function relistFromLaggingCache(run: InformerRun): Promise<void> {
  const { stage } = run
  const { cluster, front } = stage
  await fill(stage, 3)
  await run.startAndSync()
  const thaw = cluster.faults.freezeReads({ ...byClient, verb: 'list', query: /(^|&)resourceVersion=0(&|$)/ })
  await stage.put('c0', { changed: 'yes' })
  await stage.remove('c1')
  await run.converged('after changes')
  const before = front.of('list').length
  await cluster.faults.compact()
  cluster.faults.endWatches({ resource: 'configmaps' }, 'expired')
  await run.until(() => front.of('list').length > before, 'a new list after 410')
  await run.observe(1000)
  thaw()
  // A client that went back to the earlier state recovers only with the next list.
  await run.observe(500)
}

export const listScenarios: readonly InformerScenario[] = [
  {
    id: 'list-in-chunks',
    title: 'joins the chunks of a list, and sees writes between two chunks',
    why: 'The chunks show one moment; what changes later arrives by the watch, which must start at the version of the list.',
    async run(run) {
      await fill(run.stage, 8)
      smallChunks(run.stage, () => changeBetweenChunks(run.stage))
      await run.startAndSync()
      requireChunks(run.stage)
    },
  },
  {
    id: 'list-expired',
    title: 'starts a list over when its continue token expires (410)',
    why: 'A continue token lives a few minutes. A list that ends early looks complete.',
    async run(run) {
      await fill(run.stage, 8)
      run.stage.cluster.faults.next({ ...byClient, verb: 'list', query: /continue=/ }, { fail: 410 })
      smallChunks(run.stage, () => changeBetweenChunks(run.stage))
      await run.startAndSync()
      requireChunks(run.stage)
    },
  },
  {
    id: 'list-compacted',
    title: 'joins no chunks of two moments when history is dropped between them',
    why: 'The server offers a token to go on from the present state. Changes of the first chunk since then are lost.',
    async run(run) {
      await fill(run.stage, 8)
      smallChunks(run.stage, async () => {
        await changeBetweenChunks(run.stage)
        await run.stage.cluster.faults.compact()
      })
      await run.startAndSync()
      requireChunks(run.stage)
    },
  },
  {
    id: 'list-bounded',
    title: 'bounds every list: with a limit, or with a version that the cache of the server answers',
    why: 'Unbounded lists of many clients at the restart of a server exhaust its memory, and that of its store.',
    async run(run) {
      const { stage } = run
      await fill(stage, 3)
      await run.startAndSync()
      await stage.stop()
      await stage.cluster.faults.compact()
      await stage.put('c1', { changed: 'yes' })
      await stage.restart()
      await run.converged('after the restart')
      const unbounded = stage.front.of('list').filter(({ parameters: p }) => !p.has('limit') && !p.has('resourceVersion'))
      require(unbounded.length === 0, () => `${unbounded.length} lists without limit and without resourceVersion`)
    },
  },
  {
    id: 'list-not-older',
    title: 'never shows an older object after a newer one, also when the cache of a server lags behind',
    why: 'A list with resourceVersion=0 may be answered from any earlier state. A controller would undo what has happened since.',
    run: relistFromLaggingCache,
  },
  {
    id: 'streaming-list',
    title: 'takes a streaming list as complete only at the bookmark that ends it',
    why: 'Until then the cache is a part of the collection; deletions while the stream was cut would be missed.',
    needs: 'streamingLists',
    async run(run) {
      const { front, cluster } = run.stage
      await fill(run.stage, 6)
      cluster.faults.next(streamed, { watch: { end: 'closed', afterEvents: 3 } })
      const release = front.hold({ verb: ['list', 'watch'], resource: 'configmaps' }, 1)
      await run.start({ streamingLists: true })
      await run.until(() => front.requests.length > 1, 'another request after the cut stream')
      require(!(await run.hasSynced()), () => 'the informer has synced after a part of the initial events')
      await run.stage.remove('c1')
      release()
      await run.converged('after the cut stream')
      require(isStreaming(front), () => 'no watch with sendInitialEvents')
      await run.until(() => run.hasSynced(), 'synced')
    },
  },
  {
    id: 'streaming-list-refused',
    title: 'lists where the server refuses streaming lists',
    why: 'Servers before 1.34, or with the feature off, refuse sendInitialEvents as invalid.',
    needs: 'streamingLists',
    async run(run) {
      const { cluster } = run.stage
      await fill(run.stage, 3)
      const message = 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled'
      cluster.faults.next(streamed, { fail: 422, reason: 'Invalid', message }, { times: 1000 })
      await run.startAndSync({ streamingLists: true })
      require(isStreaming(run.stage.front), () => 'no watch with sendInitialEvents')
    },
  },
]
