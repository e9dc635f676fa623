import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCertificateAuthority } from '@krmkit/authentication/testing'
import { systemClock, systemRandom } from '@krmkit/meta'
import { type AttackContext, type Family, watchingHeap } from '../harness/family.ts'
import { openSilently, servedMeanwhile, silentService } from '../harness/flood-tools.ts'
import { http1Bytes, openTls, type RawHeader, sendHttp1 } from '../harness/http1.ts'
import { frame, frameTypes, headerBlock, headerFrames, pseudoHeaders, RawHttp2 } from '../harness/http2.ts'
import { tokens } from '../harness/server-process.ts'
import { startTarget, type Target } from '../harness/target.ts'

/** Floods of connections, streams, names and endless bodies: privileged callers are served, and nothing accumulates. */

interface Flood {
  readonly name: string
  /** Attempts in a short and in a full run. */
  readonly counts: readonly [short: number, full: number]
  /** @returns why the outcome is wrong. */
  run(target: Target, count: number): Promise<string | undefined>
}

const text = (value: string): Uint8Array => Buffer.from(value, 'latin1')
const header = (name: string, value: string): RawHeader => [name, text(value)]
const bearer = (token: string): RawHeader => header('authorization', `Bearer ${token}`)
const rootGet = (headers: readonly RawHeader[]) => headerBlock([...pseudoHeaders('GET', '/version'), ...headers])

const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'

