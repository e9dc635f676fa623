import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { labelSelectorFromLabels } from '@krmkit/meta/selectors'
import { describe, expect, it } from 'vitest'
import { createInProcessClient } from './in-process.ts'
import { createInformer, type Informer, type InformerOptions } from './informer.ts'
import { eagerClock, event, FakeWatch, fakeApi, json, Note, noJitter, note, noteList } from './testing/fake-api.ts'

const start = (answers: Parameters<typeof fakeApi>, options: Partial<InformerOptions<Note>> = {}) => {
  const api = fakeApi(...answers)
  const clock = eagerClock()
  const calls: string[] = []
  const notes = createInformer(createInProcessClient(api.handle, { clock, random: noJitter, maxRetries: 0 }), Note, {
    clock,
    random: noJitter,
    ...options,
  })
  notes.on({
    added: ({ metadata }) => void calls.push(`added ${metadata.name}@${metadata.resourceVersion}`),
    updated: ({ metadata }, before) =>
      void calls.push(`updated ${metadata.name}@${before.metadata.resourceVersion}->${metadata.resourceVersion}`),
    deleted: ({ metadata }) => void calls.push(`deleted ${metadata.name}@${metadata.resourceVersion}`),
  })
  return { ...api, notes, calls, clock }
}
const names = (objects: readonly { readonly metadata: { readonly name?: string } }[]) =>
  objects.map(({ metadata }) => metadata.name)
const until = async (condition: () => boolean) => {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}
const reached = (notes: Informer<Note>, version: string) => until(() => notes.resourceVersion === version)

