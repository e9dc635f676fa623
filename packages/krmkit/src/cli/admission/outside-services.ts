import type { PostJson } from '@krmkit/admission'
import { loadKubeconfig } from '@krmkit/client'
import { type RemoteFetch, remoteFetch } from '../authentication/remote-fetch.ts'
import { CliError } from '../cli-error.ts'

/** Services outside that plugins ask, each described by a kubeconfig. */
export interface OutsideServices extends AsyncDisposable {
  connect(kubeconfigPath: string): PostJson
  /** @throws CliError `FileFailed` for a kubeconfig that cannot be used. */
  ready(): Promise<void>
}

const timeoutMs = 30_000
const maxAnswerBytes = 1024 * 1024

export function outsideServices(): OutsideServices {
  const services: Promise<Service>[] = []
  return {
    connect(path) {
      const service = open(path)
      // Whoever starts the server hears of it by `ready`.
      service.catch(() => undefined)
      services.push(service)
      return async (body) => post(await service, body)
    },
    async ready() {
      await Promise.all(services)
    },
    async [Symbol.asyncDispose]() {
      for (const service of await Promise.allSettled(services)) {
        if (service.status === 'fulfilled') await service.value.remote[Symbol.asyncDispose]()
      }
    },
  }
}

interface Service {
  readonly url: string
  readonly remote: RemoteFetch
}

async function open(path: string): Promise<Service> {
  try {
    const connection = await loadKubeconfig({ path })
    return { url: connection.server, remote: remoteFetch(connection) }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new CliError({ code: 'FileFailed', message: `image policy: ${path}: ${why}`, cause })
  }
}

async function post({ url, remote }: Service, body: unknown): Promise<unknown> {
  const answer = await remote.fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
    redirect: 'error',
  })
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of answer.body ?? []) {
    length += part.byteLength
    if (length > maxAnswerBytes) throw new Error(`the answer of ${url} is too long`)
    parts.push(part)
  }
  if (answer.status < 200 || answer.status > 299) {
    throw Object.assign(new Error(`Error contacting webhook: ${answer.status}`), { status: answer.status })
  }
  return JSON.parse(Buffer.concat(parts).toString('utf8'))
}
