import type { InformerRun } from '../informer-run.ts'
import type { InformerScenario } from '../scenario.ts'
import { byClient, ConfigMaps, namespace } from '../stage.ts'
import { NotApplicable, pause, require } from '../violation.ts'

/** Characters of two, three and four bytes. */
const text = 'Zürich – 東京 🚀 "quoted" \\ \u2028 end'

/** @throws NotApplicable for watches whose bytes are not written by the suite */
function requireByteStream({ stage }: InformerRun): void {
  const { headers } = stage.front.of('watch').at(-1)!
  if (headers.upgrade !== undefined) throw new NotApplicable('the client watches over WebSocket, whose frames keep events whole')
}

/** @throws NotApplicable for watches that are not JSON */
function requireJson({ stage }: InformerRun): void {
  const { headers } = stage.front.of('watch').at(-1)!
  if (String(headers.accept ?? '').startsWith('application/vnd.kubernetes.protobuf')) {
    throw new NotApplicable('the client watches in protobuf; the scenario writes JSON')
  }
}

async function start(run: InformerRun): Promise<void> {
  await run.stage.put('a', { text })
  await run.startAndSync()
  requireByteStream(run)
}

async function startInjecting(run: InformerRun): Promise<void> {
  await start(run)
  requireJson(run)
}

async function requireText(run: InformerRun, name: string, wanted: string): Promise<void> {
  const found = (await run.sample()).find(({ metadata }) => metadata.name === name)?.data?.['text']
  require(found === wanted, () => `the text of an object is damaged: ${JSON.stringify(found)?.slice(0, 80)}`)
}

/** Sends a valid event after invalid ones, which must arrive. */
async function goesOn(run: InformerRun, after: string): Promise<void> {
  await run.observe(300)
  await run.stage.put('b', { text })
  await run.converged(after)
}

async function cutEvent(run: InformerRun, manner: 'cutClosed' | 'cutDropped'): Promise<void> {
  const { front } = run.stage
  await start(run)
  const before = front.of('watch').length
  front.manner = manner
  await run.stage.put('b', { text })
  await run.until(() => front.openWatches === 0 || front.of('watch').length > before, 'the watch did not end')
  front.manner = 'whole'
  await run.converged('after an event that was cut')
  await requireText(run, 'b', text)
}

export const streamScenarios: readonly InformerScenario[] = [
  {
    id: 'split-events',
    title: 'joins events that arrive byte by byte, also inside a character',
    why: 'TCP keeps no boundaries. Decoding each piece as text damages characters; parsing each piece loses events.',
    async run(run) {
      await start(run)
      run.stage.front.manner = 'bytes'
      await run.stage.put('b', { text })
      await run.stage.put('a', { text: `${text}!` })
      await run.converged('after events byte by byte')
      await requireText(run, 'b', text)
      await requireText(run, 'a', `${text}!`)
    },
  },
  {
    id: 'joined-events',
    title: 'takes apart several events that arrive in one piece',
    why: 'Under load many events arrive together.',
    async run(run) {
      await start(run)
      const { front } = run.stage
      front.manner = 'held'
      for (let i = 0; i < 20; i++) await run.stage.put(`n${i}`, { text })
      await run.stage.remove('n7')
      await run.stage.put('a', { text: `${text}!` })
      // The server forwards events in a later turn of the event loop.
      await pause(100)
      front.manner = 'whole'
      await run.converged('after events in one piece')
    },
  },
  {
    id: 'large-event',
    title: 'reads an event of one megabyte',
    why: 'Objects may be that large; lines of a fixed length are not enough.',
    async run(run) {
      await start(run)
      const large = 'ü'.repeat(500_000)
      await run.stage.put('b', { text: large })
      await run.converged('after a large event')
      await requireText(run, 'b', large)
    },
  },
  {
    id: 'cut-event-closed',
    title: 'drops a part of an event at the end of a response, and gets it again',
    why: 'A proxy that is shut down ends responses anywhere.',
    run: (run) => cutEvent(run, 'cutClosed'),
  },
  {
    id: 'cut-event-dropped',
    title: 'drops a part of an event when the connection is lost, and gets it again',
    why: 'Connections are lost anywhere.',
    run: (run) => cutEvent(run, 'cutDropped'),
  },
  {
    id: 'duplicate-events',
    title: 'takes events that it has already seen without new objects and without wrong calls of handlers',
    why: 'After a reconnection a server may send the present state again, or the deletion of an object that is gone.',
    async run(run) {
      await startInjecting(run)
      await run.stage.put('b', { text })
      const gone = { ...(await run.stage.cluster.client.get(ConfigMaps, 'b', { namespace })) }
      await run.stage.remove('b')
      await run.converged('after the deletion')
      const [present] = await run.stage.objects()
      run.stage.front.inject({ type: 'ADDED', object: present! }, { type: 'DELETED', object: gone })
      await goesOn(run, 'after duplicate events')
    },
  },
  {
    id: 'unknown-event',
    title: 'ignores events of unknown types',
    why: 'BOOKMARK was new once. An unknown event is no reason to change the cache.',
    async run(run) {
      await startInjecting(run)
      const [
        {
          metadata: { resourceVersion },
        } = { metadata: {} },
      ] = await run.stage.objects()
      const metadata = { name: 'stray', namespace, uid: 'stray', resourceVersion }
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: {} }
      run.stage.front.inject({ type: 'COMPRESSED', object })
      await goesOn(run, 'after an event of an unknown type')
    },
  },
  {
    id: 'unknown-fields',
    title: 'accepts unknown fields in events and objects',
    why: 'Newer servers send fields that a client does not know.',
    async run(run) {
      await startInjecting(run)
      const [object] = await run.stage.objects()
      const metadata = { ...object!.metadata, shard: { key: 1 } }
      run.stage.front.inject({ type: 'MODIFIED', object: { ...object, metadata, later: [{ a: null }] }, sequence: 12 })
      await goesOn(run, 'after unknown fields')
    },
  },
  {
    id: 'unknown-status',
    title: 'recovers from an ERROR event with a Status it does not know, and from one without a Status',
    why: 'Errors other than 410 occur in streams: 500 of a converter, 504 of a proxy. The watch has ended; the client must go on.',
    async run(run) {
      await startInjecting(run)
      const { front, cluster } = run.stage
      const status = { apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Failure', reason: 'Martian', code: 599 }
      for (const object of [status, { unexpected: true }]) {
        const before = front.of('watch').length
        front.inject({ type: 'ERROR', object })
        await pause(50)
        cluster.faults.endWatches(byClient, 'closed')
        await run.stage.put('a', { text: `${text}${before}` })
        await run.until(() => front.of('watch').length > before && front.openWatches > 0, 'the watch was not opened again')
        await run.converged('after an unknown error')
      }
    },
  },
]
