import type { InformerRun } from '../informer-run.ts'
import type { InformerScenario } from '../scenario.ts'
import { byClient } from '../stage.ts'
import { require } from '../violation.ts'

const watches = { ...byClient, verb: 'watch' }

/** Ends the watch, makes changes before the next watch, and compacts their history. */
async function whileUnwatched({ stage }: InformerRun, change: () => Promise<void>): Promise<void> {
  const { cluster, front } = stage
  const release = front.hold({ verb: ['list', 'watch'], resource: 'configmaps' })
  cluster.faults.endWatches(byClient, 'closed')
  await change()
  await cluster.faults.compact()
  release()
}

async function changeUnseen(run: InformerRun): Promise<void> {
  const { stage } = run
  await whileUnwatched(run, async () => {
    await stage.put('kept', { changed: 'yes' })
    await stage.remove('removed')
    await stage.put('new', { added: 'yes' })
  })
}

async function startWithTwo(run: InformerRun): Promise<void> {
  await run.stage.put('kept', { changed: 'no' })
  await run.stage.put('same')
  await run.stage.put('removed')
  await run.startAndSync()
}

async function requireDeletion(run: InformerRun, name: string): Promise<void> {
  if ((await run.events()) === undefined) return
  const isCalled = async () =>
    (await run.events())!.some(({ type, object }) => type === 'deleted' && object.metadata.name === name)
  await run.until(isCalled, `deleted was not called for ${name}`)
}

/** Returns the parameter `resourceVersion` of the last watch. */
function lastWatchVersion({ stage }: InformerRun): bigint {
  return BigInt(stage.front.of('watch').at(-1)?.parameters.get('resourceVersion') || '0')
}

async function reopened(run: InformerRun, end: () => unknown): Promise<void> {
  const { front } = run.stage
  const before = front.of('watch').length
  end()
  await run.until(() => front.of('watch').length > before && front.openWatches > 0, 'the watch was not opened again')
}

