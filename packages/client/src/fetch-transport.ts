import type { OptionKinds } from '@krmkit/base/arguments'
import type { Transport, TransportRequest, TransportResponse } from '@krmkit/protocol'
import { ClientError } from './client-error.ts'
import { checkArguments } from './client-options.ts'

/** Transport to a remote server for runtimes with `fetch`: browsers, edge runtimes, Deno, Bun. */

export interface FetchTransportOptions {
  /** `https://host:port`, with a path if the server has one. */
  readonly server: string
  /** A bearer token, or a function that returns the current one. */
  readonly token?: string | (() => string | Promise<string>)
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
}

const connectionKinds: OptionKinds<FetchTransportOptions> = { server: 'text', token: 'textOrFunction', fetch: 'function' }

/**
 * Creates a transport over `fetch`. The runtime verifies the certificate of the server. A browser needs a server that allows the origin of
 * the page (`--cors-allowed-origins`), and shows only the headers that the server exposes.
 *
 * @throws ClientError `InvalidRequest` for invalid options, such as a `server` that is not an HTTP or HTTPS URL.
 * @example
 * import { createClient, createFetchTransport } from '@krmkit/client'
 * const transport = createFetchTransport({ server: 'https://api.example.com:6443', token: 'secret' })
 * const client = createClient(transport, { namespace: 'shop' })
 */
export function createFetchTransport(options: FetchTransportOptions): Transport {
  checkArguments(options, { what: 'createFetchTransport', kinds: connectionKinds, example: '{ server: "https://host:6443" }' })
  const { server, token, fetch = globalThis.fetch } = options
  const url = URL.canParse(server) ? new URL(server) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new ClientError({ code: 'InvalidRequest', message: `server: ${JSON.stringify(server)} is not an HTTP or HTTPS URL` })
  }
  const prefix = `${url.origin}${url.pathname.replace(/\/$/, '')}`
  const closing = new AbortController()
  return {
    async send(request) {
      if (closing.signal.aborted) throw new ClientError({ code: 'Closed', message: 'the client was closed' })
      request.signal?.throwIfAborted()
      const current = typeof token === 'function' ? await token() : token
      request.signal?.throwIfAborted()
      const abort = new AbortController()
      const release = forwardAbort([request.signal, closing.signal], abort)
      try {
        const response = await fetch(`${prefix}${request.path}${request.query === '' ? '' : `?${request.query}`}`, {
          method: request.method,
          headers: headersOf(request, current),
          // Not every runtime supports the mode 'error'.
          redirect: 'manual',
          signal: abort.signal,
          ...(request.body === undefined ? {} : { body: Uint8Array.from(request.body) }),
        })
        if (isRedirect(response)) {
          abort.abort()
          throw new Error('it responded with a redirect, and redirects are not followed')
        }
        const body = bodyOf(response, { abort, release, signal: request.signal })
        return { status: response.status, headers: Object.fromEntries(response.headers), body } satisfies TransportResponse
      } catch (error) {
        release()
        request.signal?.throwIfAborted()
        const why = error instanceof Error ? error.message : String(error)
        throw new ClientError({ code: 'Unreachable', message: `cannot reach ${server}: ${why}`, cause: error })
      }
    },
    async close() {
      closing.abort()
    },
  }
}

/** Whether a response is a redirect. Browsers hide its status and report the type `opaqueredirect`. */
function isRedirect({ type, status, headers }: Response): boolean {
  return type === 'opaqueredirect' || (status >= 300 && status < 400 && headers.has('location'))
}

/** Aborts the controller when the first of the signals aborts. @returns a function that removes the listeners */
function forwardAbort(signals: readonly (AbortSignal | undefined)[], abort: AbortController): () => void {
  const onAbort = () => abort.abort()
  for (const signal of signals) signal?.addEventListener('abort', onAbort, { once: true })
  return () => {
    for (const signal of signals) signal?.removeEventListener('abort', onAbort)
  }
}

function headersOf({ headers }: TransportRequest, token: string | undefined): Headers {
  const sent = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    for (const each of typeof value === 'string' ? [value] : value) sent.append(name, each)
  }
  if (token !== undefined && token !== '' && !sent.has('authorization')) sent.set('authorization', `Bearer ${token}`)
  return sent
}

interface Exchange {
  readonly abort: AbortController
  readonly release: () => void
  readonly signal: AbortSignal | undefined
}

/** Yields the bytes of the response; leaving the loop ends the request. */
async function* bodyOf({ body }: Response, { abort, release, signal }: Exchange): AsyncGenerator<Uint8Array, void, undefined> {
  // Not every runtime supports iterating over a ReadableStream.
  const reader = body?.getReader()
  let isComplete = reader === undefined
  try {
    while (!isComplete) {
      const part = await reader!.read()
      if (part.done) isComplete = true
      else yield part.value
    }
  } catch (error) {
    signal?.throwIfAborted()
    throw new ClientError({ code: 'Unreachable', message: 'the connection was interrupted during a response', cause: error })
  } finally {
    release()
    if (!isComplete) abort.abort()
  }
}
