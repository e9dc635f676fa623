import type { Clock } from '@krmkit/meta'

/** As much of a fetch as authenticators need: the global `fetch` is one, and so is any function that carries requests. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchedResponse>

export interface FetchInit {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: string
  readonly signal: AbortSignal
  /** Redirects are never followed: they could lead to somebody else. */
  readonly redirect: 'error'
}

export interface FetchedResponse {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly body: AsyncIterable<Uint8Array> | null
}

export interface Answer {
  readonly status: number
  readonly text: string
  /** Seconds after which the other side wants to be asked again. */
  readonly retryAfterSeconds: number | undefined
}

const maxBytes = 1024 * 1024

/** Asks and reads the whole answer, at most a megabyte, within a time. @throws Error when that fails. */
export async function ask(
  fetch: Fetch,
  request: { readonly url: string; readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string },
  options: { readonly clock: Clock; readonly timeoutMs: number },
): Promise<Answer> {
  const abort = new AbortController()
  const late = new Error(`no answer within ${options.timeoutMs} ms`)
  const cancel = options.clock.setTimeout(() => abort.abort(late), options.timeoutMs)
  const expired = new Promise<never>((_, reject) => {
    abort.signal.addEventListener('abort', () => reject(late), { once: true })
  })
  // Whoever carries the request may not listen to the signal.
  const work = (async (): Promise<Answer> => {
    const response = await fetch(request.url, {
      method: request.method ?? 'GET',
      headers: { accept: 'application/json', ...request.headers },
      ...(request.body === undefined ? {} : { body: request.body }),
      signal: abort.signal,
      redirect: 'error',
    })
    const text = await textOf(response.body)
    return { status: response.status, text, retryAfterSeconds: secondsIn(response.headers.get('retry-after')) }
  })()
  try {
    return await Promise.race([work, expired])
  } finally {
    cancel()
    work.catch(() => undefined)
    expired.catch(() => undefined)
  }
}

async function textOf(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  if (body === null) return ''
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of body) {
    size += part.length
    if (size > maxBytes) throw new Error('the answer is too long')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function secondsIn(header: string | null): number | undefined {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) : undefined
}
