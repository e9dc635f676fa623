import type { ApiRequest, ApiResponse, Handler } from '@krmkit/protocol'
import { type RequestAttributes, requestAttributes } from '../request-attributes.ts'
import { type Match, matches } from '../request-match.ts'
import { withOverrides } from '../request-overrides.ts'
import { type StreamManner, WatchTap } from './watch-tap.ts'

/** A request of the client under test. */
export interface SeenRequest extends RequestAttributes {
  /** Time of arrival in milliseconds, on a monotonic clock. */
  readonly atMs: number
  readonly parameters: URLSearchParams
  readonly headers: ApiRequest['headers']
  /** The body; empty until the server has read it. */
  body: string
  /** HTTP status; 0 until it is known, or if no response was sent. */
  code: number
}

/** Forwards a request, with another query if given. */
export type Next = (query?: string) => Promise<ApiResponse>

export type Intercept = (next: Next, request: SeenRequest) => Promise<ApiResponse>

interface Rule {
  readonly match: Match
  readonly intercept: Intercept
}

/** Proxy between the port and the server: records requests, and modifies requests, responses and the bytes of watches. */
export class Front {
  readonly requests: SeenRequest[] = []
  readonly #taps = new Set<WatchTap>()
  #rules: Rule[] = []
  #manner: StreamManner = 'whole'

  /** The requests of some verbs, oldest first. */
  of(...verbs: readonly string[]): SeenRequest[] {
    return this.requests.filter(({ verb }) => verbs.includes(verb))
  }

  /** Intercepts matching requests. Several rules nest, the first is outermost. @returns a function that removes the rule */
  intercept(match: Match, intercept: Intercept): () => void {
    const rule = { match, intercept }
    this.#rules.push(rule)
    return () => {
      this.#rules = this.#rules.filter((each) => each !== rule)
    }
  }

  /** Holds matching requests, except the first `after`, until the returned function is called. */
  hold(match: Match, after = 0): () => void {
    let release: () => void = () => undefined
    let skipped = 0
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const end = this.intercept(match, async (next) => {
      if (++skipped > after) await released
      return next()
    })
    return () => {
      end()
      release()
    }
  }

  /** Sets how events of watches are written from now on. */
  set manner(manner: StreamManner) {
    this.#manner = manner
    for (const tap of this.#taps) tap.manner = manner
  }

  /** Writes events into all open watches. */
  inject(...events: readonly object[]): void {
    const text = events.map((event) => `${JSON.stringify(event)}\n`).join('')
    for (const tap of this.#taps) tap.push(new TextEncoder().encode(text))
  }

  get openWatches(): number {
    return this.#taps.size
  }

  wrap(handle: Handler): Handler {
    return async (request) => {
      const seen = this.#record(request)
      const user = ''
      const chain = this.#rules.filter(({ match }) => matches(match, { ...seen, user }))
      const send = (index: number, query: string): Promise<ApiResponse> => {
        const rule = chain[index]
        if (rule !== undefined) return rule.intercept((other = query) => send(index + 1, other), seen)
        return handle(withOverrides(request, { query, body: (limitBytes) => readBody(request, seen, limitBytes) }))
      }
      const response = await send(0, request.query)
      seen.code = response.status
      return seen.verb === 'watch' ? this.#tapped(response) : response
    }
  }

  #record(request: ApiRequest): SeenRequest {
    const seen: SeenRequest = {
      ...requestAttributes(request),
      atMs: performance.now(),
      parameters: new URLSearchParams(request.query),
      headers: request.headers,
      body: '',
      code: 0,
    }
    this.requests.push(seen)
    return seen
  }

  #tapped(response: ApiResponse): ApiResponse {
    if (response.body.kind !== 'stream') return response
    const tap = new WatchTap(response.body.stream, () => this.#taps.delete(tap))
    tap.manner = this.#manner
    this.#taps.add(tap)
    return { ...response, body: { kind: 'stream', stream: tap.pieces() } }
  }
}

async function readBody(request: ApiRequest, seen: SeenRequest, limitBytes: number): Promise<Uint8Array> {
  const bytes = await request.body(limitBytes)
  seen.body = new TextDecoder().decode(bytes)
  return bytes
}