export const watchScenarios: readonly InformerScenario[] = [
  {
    id: 'expired-event',
    title: 'lists again after an ERROR event with 410, and notices deletions that no event reported',
    why: 'The history of a server is short. Without a new list the cache stays as it was, and deleted objects stay for ever.',
    async run(run) {
      await startWithTwo(run)
      await changeUnseen(run)
      await run.converged('after 410')
      await requireDeletion(run, 'removed')
    },
  },
  {
    id: 'expired-status',
    title: 'lists again when a watch is refused with status 410',
    why: 'Some servers and proxies report an expired version as the status of the response instead of an event.',
    async run(run) {
      await startWithTwo(run)
      run.stage.cluster.faults.next(watches, { fail: 410 })
      await changeUnseen(run)
      await run.converged('after 410')
      await requireDeletion(run, 'removed')
    },
  },
  {
    id: 'expired-often',
    title: 'slows down when every watch expires at once (410)',
    why: 'A busy store or a broken proxy can expire each version before it is watched. Lists in a loop make it worse.',
    async run(run) {
      await startWithTwo(run)
      const { front, cluster } = run.stage
      const expire = front.intercept({ verb: 'watch', resource: 'configmaps' }, async (next) => {
        cluster.faults.next(watches, { watch: { end: 'expired' } })
        return next()
      })
      cluster.faults.endWatches(byClient, 'expired')
      await run.backsOff()
      expire()
    },
  },
  {
    id: 'resume',
    title: 'resumes a watch that has ended from the last event, without a new list',
    why: 'Watches end all the time, at the latest at their timeout. A list for each of them costs thousands of times more than a resumed watch.',
    async run(run) {
      const { front, cluster } = run.stage
      await startWithTwo(run)
      await run.stage.put('kept', { changed: 'yes' })
      await run.converged('after a change')
      const lists = front.of('list').length
      const newest = BigInt(
        (await run.stage.objects()).find(({ metadata }) => metadata.name === 'kept')!.metadata.resourceVersion!,
      )
      await reopened(run, () => cluster.faults.endWatches(byClient, 'closed'))
      require(lastWatchVersion(run) >= newest, () =>
        `the watch was resumed from ${lastWatchVersion(run)}; the last event was ${newest}`)
      await run.stage.put('kept', { changed: 'again' })
      await run.converged('after the resumed watch')
      const more = front.of('list').length - lists
      require(more === 0, () => `${more} lists after the end of a watch`)
    },
  },
  {
    id: 'bookmarks',
    title: 'asks for bookmarks, and resumes from the last one',
    why: 'In a quiet collection the version of the last event expires. Bookmarks keep it fresh, so that no list is needed.',
    async run(run) {
      const { front, cluster } = run.stage
      await startWithTwo(run)
      const asks = front.of('watch').at(-1)!.parameters.get('allowWatchBookmarks')
      require(asks === 'true' || asks === '1', () => 'the watch does not ask for bookmarks')
      await run.stage.changeOthers()
      const started = lastWatchVersion(run)
      await run.stage.sendBookmarks()
      await cluster.settle()
      await run.observe(300)
      const lists = front.of('list').length
      await reopened(run, () => cluster.faults.endWatches(byClient, 'closed'))
      require(lastWatchVersion(run) > started, () => `the watch was resumed from ${started}, the version before the bookmark`)
      require(front.of('list').length === lists, () => 'a list although the version of the bookmark was known')
    },
  },
  {
    id: 'bookmarks-lost',
    title: 'recovers when bookmarks are lost and the version of the last event has expired',
    why: 'Bookmarks are not guaranteed: a client must work without them.',
    async run(run) {
      const { cluster } = run.stage
      cluster.faults.next(watches, { watch: { bookmarks: 'lost' } }, { times: 2 })
      await startWithTwo(run)
      await run.stage.changeOthers()
      await run.stage.sendBookmarks()
      await changeUnseen(run)
      await run.converged('after a resumed watch without bookmarks')
    },
  },
  {
    id: 'bookmarks-late',
    title: 'waits quietly while bookmarks and events are late',
    why: 'A slow server is no reason for new watches and lists.',
    async run(run) {
      const { front, cluster } = run.stage
      cluster.faults.next(watches, { watch: { bookmarks: { delayMs: 30_000 } } })
      await startWithTwo(run)
      const before = front.requests.length
      await run.stage.sendBookmarks()
      await run.stage.put('kept', { changed: 'yes' })
      await run.observe(500)
      require(front.requests.length === before, () => `${front.requests.length - before} requests while the watch was slow`)
      await cluster.clock.advance('60s')
      await run.converged('after the late bookmark')
    },
  },
  {
    id: 'replaced-object',
    title: 'notices an object that was deleted and created again while it did not watch',
    why: 'Name and namespace are the same, the uid is not: state that belongs to the old object must go.',
    async run(run) {
      await startWithTwo(run)
      await whileUnwatched(run, async () => {
        await run.stage.remove('kept')
        await run.stage.put('kept', { changed: 'no' })
      })
      await run.converged('after the replacement')
      const { uid } = (await run.sample()).find(({ metadata }) => metadata.name === 'kept')!.metadata
      if ((await run.events()) === undefined) return
      const isCalled = async () =>
        (await run.events())!.some(({ type, object }) => type !== 'deleted' && object.metadata.uid === uid)
      await run.until(isCalled, 'no handler was called with the new object')
    },
  },
  {
    id: 'deleted-state',
    title: 'passes the last state of a deleted object to its handlers',
    why: 'Handlers clean up by what the object said last: the event of the deletion carries it.',
    async run(run) {
      await startWithTwo(run)
      await run.stage.put('removed', { address: '10.0.0.7' })
      await run.stage.remove('removed')
      await run.converged('after the deletion')
      await requireDeletion(run, 'removed')
      const events = (await run.events()) ?? []
      const last = events.findLast(({ type }) => type === 'deleted')
      require(last === undefined || last.object.data?.['address'] === '10.0.0.7', () =>
        'deleted was called with an earlier state')
    },
  },
  {
    id: 'selection-left',
    title: 'drops an object that no longer has the label it selects by',
    why: 'The server reports it as DELETED although the object exists.',
    async run(run) {
      await run.stage.put('kept', {}, { side: 'left' })
      await run.stage.put('leaves', {}, { side: 'left' })
      await run.stage.put('other', {}, { side: 'right' })
      await run.startAndSync({ labelSelector: 'side=left' })
      await run.stage.put('leaves', {}, { side: 'right' })
      await run.stage.put('other', {}, { side: 'left' })
      await run.converged('after the labels changed')
      await requireDeletion(run, 'leaves')
    },
  },
]
