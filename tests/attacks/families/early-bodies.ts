import type { RandomChoices } from '@krmkit/base/random-choices'
import { type AttackContext, type Family, threaded } from '../harness/family.ts'
import { servedMeanwhile } from '../harness/flood-tools.ts'
import { openTls, type RawHeader } from '../harness/http1.ts'
import { frame, frameTypes, headerBlock, headerFrames, pseudoHeaders, RawHttp2 } from '../harness/http2.ts'
import { residentBytes } from '../harness/process-tree.ts'
import { tokens } from '../harness/server-process.ts'
import { startTarget, type Target } from '../harness/target.ts'

/** Large bodies without their end, of callers that may not send them: each is refused before its body is read, also by workers. */

const largest = 3 * 2 ** 20
const filler = Buffer.alloc(largest, 'x')
const answerMs = 10_000
/** Requests at a time: a client that sends more does not read a response before the server, as kube-apiserver, closes the connection. */
const beside = 16
/** Growth of all processes of the server; bodies that are held count three times as much. */
const allowedMiB = 150

interface Body {
  readonly name: string
  readonly path: string
  readonly headers: readonly RawHeader[]
  readonly bytes: number
  readonly framing: 'length' | 'chunks' | 'HTTP/2'
}

function bodyOf(random: RandomChoices): Body {
  const bytes = random.chance(50) ? largest : 1 + random.below(largest)
  const framing = random.pick(['length', 'chunks', 'HTTP/2'] as const)
  const token = random.pick([undefined, 'unknown-token', tokens.carol])
  const path = random.pick([
    '/api/v1/namespaces/default/configmaps',
    '/api/v1/namespaces/default/pods/p/status',
    '/apis/apps/v1/namespaces/default/deployments',
    '/apis/example.com/v1/things',
  ])
  const headers: RawHeader[] = token === undefined ? [] : [['authorization', Buffer.from(`Bearer ${token}`)]]
  return { name: `${bytes} bytes by ${framing} of ${token ?? 'an anonymous caller'} to ${path}`, path, headers, bytes, framing }
}

/** An open request, whose body lacks its last byte. */
interface OpenRequest {
  /** 0: none. */
  status(): number
  close(): void
}

async function open(port: number, body: Body): Promise<OpenRequest> {
  return body.framing === 'HTTP/2' ? openStream(port, body) : openRequest(port, body)
}

async function openRequest(port: number, { path, headers, bytes, framing }: Body): Promise<OpenRequest> {
  const socket = await openTls({ port }, 'http/1.1')
  let answer = ''
  socket
    .on('error', () => undefined)
    .on('data', (part: Buffer) => {
      if (answer.length < 100) answer += part.toString('latin1')
    })
  const lines = headers.map(([name, value]) => `${name}: ${Buffer.from(value).toString()}\r\n`).join('')
  const announced = framing === 'length' ? `Content-Length: ${bytes}` : 'Transfer-Encoding: chunked'
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${lines}${announced}\r\n\r\n`)
  if (framing === 'chunks') socket.write(`${bytes.toString(16)}\r\n`)
  socket.write(filler.subarray(0, bytes - 1))
  return { status: () => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0), close: () => socket.destroy() }
}

async function openStream(port: number, { path, headers, bytes }: Body): Promise<OpenRequest> {
  const connection = await RawHttp2.open({ port })
  let status = 0
  const stream = connection.nextStream()
  void connection.answerOf(stream, answerMs).then((answer) => {
    status = answer.status
  })
  connection.write(headerFrames(stream, headerBlock([...pseudoHeaders('POST', path), ...headers]), false))
  // As much as the first window of a stream takes.
  for (let at = 0; at < Math.min(bytes - 1, 65_535); at += 16_384) {
    const payload = filler.subarray(at, Math.min(at + 16_384, bytes - 1, 65_535))
    connection.write(frame(frameTypes.data, { stream, payload }))
  }
  return { status: () => status, close: () => connection.close() }
}

async function attack(context: AttackContext, flags: readonly string[]): Promise<void> {
  const { random, report, size } = context
  await using target = await startTarget({ flags })
  const { pid, port } = target.process()
  const before = residentBytes(pid)
  for (let i = 0; i < (size === 'full' ? 12 : 2); i++) {
    const bodies = Array.from({ length: beside }, () => bodyOf(random))
    const requests = await Promise.all(bodies.map((body) => open(port, body)))
    const peakBytes = await untilAnswered(requests, pid)
    const grownMiB = Math.max(0, (peakBytes - before) / 2 ** 20)
    for (const [i, body] of bodies.entries()) {
      const status = requests[i]?.status() ?? 0
      const isRefused = status === 401 || status === 403
      report.add({
        name: `${body.name} ${flags.join(' ')}`,
        outcome: 'refused',
        peakMiB: grownMiB,
        ...(isRefused ? {} : { reason: `answered with ${status}` }),
      })
    }
    const wrong = grownMiB > allowedMiB ? `all processes grow by ${Math.round(grownMiB)} MiB` : await served(target)
    for (const request of requests) request.close()
    report.add({
      name: `${beside} bodies ${flags.join(' ')}`,
      outcome: 'refused',
      ...(wrong === undefined ? {} : { reason: wrong }),
    })
  }
}

const served = (target: Target) => servedMeanwhile(target.process(), 2)

/** Waits for the responses. @returns the largest resident memory meanwhile */
async function untilAnswered(requests: readonly OpenRequest[], pid: number): Promise<number> {
  const until = performance.now() + answerMs
  let peakBytes = 0
  do {
    peakBytes = Math.max(peakBytes, residentBytes(pid))
    await new Promise((resolve) => setTimeout(resolve, 200))
  } while (performance.now() < until && requests.some((request) => request.status() === 0))
  return Math.max(peakBytes, residentBytes(pid))
}

export const earlyBodies: Family = {
  name: 'early bodies',
  purpose: 'large bodies of callers that may not send them are refused before they are read',
  run: (context) => threaded((flags) => attack(context, flags)),
}