/** Connections whose bodies end after the first byte. */
function slowBodies(name: string, path: string, credential: string): Flood {
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\n${credential}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`
  return {
    name,
    counts: [205, 650],
    async run(target, count) {
      const opened = await openSilently(target.process().port, count, () => text(head))
      try {
        return await servedMeanwhile(target.process())
      } finally {
        opened.close()
      }
    },
  }
}

const floods: readonly Flood[] = [
  slowBodies(
    'bodies of one byte by a caller without rights',
    '/api/v1/namespaces/default/configmaps',
    `Authorization: Bearer ${tokens.carol}\r\n`,
  ),
  slowBodies('reviews of one byte, which everyone may send', reviews, `Authorization: Bearer ${tokens.carol}\r\n`),
  slowBodies('anonymous bodies of one byte', '/api/v1/namespaces/default/configmaps', ''),
  {
    name: 'long paths without a credential',
    counts: [20, 300],
    async run(target, count) {
      const { port } = target.process()
      for (let i = 0; i < count; i++)
        await sendHttp1({ method: 'GET', target: `/api/v1/namespaces/default/${'p'.repeat(900_000)}${i}`, headers: [] }, { port })
      return servedMeanwhile(target.process(), 2)
    },
  },
  {
    name: 'many resources',
    counts: [300, 30_000],
    run: (target, count) => manyPaths(target, count, (i) => `/api/v1/resource${i}`),
  },
  {
    name: 'many groups',
    counts: [200, 10_000],
    run: (target, count) => manyPaths(target, count, (i) => `/apis/group${i}.example/v1/things`),
  },
  {
    name: 'many sub-resources of an administrator',
    counts: [200, 10_000],
    run: (target, count) => manyPaths(target, count, (i) => `/api/v1/namespaces/default/pods/p/sub${i}`, [bearer(tokens.admin)]),
  },
  {
    name: 'many methods',
    counts: [200, 5000],
    run: (target, count) =>
      manyRequests(target, count, (i) => ({ method: `M${i}`, target: '/api/v1/pods', headers: [bearer(tokens.admin)] })),
  },
  {
    name: 'many Accept headers',
    counts: [200, 10_000],
    run: (target, count) =>
      manyRequests(target, count, (i) => ({
        method: 'GET',
        target: '/api/v1/namespaces/default/configmaps?limit=1',
        headers: [bearer(tokens.admin), header('accept', `application/json;x=${'y'.repeat(3500)}${i}, */*`)],
      })),
  },
  {
    name: 'many junk tokens',
    counts: [200, 10_000],
    run: (target, count) =>
      manyRequests(target, count, (i) => ({ method: 'GET', target: '/api', headers: [bearer(`junk-${'z'.repeat(3000)}${i}`)] })),
  },
  {
    name: 'streams that are reset at once',
    counts: [3000, 30_000],
    async run(target, count) {
      const connection = await RawHttp2.open({ port: target.process().port })
      const block = rootGet([bearer(tokens.admin)])
      for (let i = 0; i < count && connection.usable; i++) {
        const stream = connection.nextStream()
        connection.write(headerFrames(stream, block, true))
        connection.write(frame(frameTypes.rstStream, { stream, payload: Buffer.from([0, 0, 0, 8]) }))
        if (i % 200 === 0) await turn()
      }
      const wrong = await servedMeanwhile(target.process(), 2)
      connection.close()
      return wrong
    },
  },
  {
    name: 'CONTINUATION frames without end',
    counts: [500, 5000],
    async run(target, count) {
      const connection = await RawHttp2.open({ port: target.process().port })
      const block = headerBlock([header('x-pad', 'y'.repeat(15_000))])
      const stream = connection.nextStream()
      connection.write(frame(frameTypes.headers, { stream, payload: rootGet([]) }))
      let sent = 0
      for (; sent < count && connection.usable; sent++) {
        connection.write(frame(frameTypes.continuation, { stream, payload: block }))
        if (sent % 20 === 0) await turn()
      }
      const wrong = await servedMeanwhile(target.process(), 2)
      const stillOpen = connection.usable
      connection.close()
      return wrong ?? (stillOpen ? `${sent} frames of a header list are taken` : undefined)
    },
  },
  {
    name: 'pings',
    counts: [5000, 100_000],
    run: (target, count) => manyFrames(target, count, frame(frameTypes.ping, { payload: Buffer.alloc(8) })),
  },
  { name: 'settings', counts: [2000, 50_000], run: (target, count) => manyFrames(target, count, frame(frameTypes.settings)) },
  {
    name: 'headers without end over HTTP/1.1',
    counts: [400, 4000],
    run: (target, count) =>
      endless(target, {
        head: 'GET /version HTTP/1.1\r\nHost: x\r\n',
        piece: `x-pad: ${'y'.repeat(8000)}\r\n`,
        count,
        limitBytes: 4 * 2 ** 20,
      }),
  },
  {
    name: 'an anonymous body without end',
    counts: [400, 4000],
    run: (target, count) =>
      endless(target, {
        head: 'POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
        piece: `10000\r\n${'y'.repeat(65_536)}\r\n`,
        count,
        limitBytes: 16 * 2 ** 20,
      }),
  },
  {
    name: 'an anonymous body of a stated length of 10 GB',
    counts: [400, 4000],
    run: (target, count) =>
      endless(target, {
        head: 'POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10000000000\r\n\r\n',
        piece: 'y'.repeat(65_536),
        count,
        limitBytes: 16 * 2 ** 20,
      }),
  },
]

const turn = () => new Promise((resolve) => setTimeout(resolve, 5))

async function manyFrames(target: Target, count: number, bytes: Buffer): Promise<string | undefined> {
  const connection = await RawHttp2.open({ port: target.process().port })
  for (let i = 0; i < count && connection.usable; i += 100) {
    connection.write(Buffer.concat(Array.from({ length: 100 }, () => bytes)))
    if (i % 1000 === 0) await turn()
  }
  const wrong = await servedMeanwhile(target.process(), 2)
  connection.close()
  return wrong
}

interface Plain {
  readonly method: string
  readonly target: string
  readonly headers: readonly RawHeader[]
}

/** Requests over one HTTP/2 connection, 50 at a time. */
async function manyRequests(target: Target, count: number, make: (index: number) => Plain): Promise<string | undefined> {
  const { port } = target.process()
  let connection = await RawHttp2.open({ port })
  for (let from = 0; from < count; from += 50) {
    if (!connection.usable) connection = await RawHttp2.open({ port })
    await Promise.all(Array.from({ length: Math.min(50, count - from) }, (_, i) => connection.send(make(from + i))))
  }
  connection.close()
  return servedMeanwhile(target.process(), 2)
}

/** Distinct paths: the size of the metrics page is bounded. */
async function manyPaths(
  target: Target,
  count: number,
  path: (index: number) => string,
  headers: readonly RawHeader[] = [],
): Promise<string | undefined> {
  const before = (await target.admin().send({ method: 'GET', target: '/metrics' })).bytes
  const wrong = await manyRequests(target, count, (i) => ({ method: 'GET', target: path(i), headers }))
  const after = (await target.admin().send({ method: 'GET', target: '/metrics' })).bytes
  const allowed = 128 * 1024
  return wrong ?? (after - before > allowed ? `/metrics grows from ${before} to ${after} bytes` : undefined)
}

interface Endless {
  readonly head: string
  readonly piece: string
  readonly count: number
  /** The connection must be closed before this many bytes. */
  readonly limitBytes: number
}

async function endless(target: Target, { head, piece, count, limitBytes }: Endless): Promise<string | undefined> {
  const socket = await openTls({ port: target.process().port }, 'http/1.1')
  let closed = false
  socket.on('error', () => undefined)
  socket.on('close', () => {
    closed = true
  })
  socket.resume()
  socket.write(text(head))
  let taken = 0
  const until = performance.now() + 20_000
  for (let i = 0; i < count && !closed && performance.now() < until; i++) {
    const drained = socket.write(text(piece))
    taken = socket.bytesWritten - socket.writableLength
    if (!drained)
      await Promise.race([
        new Promise((resolve) => socket.once('drain', resolve)),
        new Promise((resolve) => setTimeout(resolve, 500)),
      ])
    // A peer that stops reading has bounded the body, too.
  }
  socket.destroy()
  const wrong = await servedMeanwhile(target.process(), 2)
  return wrong ?? (taken > limitBytes ? `${Math.round(taken / 2 ** 20)} MiB are taken` : undefined)
}

/** Invalid tokens against services that never respond; `flags` configures the service. */
async function hangingAuthenticator(
  context: AttackContext,
  {
    name,
    flags,
    token,
    service,
  }: {
    name: string
    flags: (folder: string) => readonly string[]
    token: (index: number) => string
    service: { accepted(): number }
  },
): Promise<void> {
  const count = context.size === 'full' ? 650 : 250
  await using target = await startTarget({ flagsIn: flags })
  const { result, stallMs, peakMiB } = await target.measured(async () => {
    const bytes = (i: number) =>
      http1Bytes({ method: 'POST', target: '/api/v1/namespaces/default/configmaps', headers: [bearer(token(i))] })
    const opened = await openSilently(target.process().port, count, bytes)
    try {
      return (await servedMeanwhile(target.process())) ?? (service.accepted() === 0 ? 'the service is not asked' : undefined)
    } finally {
      opened.close()
    }
  })
  context.report.add({
    name: `${name} (${count})`,
    outcome: 'refused',
    stallMs,
    peakMiB,
    ...(result === undefined ? {} : { reason: result }),
  })
}

async function hangingAuthenticators(context: AttackContext): Promise<void> {
  await using webhook = await silentService()
  await hangingAuthenticator(context, {
    name: 'junk tokens behind a token webhook that hangs',
    service: webhook,
    token: (i) => `junk-token-${i}`,
    flags(folder) {
      const path = join(folder, 'webhook.kubeconfig')
      const cluster = { name: 'c', cluster: { server: `http://127.0.0.1:${webhook.port}/review` } }
      const config = { apiVersion: 'v1', kind: 'Config', clusters: [cluster], users: [{ name: 'u', user: {} }] }
      writeFileSync(
        path,
        JSON.stringify({ ...config, contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }], 'current-context': 'x' }),
      )
      return [`--authentication-token-webhook-config-file=${path}`]
    },
  })
  const authority = createCertificateAuthority({ name: 'issuer', clock: systemClock, random: systemRandom })
  await using issuer = await silentService(authority.issue({ usage: 'server', hosts: ['127.0.0.1'] }))
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const issuerUrl = `https://127.0.0.1:${issuer.port}`
  await hangingAuthenticator(context, {
    name: 'junk tokens of an issuer that hangs',
    service: issuer,
    token: (i) =>
      `${part({ alg: 'RS256', kid: `k${i}` })}.${part({ iss: issuerUrl, aud: 'c', sub: `s${i}`, exp: 4e9 })}.${'A'.repeat(342)}`,
    flags(folder) {
      writeFileSync(join(folder, 'issuer.pem'), authority.certificate)
      return [`--oidc-issuer-url=${issuerUrl}`, '--oidc-client-id=c', `--oidc-ca-file=${join(folder, 'issuer.pem')}`]
    },
  })
}

export const floodFamily: Family = {
  name: 'floods',
  purpose: 'administrators and nodes are answered at once during any flood, and nothing of it is kept',
  // Many requests share a turn of the event loop; the delay of other callers counts, which every flood measures.
  bounds: { stallMs: 500 },
  async run(context) {
    await using target = await startTarget()
    await watchingHeap(target, context, async () => {
      for (const { name, counts, run } of floods) {
        const count = counts[context.size === 'full' ? 1 : 0]
        const { result, stallMs, peakMiB, lost } = await target.measured(() =>
          run(target, count).catch((error: unknown) => (target.process().alive() ? `${error}` : 'the server has ended')),
        )
        const reason = lost ? (result ?? 'the server does not answer') : result
        context.report.add({
          name: `${count}: ${name}`,
          outcome: 'refused',
          stallMs,
          peakMiB,
          ...(reason === undefined ? {} : { reason }),
        })
      }
    })
    await hangingAuthenticators(context)
  },
}
