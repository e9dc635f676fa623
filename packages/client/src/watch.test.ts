import { ApiError } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createInProcessClient } from './in-process.ts'
import type { WatchEvent } from './interfaces.ts'
import { linesOf } from './json-lines.ts'
import { eagerClock, event, FakeWatch, fakeApi, json, Note, noJitter, note, noteList, status } from './testing/fake-api.ts'

const start = (...answers: Parameters<typeof fakeApi>) => {
  const api = fakeApi(...answers)
  const clock = eagerClock()
  return { ...api, clock, client: createInProcessClient(api.handle, { random: noJitter, clock }) }
}
const shown = ({ type, object }: WatchEvent<Note>) => `${type} ${object.metadata.name ?? ''}@${object.metadata.resourceVersion}`
const take = async (events: AsyncIterableIterator<WatchEvent<Note>>, count: number) => {
  const taken: string[] = []
  while (taken.length < count) {
    const { done, value } = await events.next()
    if (done) break
    taken.push(shown(value))
  }
  return taken
}

describe('linesOf', () => {
  it('splits at line ends regardless of chunk boundaries', async () => {
    const pieces = ['{"a"', ':1}\n\n{"b":"gr\u00fc', 'n"}\n', '', '{"c":3}\n{"d', '":4}\nrest'].map((text) => Buffer.from(text))
    const lines: string[] = []
    for await (const line of linesOf(
      (async function* () {
        yield* pieces
      })(),
    ))
      lines.push(Buffer.from(line).toString())
    expect(lines).toEqual(['{"a":1}', '{"b":"grün"}', '{"c":3}', '{"d":4}'])
  })
})

