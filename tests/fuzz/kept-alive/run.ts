import { mkdtempSync, rmSync } from 'node:fs'
import { connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RandomChoices } from '@krmkit/base/random-choices'
import { listen, selfSigned } from '@krmkit/http'
import { openTls } from '../../attacks/harness/http1.ts'
import { tokens } from '../../attacks/harness/server-process.ts'
import { startTarget } from '../../attacks/harness/target.ts'
import { type Sending, sendOverHttp1, sendOverHttp2 } from './clients.ts'
import { apiRequest, configMapBody, echoRequest, type RequestSource, storedSizes } from './requests.ts'
import { respond } from './responses.ts'

/** What connections are kept to: the adapter with a handler of this program, a complete server, or one whose connections workers serve. */
export const keptTransports = [
  ...(['plain', 'http1', 'http2', 'server-http1', 'server-http2', 'workers-http1', 'workers-http2'] as const),
] as const
export type KeptTransport = (typeof keptTransports)[number]

/** The adapter alone answers many times as fast. */
export const isAdapter = (transport: KeptTransport): boolean => !transport.includes('-')

export interface KeptRun {
  readonly transport: KeptTransport
  readonly requests: number
  readonly perSecond: number
  readonly connections: number
  readonly statuses: Readonly<Record<string, number>>
  /** Requests without a response. */
  readonly unanswered: number
  readonly findings: readonly string[]
}

interface KeptServer extends AsyncDisposable {
  readonly port: number
  readonly source: RequestSource
}

/** Connections at a time. */
const beside = 6
const requestsPerConnection = 2000
const progressMs = 30_000

/** Sends `total` requests over connections that each carry thousands. */
export async function fuzzKeptAlive(
  transport: KeptTransport,
  { seed, total }: { readonly seed: number; readonly total: number },
): Promise<KeptRun> {
  await using server = await (isAdapter(transport)
    ? startAdapter(transport !== 'plain')
    : startServer(transport.startsWith('workers') ? ['--threads=2'] : []))
  const statuses: Record<string, number> = {}
  const findings: string[] = []
  let connections = 0
  let answered = 0
  let unanswered = 0
  let next = 0
  const fromMs = performance.now()
  const perSecond = () => answered / ((performance.now() - fromMs) / 1000)
  const report = () =>
    console.error(
      `${transport}: ${answered} of ${total} answered, ${Math.round(perSecond())}/s, ${unanswered} unanswered, ${findings.length} wrong`,
    )
  const progress = setInterval(report, progressMs)
  const work = async () => {
    while (next < total) {
      const start = next
      const to = Math.min(total, start + requestsPerConnection)
      next = to
      for (let from = start; from < to; ) {
        const sending: Sending = {
          from,
          to,
          requestAt: (index) => server.source(seed, index),
          random: new RandomChoices(seed, -1 - connections++),
          onAnswer({ status }, wrong) {
            answered++
            statuses[status] = (statuses[status] ?? 0) + 1
            if (wrong !== undefined) findings.push(wrong)
          },
          onUnanswered({ index, method, target }, reason) {
            unanswered++
            findings.push(`request ${index}, ${method} ${target}: not answered: ${reason}`)
          },
        }
        from = await send(transport, server.port, sending)
      }
    }
  }
  await Promise.all(Array.from({ length: beside }, work))
  clearInterval(progress)
  report()
  return { transport, requests: total, perSecond: perSecond(), connections, statuses, unanswered, findings }
}

async function send(transport: KeptTransport, port: number, sending: Sending) {
  if (transport.endsWith('http2')) {
    // Node counts what it has not sent of a request that is answered early as long as the session lasts.
    const options = { rejectUnauthorized: false, maxSessionMemory: 10_000 }
    return sendOverHttp2(connectHttp2(`https://127.0.0.1:${port}`, options), sending)
  }
  return sendOverHttp1(transport === 'plain' ? await openPlain(port) : await openTls({ port }, 'http/1.1'), sending)
}

function openPlain(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket.setNoDelay(true)))
    socket.once('error', reject)
  })
}

async function startAdapter(secure: boolean): Promise<KeptServer> {
  const folder = mkdtempSync(join(tmpdir(), 'krmkit-fuzz-'))
  const listener = await listen({ handle: respond }, { tls: secure ? selfSigned(folder) : false })
  return {
    port: listener.port,
    source: echoRequest,
    async [Symbol.asyncDispose]() {
      await listener.close({ graceMs: 100 })
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function startServer(flags: readonly string[]): Promise<KeptServer> {
  const target = await startTarget({
    flags,
    async prepare(admin) {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${tokens.admin}` }
      for (const [i, size] of storedSizes.entries()) {
        const body = Buffer.concat(configMapBody(`stored-${i}`, size)).toString()
        const stored = await admin.send({ method: 'POST', target: '/api/v1/namespaces/default/configmaps', headers, body })
        if (stored.status !== 201) throw new Error(`a ConfigMap is answered with ${stored.status}: ${stored.text.slice(0, 300)}`)
      }
    },
  })
  return { port: target.process().port, source: apiRequest, [Symbol.asyncDispose]: () => target[Symbol.asyncDispose]() }
}

export function printKeptRun(
  { transport, requests, perSecond, connections, statuses, unanswered, findings }: KeptRun,
  shown: number,
) {
  const counts = Object.entries(statuses).map(([status, count]) => `${status}: ${count}`)
  console.log(
    `${transport}: ${requests} requests over ${connections} connections, ${Math.round(perSecond)}/s; ${counts.join(', ')}`,
  )
  console.log(`  ${unanswered} unanswered, ${findings.length} wrong`)
  for (const finding of findings.slice(0, shown)) console.log(`  ${finding}`)
}
