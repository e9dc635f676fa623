/** A worker: an API server that follows the storage of the writer, and serves connections that the writer accepts. */
import { type ApiServerOptions, createApiServer } from '@krmkit/apiserver'
import type { AuditEvent } from '@krmkit/apiserver/audit'
import { createProxyTransport, listen, type PassedConnections } from '@krmkit/http'
import { systemClock } from '@krmkit/meta'
import { revisionForm } from '@krmkit/registry/stored-form'
import type { Storage } from '@krmkit/storage'
import { socketStorage } from '@krmkit/storage/socket'
import { advertised } from '../addresses.ts'
import { auditsStrictly, readAuditPolicy } from '../audit/audit-trails.ts'
import { type Log, requestLoggers } from '../log.ts'
import {
  apiServerOptions,
  createComponents,
  disposeTransports,
  environment,
  listenOptions,
  watchClientAuthorities,
} from '../serve-components.ts'
import type { ServeOptions } from '../serve-options.ts'
import { alreadyFresh } from './fresh-reads.ts'
import type { WorkerStart } from './messages.ts'
import { workerHandler } from './worker-handler.ts'

/** How a worker reaches the process that started it. */
export interface WorkerChannel {
  /** Called once, with the function that serves passed connections. */
  readonly receive: PassedConnections['receive']
  /** Rejects when the events are lost. */
  audit(events: readonly AuditEvent[]): Promise<void>
}

/** A worker that serves. */
export interface RunningWorker {
  /** The metrics of this worker, as text. */
  metrics(): Promise<string>
  /** Ends streams, finishes responses, leaves the storage. */
  close(): Promise<void>
}

/** Starts a worker. @throws CliError for flags or files that cannot be used; StorageError when the writer cannot be reached */
export async function startWorker(start: WorkerStart, channel: WorkerChannel, log: Log): Promise<RunningWorker> {
  const { options, port } = start
  const storage = await socketStorage({
    clock: systemClock,
    historyMs: options.etcdCompactionInterval,
    path: start.storagePath,
    form: revisionForm,
    onError: (error) => log.error('the storage of the writer', error),
  })
  // The audit trails of the writer receive the events of all workers.
  const { auditLogPath: _log, auditWebhookConfigFile: _webhook, ...unaudited } = options
  const components = await createComponents(unaudited, log)
  const serverAddress = advertised(options, port)
  const issuerDocuments = components.authentication.accounts.documents(serverAddress)
  const given = apiServerOptions(options, { components, storage: alreadyFresh(storage), serverAddress, issuerDocuments, log })
  const server = await createApiServer({ ...given, ...(await replicaOptions(options, { given, storage, channel, log })) })
  components.webhookServices.attach(server, environment.random)
  await components.admission.ready()
  components.authentication.attach(server)
  const transport = createProxyTransport()
  const writer = transport.open({ origin: 'http://writer', socketPath: start.requestsPath })
  const handle = workerHandler(server, { storage, writer, simulatesNodes: options.simulateNodes > 0 })
  const listening = await listen(
    { handle },
    {
      ...(await listenOptions(options, components, log)),
      port,
      passed: { ticketKeys: start.ticketKeys, receive: channel.receive },
    },
  )
  watchClientAuthorities(listening, components, log)
  return {
    metrics: () => server.metricsText(),
    async close() {
      await listening.close()
      await components.authentication[Symbol.asyncDispose]()
      await server.close()
      transport[Symbol.dispose]()
      await disposeTransports(components)
      await components.authorization[Symbol.asyncDispose]()
    },
  }
}

/** What differs from the server of one process. */
async function replicaOptions(
  options: ServeOptions,
  parts: { readonly given: ApiServerOptions; readonly storage: Storage; readonly channel: WorkerChannel; readonly log: Log },
): Promise<Partial<ApiServerOptions>> {
  const { given, storage, channel, log } = parts
  const policy = await readAuditPolicy(options, environment.profile)
  const backend = { strict: auditsStrictly(options), process: (events: readonly AuditEvent[]) => channel.audit(events) }
  const shareOf = (limit: number) => Math.ceil(limit / options.threads)
  return {
    replica: true,
    audit: [...(policy === undefined ? [] : [{ policy, backend }]), ...requestLoggers(log, options.v)],
    readiness: [{ name: 'writer', check: () => storage.refresh?.() }],
    limits: {
      ...given.limits,
      readOnlyInFlight: shareOf(options.maxRequestsInflight),
      mutatingInFlight: shareOf(options.maxMutatingRequestsInflight),
    },
  }
}
