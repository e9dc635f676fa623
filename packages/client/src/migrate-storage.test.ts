import { expect, it } from 'vitest'
import { createInProcessClient } from './in-process.ts'
import { migrateStorage } from './migrate-storage.ts'
import { eagerClock, fakeApi, json, Note, noJitter, note, noteList, status } from './testing/fake-api.ts'

const start = (...answers: Parameters<typeof fakeApi>) => {
  const api = fakeApi(...answers)
  return { ...api, client: createInProcessClient(api.handle, { random: noJitter, clock: eagerClock() }) }
}

it('rewrites every object unchanged and skips conflicts', async () => {
  const { client, seen } = start(
    noteList(5, [note('a', 1), note('b', 2), note('c', 3)]),
    json(note('a', 4)),
    status(409, 'Conflict'),
    status(404, 'NotFound'),
  )
  expect(await migrateStorage(client, Note)).toEqual({ written: 1, skipped: 2 })
  expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /apis/example.com/v1/notes',
    'PUT /apis/example.com/v1/namespaces/default/notes/a',
    'PUT /apis/example.com/v1/namespaces/default/notes/b',
    'PUT /apis/example.com/v1/namespaces/default/notes/c',
  ])
  expect(seen[1]?.body).toMatchObject({ metadata: { resourceVersion: '1' } })
})

it('stops at other errors', async () => {
  const { client } = start(noteList(5, [note('a', 1)]), status(403, 'Forbidden'))
  await expect(migrateStorage(client, Note)).rejects.toMatchObject({ reason: 'Forbidden' })
})
