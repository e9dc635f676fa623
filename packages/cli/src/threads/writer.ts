/** The writer: the process that owns the storage, accepts connections and passes them to workers. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { acceptConnections, type Listener, listen } from '@krmkit/http'
import type { Handler } from '@krmkit/protocol'
import { revisionForm } from '@krmkit/registry/stored-form'
import type { Storage } from '@krmkit/storage'
import { serveStorage } from '@krmkit/storage/socket'
import { CliError } from '../cli-error.ts'
import type { Log } from '../log.ts'
import { environment, listenOptions, type ServerComponents } from '../serve-components.ts'
import type { ServeOptions } from '../serve-options.ts'
import { receivedRequest } from './forwarded-requests.ts'
import { mergeMetrics } from './merge-metrics.ts'
import { textOf } from './response-text.ts'
import { createSocketFolder } from './socket-folder.ts'
import { WorkerPool, type WorkerProgram } from './worker-pool.ts'

export interface WriterParts {
  readonly components: ServerComponents
  readonly handle: Handler
  readonly program: WorkerProgram | undefined
  readonly log: Log
}

/** The listener of a server, and what starts its workers. */
export interface Workers {
  readonly listening: Listener
  /** Adds the metrics of the workers to those of this process. */
  withTheirMetrics(text: string): Promise<string>
  /** Starts the workers; connections wait until then. @throws CliError when no worker can be started */
  start(storage: Storage): Promise<void>
}

/** Listens for connections that workers serve. Closing the listener ends the workers. @throws CliError, HttpError */
export async function createWorkers(options: ServeOptions, { components, handle, program, log }: WriterParts): Promise<Workers> {
  if (options.storage === 'etcd') {
    const message = '--threads needs --storage=memory or durable; with etcd, run several servers'
    throw new CliError({ code: 'InvalidFlag', message })
  }
  if (program === undefined) throw new CliError({ code: 'InvalidFlag', message: '--threads needs the command krmkit' })
  const pool = new WorkerPool({
    program,
    size: options.threads,
    log,
    audit: async (events) => {
      await Promise.all(components.audit.trails.map(async ({ backend }) => backend.process(events)))
    },
  })
  const accepting = await acceptConnections(pool.pass, await listenOptions(options, components, log))
  const folder = await createSocketFolder()
  const closables: AsyncDisposable[] = []
  let closing: Promise<void> | undefined
  const end = async () => {
    await accepting.close()
    await pool.close()
    for (const each of closables) await each[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  }
  const close = () => {
    closing ??= end()
    return closing
  }
  const withTheirMetrics = async (text: string) => mergeMetrics([text, ...(await pool.metrics())])
  return {
    listening: { ...accepting, close, [Symbol.asyncDispose]: close },
    withTheirMetrics,
    async start(storage) {
      const storagePath = join(folder, 'storage.sock')
      const requestsPath = join(folder, 'requests.sock')
      const onError = (error: unknown) => log.error('a connection of a worker failed', error)
      closables.push(await serveStorage(storage, { path: storagePath, form: revisionForm, onError }))
      const requests = { handle: withWorkerMetrics((request) => handle(receivedRequest(request)), withTheirMetrics) }
      closables.push(await listen(requests, { path: requestsPath, tls: false, compression: false, onError }))
      const ticketKeys = environment.random.bytes(ticketKeyBytes)
      await pool.start({ options, port: accepting.port, storagePath, requestsPath, ticketKeys })
    },
  }
}

const ticketKeyBytes = 48

/** Answers `/metrics` for the writer and all workers. */
function withWorkerMetrics(handle: Handler, withTheirMetrics: Workers['withTheirMetrics']): Handler {
  return async (request) => {
    const response = await handle(request)
    if (request.path !== '/metrics' || request.method !== 'GET' || response.status !== 200) return response
    return { ...response, body: { kind: 'bytes', bytes: Buffer.from(await withTheirMetrics(textOf(response))) } }
  }
}
