import type { PostJson } from '@krmkit/admission'
import { loadKubeconfig } from '@krmkit/client'
import { CliError, messageOf } from '../cli-error.ts'
import { createRemoteFetch, type RemoteFetch } from '../remote-fetch.ts'

/** Connections of admission plugins to webhooks that a kubeconfig describes, such as the image policy webhook. */
export interface WebhookConnections extends AsyncDisposable {
  connect(kubeconfigPath: string): PostJson
  /** Resolves when all kubeconfig files have been read. @throws CliError `FileFailed` for one that cannot be used. */
  ready(): Promise<void>
}

const timeoutMs = 30_000
const maxResponseBytes = 1024 * 1024

export function createWebhookConnections(): WebhookConnections {
  const services: Promise<Service>[] = []
  return {
    connect(path) {
      const service = open(path)
      // `ready` reports the error.
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
    return { url: connection.server, remote: createRemoteFetch(connection) }
  } catch (cause) {
    const why = messageOf(cause)
    throw new CliError({ code: 'FileFailed', message: `image policy: ${path}: ${why}`, cause })
  }
}

async function post({ url, remote }: Service, body: unknown): Promise<unknown> {
  const response = await remote.fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
    redirect: 'manual',
  })
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of response.body ?? []) {
    length += part.byteLength
    if (length > maxResponseBytes) throw new Error(`the response of ${url} is larger than ${maxResponseBytes} bytes`)
    parts.push(part)
  }
  if (response.status < 200 || response.status > 299) {
    throw Object.assign(new Error(`Error contacting webhook: ${response.status}`), { status: response.status })
  }
  return JSON.parse(Buffer.concat(parts).toString('utf8'))
}
