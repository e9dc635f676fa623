import type { RandomChoices } from '@krmkit/base/random-choices'
import { wireClient } from '../harness/client.ts'
import { type AttackContext, type Family, threaded } from '../harness/family.ts'
import type { RawHeader } from '../harness/http1.ts'
import { frame, frameTypes, headerBlock, headerFrames, pseudoHeaders, RawHttp2 } from '../harness/http2.ts'
import { type AttackedProcess, tokens } from '../harness/server-process.ts'
import { startTarget, type Target } from '../harness/target.ts'

/** Streams that are opened and reset, at every rate and in every way: others wait no longer, and too many end the connection. */

const enhanceYourCalm = 11
/** Node 20 has a limit besides, of 1000 resets and 33 a second, which ends a connection with INTERNAL_ERROR. */
const internalError = 2
const tickMs = 10
/** Rates above the limit of a connection by a margin that any clock allows, and below it. */
const tooFast = 2000
const allowed = 150

interface Course {
  readonly name: string
  readonly perSecond: number
  readonly seconds: number
  readonly connections: number
  readonly frames: (stream: number) => Buffer
}

function courseOf(random: RandomChoices, isFast: boolean, size: AttackContext['size']): Course {
  const perSecond = isFast ? random.pick([tooFast, 5000, 10_000]) : random.pick([20, 70, allowed])
  const connections = 1 + random.below(4)
  const path = random.pick(['/version', '/api/v1/pods?watch=true', '/api/v1/namespaces/default/configmaps', '/apis/nothing'])
  const method = random.pick(['GET', 'POST', 'DELETE'])
  const headers: readonly RawHeader[] = [['authorization', Buffer.from(`Bearer ${random.pick([tokens.admin, 'unknown-token'])}`)]]
  const block = headerBlock([...pseudoHeaders(method, path), ...headers])
  const code = random.pick([0, 1, 2, 8])
  const hasBody = random.chance(40)
  const seconds = size === 'full' ? 6 : 1
  return {
    name: `${perSecond} per second over ${connections} connections, ${method} ${path}, code ${code}${hasBody ? ', with a body' : ''}`,
    ...{ perSecond, connections, seconds },
    frames: (stream) =>
      Buffer.concat([
        headerFrames(stream, block, !hasBody),
        ...(hasBody ? [frame(frameTypes.data, { stream, payload: Buffer.alloc(100, 'x') })] : []),
        frame(frameTypes.rstStream, { stream, payload: Buffer.from([0, 0, 0, code]) }),
      ]),
  }
}

/** How the server ended a connection: with a code; `closed` when the code was lost with unread input; `open`: it did not. */
type End = number | 'closed' | 'open'

async function reset(port: number, { perSecond, seconds, frames }: Course): Promise<End> {
  const connection = await RawHttp2.open({ port })
  const from = performance.now()
  let sent = 0
  for (let now = from; now - from < seconds * 1000 && connection.usable; now = performance.now()) {
    const due = Math.min(((now - from) / 1000) * perSecond, sent + perSecond)
    const parts: Buffer[] = []
    for (; sent < due; sent++) parts.push(frames(connection.nextStream()))
    connection.write(Buffer.concat(parts))
    await new Promise((resolve) => setTimeout(resolve, tickMs))
  }
  const code = await connection.ending(perSecond > allowed ? 10_000 : 100)
  const end = code ?? (connection.usable ? 'open' : 'closed')
  connection.close()
  return end
}

/** Reads again and again. @returns the longest time until a response */
async function longestDelay(process: AttackedProcess, isOver: () => boolean): Promise<number> {
  const client = wireClient(process.url, { token: tokens.admin, timeoutMs: 10_000 })
  let longestMs = 0
  while (!isOver()) {
    const { status, ms } = await client.send({ method: 'GET', target: '/api/v1/namespaces/default' })
    longestMs = Math.max(longestMs, status === 200 ? ms : Number.POSITIVE_INFINITY)
    await new Promise((resolve) => setTimeout(resolve, tickMs))
  }
  client.close()
  return longestMs
}

/** Delays of others above this are measured again: other work of the machine delays them, too. */
const repetitions = 3

async function attack({ random, report, size }: AttackContext, flags: readonly string[]): Promise<void> {
  await using target = await startTarget({ flags })
  for (let i = 0; i < (size === 'full' ? 30 : 6); i++) {
    const isFast = i % 3 !== 0
    const course = courseOf(random, isFast, size)
    let { ends, delayMs } = await follow(target, course, flags.length > 0)
    for (let again = 1; again < repetitions && delayMs > report.stallBoundMs; again++) {
      const repeated = await follow(target, course, flags.length > 0)
      delayMs = Math.min(delayMs, repeated.delayMs)
      ends = [...ends, ...repeated.ends]
    }
    const isRight = isFast
      ? ends.every((end) => end === enhanceYourCalm || end === internalError || end === 'closed')
      : ends.every((end) => end === 'open')
    report.add({
      name: `${course.name} ${flags.join(' ')}`,
      outcome: isFast ? 'refused' : 'accepted',
      stallMs: delayMs,
      ...(isRight ? {} : { reason: `the connections end with ${ends.join(', ')}` }),
    })
  }
}

/**
 * @returns how the connections ended, and how much longer than before another caller waited for a response; of a single process, what of
 * it was work of the server: the rest is that of the machine
 */
async function follow(target: Target, course: Course, isThreaded: boolean): Promise<{ ends: End[]; delayMs: number }> {
  const process = target.process()
  const until = performance.now() + course.seconds * 500
  const before = await longestDelay(process, () => performance.now() > until)
  const { result, stallMs } = await target.measured(async () => {
    let isOver = false
    const delays = longestDelay(process, () => isOver)
    const ends = await Promise.all(Array.from({ length: course.connections }, () => reset(process.port, course)))
    isOver = true
    return { ends, delayMs: Math.max(0, (await delays) - before) }
  })
  const { ends, delayMs } = result
  return { ends, delayMs: isThreaded ? delayMs : Math.min(delayMs, stallMs) }
}

export const resets: Family = {
  name: 'resets',
  purpose: 'streams that are reset do not delay others, and too many of them end their connection',
  // The time that another caller waits: what several connections may reset at once shares a turn of the event loop.
  bounds: { stallMs: 500 },
  run: (context) => threaded((flags) => attack(context, flags)),
}