describe('watch', () => {
  it('yields existing objects first, then changes', async () => {
    const { client, seen } = start(
      noteList(5, [note('a', 2), note('b', 3)]),
      new FakeWatch(event('MODIFIED', note('a', 6)), event('DELETED', note('b', 7))),
    )
    const events = client.watch(Note, { namespace: 'x', labelSelector: 'k=v' })
    expect(await take(events, 4)).toEqual(['ADDED a@2', 'ADDED b@3', 'MODIFIED a@6', 'DELETED b@7'])
    await events.return?.()
    expect(seen.map(({ path, query }) => `${path}?${query}`)).toEqual([
      '/apis/example.com/v1/namespaces/x/notes?labelSelector=k%3Dv&limit=500',
      '/apis/example.com/v1/namespaces/x/notes?labelSelector=k%3Dv&watch=1&allowWatchBookmarks=true&resourceVersion=5',
    ])
  })

  it('starts after a version without listing', async () => {
    const { client, seen } = start(
      new FakeWatch(event('ADDED', note('a', 6)), event('BOOKMARK', { metadata: { resourceVersion: '9' } })),
    )
    const events = client.watch(Note, { resourceVersion: '5', bookmarks: true })
    expect(await take(events, 2)).toEqual(['ADDED a@6', 'BOOKMARK @9'])
    await events.return?.()
    expect(seen).toHaveLength(1)
  })

  it('resumes from the last version or bookmark when the connection ends', async () => {
    const first = new FakeWatch(event('ADDED', note('a', 6)), event('BOOKMARK', { metadata: { resourceVersion: '9' } }))
    const second = new FakeWatch(event('ADDED', note('b', 10)))
    const { client, seen, waitForRequests } = start(first, second)
    const events = client.watch(Note, { resourceVersion: '5' })
    expect(await take(events, 1)).toEqual(['ADDED a@6'])
    const next = take(events, 1)
    first.end()
    await waitForRequests(2)
    expect(await next).toEqual(['ADDED b@10'])
    expect(seen[1]?.query).toContain('resourceVersion=9')
    await events.return?.()
  })

  it('drops an incomplete event of an interrupted connection and requests it again', async () => {
    const whole = event('ADDED', note('a', 6))
    const broken = new FakeWatch(whole, event('ADDED', note('b', 7)).slice(0, 20))
    const { client, seen } = start(broken, new FakeWatch(event('ADDED', note('b', 7))))
    const events = client.watch(Note, { resourceVersion: '5' })
    const taken = take(events, 2)
    broken.end()
    expect(await taken).toEqual(['ADDED a@6', 'ADDED b@7'])
    expect(seen[1]?.query).toContain('resourceVersion=6')
    await events.return?.()
  })

  it('lists again when the version has expired, and yields the difference', async () => {
    const gone = event('ERROR', {
      apiVersion: 'v1',
      kind: 'Status',
      status: 'Failure',
      code: 410,
      reason: 'Expired',
      message: 'too old',
    })
    const { client } = start(
      noteList(5, [note('same', 1), note('changed', 2), note('removed', 3), note('replaced', 4)]),
      new FakeWatch(gone),
      noteList(20, [note('same', 1), note('changed', 12), note('replaced', 14, { uid: 'other' }), note('new', 15)]),
      new FakeWatch(event('DELETED', note('new', 21))),
    )
    const events = client.watch(Note)
    expect(await take(events, 4)).toHaveLength(4)
    expect(await take(events, 6)).toEqual([
      'DELETED removed@3',
      'DELETED replaced@4',
      'MODIFIED changed@12',
      'ADDED replaced@14',
      'ADDED new@15',
      'DELETED new@21',
    ])
    await events.return?.()
  })

  it('ends when a given version has expired', async () => {
    const { client } = start(status(410, 'Expired'))
    const error = await client
      .watch(Note, { resourceVersion: '1' })
      .next()
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ code: 410 })
  })

  it('retries server errors with growing delays, and ends on a permanent error', async () => {
    const { client, clock, seen } = start(
      json('', { status: 502 }),
      json('', { status: 502 }),
      noteList(5, []),
      new FakeWatch(event('ADDED', note('a', 6))),
    )
    const events = client.watch(Note)
    expect(await take(events, 1)).toEqual(['ADDED a@6'])
    expect([clock.now(), seen.length]).toEqual([800 + 1600, 4])
    await events.return?.()
    await expect(start(status(403, 'Forbidden')).client.watch(Note).next()).rejects.toMatchObject({ code: 403 })
  })

  it('without resume opens one connection', async () => {
    const watch = new FakeWatch(event('ADDED', note('a', 6)))
    const { client } = start(watch)
    watch.end()
    expect(await take(client.watch(Note, { resourceVersion: '0', resume: false }), 9)).toEqual(['ADDED a@6'])
    await expect(start(status(403, 'Forbidden')).client.watch(Note, { resume: false }).next()).rejects.toMatchObject({
      code: 403,
    })
    await expect(start(new FakeWatch('{"type":1}\n')).client.watch(Note, { resume: false }).next()).rejects.toMatchObject({
      code: 'InvalidResponse',
    })
  })

  it('ends its request on break, return, abort and close', async () => {
    const ways: ((context: {
      events: AsyncIterableIterator<WatchEvent<Note>>
      abort: AbortController
      client: ReturnType<typeof start>['client']
    }) => unknown)[] = [
      async ({ events }) => {
        for await (const _ of events) break
      },
      ({ events }) => events.return?.(),
      ({ abort }) => abort.abort(),
      ({ client }) => client.close(),
    ]
    for (const [index, end] of ways.entries()) {
      const watch = new FakeWatch(event('ADDED', note('a', 6)))
      const { client, waitForRequests } = start(watch)
      const abort = new AbortController()
      const events = client.watch(Note, { resourceVersion: '5', signal: abort.signal })
      let pending: Promise<unknown> | undefined
      if (index > 0) {
        await events.next()
        pending = events.next()
        await waitForRequests(1)
      }
      await end({ events, abort, client })
      await watch.released
      if (pending !== undefined) expect(await pending).toEqual({ done: true, value: undefined })
    }
  })
})
