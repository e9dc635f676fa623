import { expect, it } from 'vitest'
import type { Storage } from './interfaces.ts'
import { lmdbStorage } from './lmdb/lmdb-storage.ts'
import { fork, memoryStorage } from './memory/memory-storage.ts'
import { StorageError } from './storage-error.ts'

/** Calls with invalid arguments, as untyped callers make them. */

const wrong = (value: unknown) => value as never

it.each<[(storage: Storage) => unknown, string]>([
  [() => memoryStorage(wrong({ historyMS: 1 })), 'memoryStorage has no "historyMS"; did you mean "historyMs"?'],
  [() => memoryStorage({ historyMs: -1 }), 'historyMs is a number from 0, not -1'],
  [() => memoryStorage({ historyBytes: wrong('1') }), 'historyBytes is a number from 0, not "1"'],
  [() => memoryStorage({ maxPending: Number.NaN }), 'maxPending is a number from 0, not NaN'],
  [(storage) => fork(storage, wrong({ clok: 1 })), 'fork has no "clok"'],
  [() => lmdbStorage(wrong(undefined)), 'lmdbStorage needs the path of a folder, `dir`'],
  [(storage) => storage.list(wrong(undefined)), 'list needs a prefix'],
  [(storage) => storage.list({ prefix: '/', limit: -1 }), 'limit is a number from 0, which is all'],
  [(storage) => storage.watch(wrong(undefined)), 'watch needs `from`'],
  [(storage) => storage.watch(wrong({ prefix: '/a/' })), 'watch needs `from`, the revision after which events begin'],
  [(storage) => storage.waitFor(999, wrong(undefined)), 'waitFor needs a revision and a signal'],
  [(storage) => storage.delete('/a/b', wrong(undefined)), 'delete needs a key and a function that encodes the value'],
  [(storage) => storage.put('/a/b', wrong('text')), 'put needs a key and a function that encodes the value'],
])('call %# is an error that names the argument', async (call, message) => {
  const thrown = await Promise.resolve(memoryStorage())
    .then(call)
    .catch((error: unknown) => error)
  expect(thrown).toBeInstanceOf(StorageError)
  expect((thrown as StorageError).message).toContain(message)
  expect((thrown as StorageError).code).toBe('InvalidArgument')
})
