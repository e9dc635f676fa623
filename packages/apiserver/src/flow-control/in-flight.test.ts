import type { UserInfo } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { describe, expect, it } from 'vitest'
import { administrator, contextOf, done } from '../testing/sample-server.ts'
import { inFlight } from './in-flight.ts'

const pods = '/api/v1/namespaces/ns/pods'
const user: UserInfo = { username: 'jane', groups: ['system:authenticated'] }
const jane = (target: string, method = 'GET') => contextOf(target, { user, method })

/** Holds requests until they are released. */
function gate() {
  const waiting: (() => void)[] = []
  return {
    next: () => new Promise<ApiResponse>((resolve) => waiting.push(() => resolve(done))),
    open: () => {
      for (const go of waiting.splice(0)) go()
    },
  }
}

describe('requests in flight', () => {
  it('are limited separately for reads and writes, with 429, a Status and Retry-After above the limit', async () => {
    const filter = inFlight({ readOnly: 2, mutating: 1 })
    const { next, open } = gate()
    const held = [filter(jane(pods), next), filter(jane('/version'), next), filter(jane(pods, 'POST'), next)]
    const refused = { status: 429, headers: { 'retry-after': '1', 'content-type': 'application/json' } }
    const response = await filter(jane(pods), next)
    expect(response).toMatchObject(refused)
    expect(response.body.kind === 'bytes' && JSON.parse(new TextDecoder().decode(response.body.bytes))).toMatchObject({
      kind: 'Status',
      reason: 'TooManyRequests',
      message: 'Too many requests, please try again later.',
      details: { retryAfterSeconds: 1 },
    })
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      expect(await filter(jane(`${pods}/a`, method), next)).toMatchObject(refused)
    open()
    await Promise.all(held)
    expect(await filter(jane(pods), async () => done)).toBe(done)
  })

  it('exclude members of system:masters and long-running requests', async () => {
    const filter = inFlight({ readOnly: 1, mutating: 1 })
    const { next, open } = gate()
    const free = [
      jane(`${pods}?watch=1`),
      jane(`${pods}/a/log?follow=1`),
      jane(`${pods}/a/exec`, 'POST'),
      jane(`${pods}/a/portforward`, 'POST'),
      jane(`${pods}/a/proxy`, 'PUT'),
      contextOf(pods, { user: administrator }),
    ]
    const held = [filter(jane(pods), next), filter(jane(pods, 'POST'), next), ...free.map((state) => filter(state, next))]
    open()
    expect(await Promise.all(held)).toEqual(held.map(() => done))
  })

  it('decrease after a failed request', async () => {
    const filter = inFlight({ readOnly: 1, mutating: 0 })
    await expect(filter(jane(pods), () => Promise.reject(new Error('x')))).rejects.toThrow('x')
    expect(await filter(jane(pods), async () => done)).toBe(done)
  })

  it('are unlimited for a limit of 0', async () => {
    const filter = inFlight({ readOnly: 0, mutating: 0 })
    const { next, open } = gate()
    const held = Array.from({ length: 500 }, () => filter(jane(pods), next))
    open()
    expect(await Promise.all(held)).toHaveLength(500)
  })

  it('do not count a request while its body is being received', async () => {
    const filter = inFlight({ readOnly: 0, mutating: 1 })
    const arrivals: (() => void)[] = []
    const slow = () => {
      const state = jane(pods, 'POST')
      const body = () => new Promise<Uint8Array>((resolve) => arrivals.push(() => resolve(new Uint8Array())))
      state.request = { ...state.request, body }
      return { state, answer: filter(state, () => state.request.body(10).then(() => done)) }
    }
    const answers: Promise<ApiResponse>[] = []
    for (let i = 0; i < 205; i++) {
      answers.push(slow().answer)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await filter(jane(pods, 'POST'), async () => done)).toBe(done)
    for (const arrive of arrivals) {
      arrive()
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await Promise.all(answers)).toEqual(answers.map(() => done))
  })

  it('reject a request whose body arrives at the limit', async () => {
    const filter = inFlight({ readOnly: 0, mutating: 1 })
    let arrive: () => void = () => undefined
    const late = jane(pods, 'POST')
    const body = () => new Promise<Uint8Array>((resolve) => (arrive = () => resolve(new Uint8Array())))
    late.request = { ...late.request, body }
    const answer = filter(late, () => late.request.body(10).then(() => done))
    await new Promise((resolve) => setImmediate(resolve))
    const { next, open } = gate()
    const holder = filter(jane(pods, 'POST'), next)
    arrive()
    await expect(answer).rejects.toMatchObject({ code: 429, status: { details: { retryAfterSeconds: 1 } } })
    open()
    await holder
    expect(await filter(jane(pods, 'POST'), async () => done)).toBe(done)
  })
})
