import type { Clock } from '@krmkit/meta'

/** As much of a fetch as an authorizer needs: the global `fetch` is one, and so is any function that carries requests. */
export type Fetch = (
  url: string,
  init: {
    readonly method: string
    readonly headers: Record<string, string>
    readonly body: string
    readonly signal: AbortSignal
    /** Redirects are never followed: they could lead to somebody else. */
    readonly redirect: 'error'
  },
) => Promise<{
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly body: AsyncIterable<Uint8Array> | null
}>

export interface Answer {
  readonly status: number
  readonly text: string
  /** Seconds after which the other side wants to be asked again. */
  readonly retryAfterSeconds: number | undefined
}

const maxBytes = 1024 * 1024

/** Posts JSON and reads the whole answer, at most a megabyte, within a time. @throws Error when that fails. */
export async function post(
  fetch: Fetch,
  request: { readonly url: string; readonly body: string },
  options: { readonly clock: Clock; readonly timeoutMs: number },
): Promise<Answer> {
  const abort = new AbortController()
  const late = new Error(`no answer within ${options.timeoutMs} ms`)
  let cancel: () => void = () => undefined
  const expired = new Promise<never>((_, reject) => {
    cancel = options.clock.setTimeout(() => {
      abort.abort(late)
      reject(late)
    }, options.timeoutMs)
  })
  // Whoever carries the request may not listen to the signal.
  const work = exchange(fetch, request, abort.signal)
  try {
    return await Promise.race([work, expired])
  } finally {
    cancel()
    work.catch(() => undefined)
  }
}

async function exchange(
  fetch: Fetch,
  { url, body }: { readonly url: string; readonly body: string },
  signal: AbortSignal,
): Promise<Answer> {
  const headers = { accept: 'application/json', 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'error' })
  const retryAfter = response.headers.get('retry-after') ?? ''
  const retryAfterSeconds = /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : undefined
  return { status: response.status, text: await textOf(response.body), retryAfterSeconds }
}

async function textOf(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for await (const part of body ?? []) {
    size += part.length
    if (size > maxBytes) throw new Error('the answer is too long')
    text += decoder.decode(part, { stream: true })
  }
  return text + decoder.decode()
}
