import { type FakeClock, fakeClock, seededRandom, type UserInfo } from '@krmkit/meta'
import type { ApiBody, ApiRequest, ApiResponse } from '@krmkit/protocol'
import { memoryStorage, type Storage } from '@krmkit/storage'
import type { RequestContext } from '../request/context.ts'
import { parseRequestInfo } from '../request/info.ts'
import { parseQuery } from '../request/query.ts'
import type { ApiServerOptions } from '../server/options.ts'
import { createApiServer, type EmbeddedServer } from '../server/server.ts'

/** Requests and servers for tests. */

export interface Asking {
  readonly method?: string
  readonly body?: unknown
  /** A raw body, which replaces the JSON of `body`. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly user?: UserInfo
  readonly signal?: AbortSignal
}

/** A response with its whole body. */
export interface Answer {
  readonly status: number
  readonly headers: ApiResponse['headers']
  readonly text: string
  /** The parsed body; `undefined` when it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect arbitrary responses
  readonly json: any
}

export interface SampleServer {
  readonly server: EmbeddedServer
  readonly clock: FakeClock
  readonly storage: Storage
  /** Sends one request as administrator; `target` is a path with its query. */
  ask(target: string, asking?: Asking): Promise<Answer>
}

export const administrator: UserInfo = { username: 'admin', groups: ['system:masters', 'system:authenticated'] }

export async function sampleServer(options: Partial<ApiServerOptions> = {}): Promise<SampleServer> {
  const clock = fakeClock(Date.UTC(2024, 0, 1))
  const { storage = memoryStorage({ clock }) } = options
  const server = await createApiServer({ clock, random: seededRandom(1), ...options, storage })
  return {
    server,
    clock,
    storage,
    async ask(target, asking = {}) {
      const { status, headers, body } = await server.handle(requestOf(target, { user: administrator, ...asking }))
      const text = await readAll(body)
      return { status, headers, text, json: jsonOf(text) }
    },
  }
}

export function requestOf(target: string, { method = 'GET', body, text, headers = {}, user, signal }: Asking = {}): ApiRequest {
  const [path = '', query = ''] = target.split('?')
  return {
    method,
    path,
    query,
    headers: body === undefined && text === undefined ? headers : { 'content-type': 'application/json', ...headers },
    body: async () => new TextEncoder().encode(text ?? (body === undefined ? '' : JSON.stringify(body))),
    peer: {},
    signal: signal ?? new AbortController().signal,
    ...(user === undefined ? {} : { user }),
  }
}

/** The context of a request in the filter chain. */
export function contextOf(target: string, asking: Asking = {}): RequestContext {
  const request = requestOf(target, asking)
  const query = parseQuery(request.query)
  const info = parseRequestInfo(request.method, request.path, query.has('watch'))
  if (info === undefined) throw new Error(`no path: ${target}`)
  return {
    request,
    info,
    query,
    selectors: undefined,
    user: asking.user ?? administrator,
    warnings: [],
    signal: request.signal,
    startedAt: 0,
    auditId: 'id',
    annotations: {},
    auditLevel: 'None',
    isAudited: false,
    detailAnnotations: {},
    decisions: [],
    requestObject: undefined,
    responseHeaders: undefined,
    fault: undefined,
    deadline: undefined,
    span: undefined,
    watchInitialized: undefined,
  }
}

/** An empty response, for the end of a chain. */
export const done: ApiResponse = { status: 200, headers: {}, body: { kind: 'empty' } }

export async function readAll(body: ApiBody): Promise<string> {
  if (body.kind === 'empty' || body.kind === 'connection') return ''
  if (body.kind === 'bytes') return new TextDecoder().decode(body.bytes)
  if (body.kind === 'list')
    return new TextDecoder().decode(Buffer.concat(body.parts.map((part) => (part instanceof Uint8Array ? part : part.bytes()))))
  const parts: Uint8Array[] = []
  for await (const part of body.stream) parts.push(part)
  return new TextDecoder().decode(Buffer.concat(parts))
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