describe('informer', () => {
  it('keeps a copy up to date and calls handlers for each change', async () => {
    const watch = new FakeWatch()
    const { notes, calls } = start([noteList(5, [note('a', 1), note('b', 2)]), watch])
    expect(notes.hasSynced).toBe(false)
    await notes.synced
    expect([notes.hasSynced, notes.resourceVersion, notes.get('a', 'default')?.spec.text]).toEqual([true, '5', ''])
    watch.send(event('MODIFIED', note('a', 6, { text: 'x' })), event('ADDED', note('c', 7)), event('DELETED', note('b', 8)))
    await reached(notes, '8')
    expect(names(notes.list())).toEqual(['a', 'c'])
    expect(notes.get('b', 'default')).toBeUndefined()
    expect(calls).toEqual(['added a@1', 'added b@2', 'updated a@1->6', 'added c@7', 'deleted b@8'])
    watch.send(event('BOOKMARK', { metadata: { resourceVersion: '30' } }))
    await reached(notes, '30')
    await notes.stop()
    await watch.released
  })

  it('keeps no outdated object of the first list', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const watch = new FakeWatch()
    const { notes } = start([noteList(5, [note('a', 1), note('b', 2)]), watch])
    await notes.synced
    const kept = () => notes.list().map((object) => new WeakRef(object))
    const first = kept()
    watch.send(event('MODIFIED', note('a', 6)), event('DELETED', note('b', 7)), event('ADDED', note('c', 8)))
    await reached(notes, '8')
    await new Promise((resolve) => setTimeout(resolve, 10))
    collect()
    expect(first.filter((object) => object.deref() !== undefined)).toHaveLength(0)
    await notes.stop()
    await watch.released
  })

  it('waits for the pause after each object of a list and each event, and can stop during it', async () => {
    const watch = new FakeWatch()
    let pauses = 0
    const pause = () => {
      pauses++
      return new Promise<void>((resolve) => setImmediate(resolve))
    }
    const { notes, calls } = start([noteList(5, [note('a', 1), note('b', 2)]), watch], { pause })
    await until(() => calls.length === 1)
    expect([notes.hasSynced, names(notes.list())]).toEqual([false, ['a']])
    await notes.synced
    expect([pauses, calls.length]).toEqual([2, 2])
    watch.send(event('ADDED', note('c', 7)), event('ADDED', note('d', 8)))
    await until(() => calls.length === 3)
    await notes.stop()
    expect([pauses, calls.length]).toEqual([3, 3])
    await watch.released
  })

  it('finds by namespace, label, selector and index', async () => {
    const items = [
      note('a', 1, { labels: { app: 'x' }, text: 'one two' }),
      note('b', 2, { labels: { app: 'y' }, namespace: 'other', text: 'two' }),
      note('c', 3, { labels: { app: 'x' }, namespace: 'other' }),
    ]
    const watch = new FakeWatch()
    const { notes } = start([noteList(5, items), watch], {
      labels: ['app'],
      indexers: { word: ({ spec }) => spec.text.split(' ').filter((word) => word !== '') },
    })
    await notes.synced
    const found = () => [
      names(notes.list({ namespace: 'other' })),
      names(notes.withLabel('app', 'x')),
      names(notes.list({ namespace: 'other', labelSelector: labelSelectorFromLabels({ app: 'x' }) })),
      names(notes.byIndex('word', 'two')),
      names(notes.withLabel('app', 'constructor')),
    ]
    expect(found()).toEqual([['b', 'c'], ['a', 'c'], ['c'], ['a', 'b'], []])
    watch.send(event('MODIFIED', note('a', 6, { labels: { app: 'y' }, text: 'three' })), event('DELETED', note('b', 7)))
    watch.send(event('DELETED', note('b', 8, { namespace: 'other' })))
    await reached(notes, '8')
    expect(found()).toEqual([['c'], ['c'], ['c'], [], []])
    expect(() => notes.byIndex('nothing', 'x')).toThrow(RangeError)
    notes.addIndex('length', ({ spec }) => [String(spec.text.length)])
    expect(names(notes.byIndex('length', '5'))).toEqual(['a'])
    watch.send(event('MODIFIED', note('a', 9, { text: 'two' })))
    await reached(notes, '9')
    expect([names(notes.byIndex('length', '5')), names(notes.byIndex('length', '3'))]).toEqual([[], ['a']])
    await notes.stop()
  })

  it('calls added handlers for existing objects, and no removed handlers', async () => {
    const watch = new FakeWatch()
    const { notes } = start([noteList(5, [note('a', 1)]), watch])
    await notes.synced
    const late: string[] = []
    const off = notes.on({ added: ({ metadata }) => void late.push(String(metadata.name)) })
    off()
    watch.send(event('ADDED', note('b', 6)))
    await reached(notes, '6')
    expect(late).toEqual(['a'])
    await notes.stop()
  })

  it('lists again after 410 and reports the difference; continues after errors and throwing handlers', async () => {
    const gone = event('ERROR', { apiVersion: 'v1', kind: 'Status', status: 'Failure', code: 410, reason: 'Expired' })
    const errors: unknown[] = []
    const { notes, calls, seen } = start(
      [
        json('', { status: 500 }),
        json('', { status: 403 }),
        noteList(5, [note('a', 1), note('b', 2)]),
        new FakeWatch(gone),
        noteList(20, [note('a', 1), note('c', 15)]),
        new FakeWatch(),
      ],
      { onError: (error) => errors.push(error) },
    )
    notes.on({
      deleted: () => {
        throw new Error('handler')
      },
    })
    await notes.synced
    await reached(notes, '20')
    expect(calls).toEqual(['added a@1', 'added b@2', 'deleted b@2', 'added c@15'])
    expect(errors).toMatchObject([{ code: 500 }, { code: 403 }, { message: 'handler' }])
    expect(seen).toHaveLength(6)
    await notes.stop()
  })

  it('backs off when versions keep expiring', async () => {
    const gone = () => new FakeWatch(event('ERROR', { apiVersion: 'v1', kind: 'Status', status: 'Failure', reason: 'Expired' }))
    const errors: unknown[] = []
    const { notes, clock, seen } = start(
      [noteList(5, []), gone(), noteList(6, []), gone(), noteList(7, []), gone(), noteList(8, []), new FakeWatch()],
      { onError: (error) => errors.push(error) },
    )
    await reached(notes, '8')
    // The first list after an expired version is sent without delay.
    expect([clock.now(), seen.length]).toEqual([800 + 1600, 8])
    expect(errors).toMatchObject([{ status: { reason: 'Expired' } }, { status: { reason: 'Expired' } }])
    await notes.stop()
  })

  it('ignores events of unknown types and deletions of unknown objects', async () => {
    const watch = new FakeWatch()
    const { notes, calls } = start([noteList(5, [note('a', 1)]), watch])
    await notes.synced
    watch.send(event('COMPRESSED', note('b', 6)), event('DELETED', note('c', 7)), event('ADDED', note('d', 8)))
    await reached(notes, '8')
    expect(calls).toEqual(['added a@1', 'added d@8'])
    await notes.stop()
  })

  it('calls updated for all objects at each resync', async () => {
    const { notes, calls } = start([noteList(5, [note('a', 1)]), new FakeWatch()], { resyncMs: 1000 })
    await until(() => calls.filter((text) => text === 'updated a@1->1').length >= 2)
    await notes.stop()
  })

  it('rejects synced when stopped before', async () => {
    const { notes } = start([new FakeWatch()])
    await notes.stop()
    await expect(notes.synced).rejects.toThrow('stopped')
  })
})
