import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createApiServer } from '@krmkit/apiserver'
import {
  anonymousAuthenticator,
  createAuthenticatorChain,
  createBearerTokenAuthenticator,
  createStaticTokenAuthenticator,
  withAuthenticatedGroup,
} from '@krmkit/authentication'
import { systemMasters } from '@krmkit/authorization'
import { seededRandom } from '@krmkit/meta'
import { memoryStorage } from '@krmkit/storage'
import { knownTokens, type Transport } from '../attacks/families/header-rules.ts'
import type { RawAnswer } from '../attacks/harness/http1.ts'
import { RawHttp2 } from '../attacks/harness/http2.ts'
import { harnessFolder } from '../attacks/harness/root.ts'
import { type AttackedProcess, startAttackedProcess } from '../attacks/harness/server-process.ts'
import { Connection } from './connection.ts'
import type { Draft } from './requests.ts'

/** Transports of random requests. */
export interface FuzzedServer extends AsyncDisposable {
  send(draft: Draft): Promise<RawAnswer>
  probe: AttackedProcess['probe']
  /** Faults that the server has detected. */
  faults(): readonly unknown[]
}

/** Retention of past versions, short, so that stored objects do not count as a leak. */
const historyMs = 5000

export function startFuzzed(transport: Transport): Promise<FuzzedServer> {
  return transport === 'in-process' ? startInProcess() : startOverSockets(transport)
}

/** The probe of this process, which runs both server and generator. */
function ownProbe(): AttackedProcess['probe'] {
  const answers = createRequire(import.meta.url)(join(harnessFolder, 'probe.cjs')) as Record<string, () => object>
  return ((ask: string) =>
    new Promise((resolve) => setTimeout(() => resolve(answers[ask]?.() as never), 3))) as AttackedProcess['probe']
}

export async function startInProcess({ probe = ownProbe() }: { probe?: AttackedProcess['probe'] } = {}): Promise<FuzzedServer> {
  const faults: unknown[] = []
  const tokens = Object.entries(knownTokens).map(([token, user]) => ({ token, user }))
  const known = withAuthenticatedGroup(
    createBearerTokenAuthenticator(createStaticTokenAuthenticator(tokens, { random: seededRandom(1) })),
  )
  const server = await createApiServer({
    storage: memoryStorage({ historyMs }),
    authenticator: createAuthenticatorChain([known, anonymousAuthenticator], { onRejection: 'stop' }),
    authorizer: systemMasters,
    onError: (error) => faults.push(error),
  })
  return {
    probe,
    faults: () => faults,
    async send({ method, path, query, headers, body }) {
      const gone = new AbortController()
      const lists: Record<string, string[]> = Object.create(null)
      for (const [name, value] of headers) lists[name] = [...(lists[name] ?? []), Buffer.from(value).toString('utf8')]
      const one = Object.entries(lists).map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values] as const)
      const response = await server.handle({
        method,
        path,
        query,
        headers: Object.fromEntries(one),
        body: async (limit) => {
          if (body.byteLength > limit) throw new Error('no body of the run is as large')
          return body
        },
        peer: {},
        signal: gone.signal,
      })
      const chunks: Uint8Array[] = []
      if (response.body.kind === 'bytes') chunks.push(response.body.bytes)
      else if (response.body.kind === 'list')
        for (const part of response.body.parts) chunks.push(part instanceof Uint8Array ? part : part.bytes())
      else if (response.body.kind === 'stream') {
        gone.abort()
        for await (const piece of response.body.stream) chunks.push(piece)
      }
      return { status: response.status, text: Buffer.concat(chunks).toString() }
    },
    [Symbol.asyncDispose]: () => server.close(),
  }
}

async function startOverSockets(transport: Transport): Promise<FuzzedServer> {
  const process = await startAttackedProcess({ flags: [`--etcd-compaction-interval=${historyMs / 1000}s`] })
  const { port } = process
  const idle: Connection[] = []
  const sessions: (RawHttp2 | undefined)[] = Array.from({ length: 8 })
  const overHttp1 = async (draft: Draft): Promise<RawAnswer> => {
    const connection = idle.pop() ?? (await Connection.open(port))
    const answer = await connection.send(onWire(draft))
    if (connection.usable) idle.push(connection)
    return answer
  }
  const overHttp2 = async (draft: Draft): Promise<RawAnswer> => {
    // Requests that may end their connection get a separate one.
    if (draft.expected.mayRefuse) {
      const own = await RawHttp2.open({ port })
      const answer = await own.send(onWire(draft))
      own.close()
      return answer
    }
    const at = draft.index % sessions.length
    const known = sessions[at]
    if (known?.usable === true) return known.send(onWire(draft))
    const opened = await RawHttp2.open({ port })
    sessions[at] = opened
    return opened.send(onWire(draft))
  }
  const send = transport === 'http1' ? overHttp1 : overHttp2
  return {
    probe: process.probe,
    faults: () => [],
    async send(draft) {
      const first = await send(draft)
      // Another request may have ended a shared or kept connection.
      return first.status === 0 && !draft.expected.mayRefuse && process.alive() ? send(draft) : first
    },
    async [Symbol.asyncDispose]() {
      for (const each of idle) each.close()
      for (const each of sessions) each?.close()
      await process.kill()
    },
  }
}

function onWire({ method, path, query, headers, body }: Draft) {
  return { method, target: wireTarget(`${path}?${query}`), headers, body }
}

/** UTF-8 bytes as one character each, for a request line. */
function wireTarget(target: string): string {
  return Buffer.from(target, 'utf8').toString('latin1')
}
