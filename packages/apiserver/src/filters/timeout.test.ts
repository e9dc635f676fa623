import { fakeClock } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { describe, expect, it } from 'vitest'
import { compose } from '../request/context.ts'
import { contextOf, done } from '../testing/sample-server.ts'
import { timeout } from './timeout.ts'

const never = () => new Promise<ApiResponse>(() => {})
const pods = '/api/v1/pods'

/** The error response and its exact time. */
async function refusalAfter(target: string, ms: number): Promise<unknown> {
  const clock = fakeClock()
  let refusal: unknown
  timeout(60_000, clock)(contextOf(target), never).catch((error: unknown) => {
    refusal = error
  })
  await clock.advance(ms - 1)
  await new Promise(setImmediate)
  expect(refusal).toBeUndefined()
  await clock.advance(1)
  await new Promise(setImmediate)
  return refusal
}

describe('timeout', () => {
  it.each([
    ['', 60_000],
    ['?timeout=', 60_000],
    ['?timeout=0', 60_000],
    ['?timeout=0s', 60_000],
    ['?timeout=-5s', 60_000],
    ['?timeout=10m', 60_000],
    ['?timeout=2s', 2_000],
    ['?timeout=1.5s', 1_500],
    ['?timeout=0m30s', 30_000],
  ])('ends a request with %s after %d ms', async (query, ms) => {
    expect(await refusalAfter(`${pods}${query}`, ms)).toMatchObject({ code: 504, reason: 'Timeout' })
  })

  it('does not apply to watches', async () => {
    expect(await refusalAfter(`${pods}?watch=1`, 3_600_000)).toBeUndefined()
  })

  it.each([
    ['x', 'time: invalid duration "x"'],
    ['30', 'time: missing unit in duration "30"'],
    ['1y', 'time: unknown unit "y" in duration "1y"'],
  ])('rejects %s', async (value, why) => {
    const limited = compose([timeout(1, fakeClock())], never)
    await expect(limited(contextOf(`${pods}?timeout=${value}`))).rejects.toMatchObject({
      code: 400,
      message: `invalid timeout specified in the request URL - ${why}`,
    })
  })

  it('passes responses and errors within the limit, and leaves no timer', async () => {
    const clock = fakeClock()
    const filter = timeout(1_000, clock)
    expect(await filter(contextOf(pods), async () => done)).toBe(done)
    await expect(filter(contextOf(pods), () => Promise.reject(new Error('x')))).rejects.toThrow('x')
    await clock.advance(5_000)
  })
})
