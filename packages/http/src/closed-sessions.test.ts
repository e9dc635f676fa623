import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import v8 from 'node:v8'
import { seededRandom, stockProfile, systemClock } from '@krmkit/meta'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HeaderReader } from './header-reader.ts'
import { type Listener, listen, selfSigned } from './index.ts'

/** Memory of an HTTP/2 connection is released when it ends, long before the idle timeout. */

const folder = mkdtempSync(join(tmpdir(), 'krmkit-sessions-'))
let listening: Listener
beforeAll(async () => {
  const tls = selfSigned(folder, { hosts: ['127.0.0.1'], clock: systemClock, random: seededRandom(1), profile: stockProfile })
  const handle = async () => ({ status: 200, headers: {}, body: { kind: 'empty' as const } })
  listening = await listen({ handle }, { tls })
})
afterAll(async () => {
  await listening.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Counts the reachable objects of a class, after garbage collection. Absent before Node 20.13. */
const { queryObjects } = v8 as unknown as { readonly queryObjects?: (type: unknown) => number }

function visit(how: 'close' | 'destroy'): Promise<void> {
  return new Promise((resolve, reject) => {
    const session = connect(listening.url, { rejectUnauthorized: false })
    session.on('error', reject)
    session.on('close', resolve)
    session
      .request({ ':path': '/' })
      .on('end', () => session[how]())
      .resume()
  })
}

describe('ended sessions', () => {
  it.runIf(queryObjects !== undefined).each(['close', 'destroy'] as const)('release their memory after %s', async (how) => {
    for (let i = 0; i < 20; i++) await visit(how)
    await expect
      .poll(async () => {
        await turn()
        return queryObjects?.(HeaderReader)
      })
      .toBe(0)
  })
})

describe('idle sessions', () => {
  it('close after the idle timeout, counted from the last read or write', async () => {
    const idleMs = 600
    const tls = selfSigned(folder, { hosts: ['127.0.0.1'], clock: systemClock, random: seededRandom(1), profile: stockProfile })
    const handle = async () => ({ status: 200, headers: {}, body: { kind: 'empty' as const } })
    await using short = await listen({ handle }, { tls, limits: { idleTimeoutMs: idleMs } })
    const session = connect(short.url, { rejectUnauthorized: false })
    const closed = new Promise<number>((resolve) => session.on('close', () => resolve(performance.now())))
    await new Promise((resolve) => session.once('remoteSettings', resolve))
    await wait(idleMs / 2)
    const askedAt = performance.now()
    await new Promise((resolve) => session.request({ ':path': '/' }).on('end', resolve).resume())
    // Timers may fire a millisecond early.
    expect((await closed) - askedAt).toBeGreaterThanOrEqual(idleMs - 5)
  })
})
