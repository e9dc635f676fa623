import { fakeClock } from '@krmkit/meta'
import { StorageError } from '@krmkit/storage'
import { expect, it } from 'vitest'
import { logRequestFailures } from './request-failures.ts'

const setup = () => {
  const clock = fakeClock()
  const lines: unknown[][] = []
  const fail = logRequestFailures({ info: () => undefined, error: (...line) => void lines.push(line) }, clock)
  return { clock, fail, written: () => lines.splice(0) }
}

it('logs requests that a store refuses once, and then their number once a minute', () => {
  const { clock, fail, written } = setup()
  const full = () => fail(new StorageError({ code: 'Unavailable', reason: 'remote', problem: 'database space exceeded' }))
  full()
  full()
  fail(new StorageError({ code: 'Unavailable', reason: 'outcome', problem: 'no answer' }))
  fail(new StorageError({ code: 'Unavailable', reason: 'remote', problem: 'no member of etcd can be reached' }))
  expect(written()).toEqual([
    ['a request failed: storage is unavailable: database space exceeded'],
    ['a request failed: storage is unavailable: no answer'],
  ])
  clock.advance(60_000)
  expect(written()).toEqual([['2 more requests failed; the last one: storage is unavailable: no member of etcd can be reached']])
  clock.advance(60_000)
  full()
  expect(written()).toEqual([['a request failed: storage is unavailable: database space exceeded']])
  clock.advance(60_000)
  expect(clock.pending).toBe(0)
})

it('logs other failures each, with the error', () => {
  const { fail, written } = setup()
  const errors = [new Error('a bug'), new Error('a bug'), new StorageError({ code: 'Closed' })]
  for (const error of errors) fail(error)
  expect(written()).toEqual(errors.map((error) => ['a request failed', error]))
})
