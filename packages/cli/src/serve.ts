import { join, resolve } from 'node:path'
import { createApiServer, type EmbeddedServer } from '@krmkit/apiserver'
import { kubeconfigText } from '@krmkit/client'
import { type Listener, listen } from '@krmkit/http'
import { foregroundClock } from '@krmkit/meta'
import type { ApiRequest, ApiResponse } from '@krmkit/protocol'
import type { Inspector } from '@krmkit/testing'
import { advertised } from './addresses.ts'
import { CliError } from './cli-error.ts'
import { prepareDataFolder, writeSecret } from './files.ts'
import { requireUnusedKubeconfig } from './kubeconfig-owner.ts'
import type { Log } from './log.ts'
import {
  apiServerOptions,
  createComponents,
  disposeTransports,
  environment,
  listenOptions,
  type ServerComponents,
  watchClientAuthorities,
} from './serve-components.ts'
import { requireElectionTimes, type StartedControllers, startControllers } from './serve-controllers.ts'
import type { ServeOptions } from './serve-options.ts'
import { type OpenedStorage, openStorage } from './storage/open-storage.ts'
import type { WorkerProgram } from './threads/worker-pool.ts'
import type { Workers } from './threads/writer.ts'

/** A running server and its addresses. */
export interface RunningServer {
  readonly url: string
  /** Path of the administrator kubeconfig; undefined when none was written. */
  readonly kubeconfig: string | undefined
  /** Ends streams, finishes responses, closes the storage. */
  close(): Promise<void>
}

/**
 * Starts a server with the given flags. A failed start releases the listener, the storage and all connections.
 *
 * @param workerProgram runs the workers of `--threads`
 * @throws CliError for flags or files that cannot be used.
 */
export async function serve(
  options: ServeOptions,
  log: Log,
  { workerProgram }: { readonly workerProgram?: WorkerProgram } = {},
): Promise<RunningServer> {
  requireSeats(options)
  requireElectionTimes(options)
  requireInspectable(options)
  // Without a token file the token of the administrator is stored in it.
  const isNeeded = options.storage !== 'memory' || options.tokenAuthFile === undefined
  prepareDataFolder(options.dataDir, { isNeeded })
  const components = await createComponents(options, log)
  const gate = new StartupGate()
  let listening: Listener | undefined
  let opened: OpenedStorage | undefined
  try {
    // Listening comes first: a taken port ends the start before the storage is opened, and discovery advertises the chosen port.
    const parts = { components, handle: gate.handle, program: workerProgram, log }
    const workers = options.threads === 0 ? undefined : await (await import('./threads/writer.ts')).createWorkers(options, parts)
    listening = workers?.listening ?? (await listen(gate, await listenOptions(options, components, log)))
    const kubeconfig = plannedKubeconfig(options, components)
    if (kubeconfig !== undefined) await requireUnusedKubeconfig(kubeconfig.path, listening.url)
    const serverAddress = advertised(options, listening.port)
    const issuerDocuments = components.authentication.accounts.documents(serverAddress)
    opened = await openStorage(options, { catalog: components.catalog, log })
    const { storage, readiness } = opened
    const given = apiServerOptions(options, { components, storage, serverAddress, issuerDocuments, log })
    const inspector = await createInspector(options)
    const server = inspected(await createApiServer({ ...given, readiness }), inspector)
    components.webhookServices.attach(server, environment.random)
    await components.admission.ready()
    components.authentication.attach(server)
    watchClientAuthorities(listening, components, log)
    gate.open(server)
    await workers?.start(storage)
    if (kubeconfig !== undefined) await writeKubeconfig(kubeconfig, listening)
    const controllers = await startControllers(options, { components, server, storage, listening, serverAddress, log, inspector })
    const metricsPush = await startMetricsPush(options, { server, workers, components, log })
    const running = { ...controllers, server, listening, components, opened, metricsPush }
    let closing: Promise<void> | undefined
    const closeOnce = () => {
      closing ??= close(running)
      return closing
    }
    return { url: listening.url, kubeconfig: kubeconfig?.path, close: closeOnce }
  } catch (error) {
    gate.fail()
    await listening?.close({ graceMs: 0 })
    await components.authentication[Symbol.asyncDispose]()
    await components.authorization[Symbol.asyncDispose]()
    await disposeTransports(components)
    await opened?.storage.close()
    opened?.[Symbol.dispose]()
    throw error
  }
}

/** @throws CliError for priority and fairness without any seat. */
function requireSeats(options: ServeOptions): void {
  const { enablePriorityAndFairness, maxRequestsInflight: reads, maxMutatingRequestsInflight: writes } = options
  if (!enablePriorityAndFairness || reads + writes > 0) return
  const message = `--max-requests-inflight=${reads} and --max-mutating-requests-inflight=${writes} must add up to something positive`
  throw new CliError({ code: 'InvalidFlag', message: `${message} with --enable-priority-and-fairness` })
}

/** @throws CliError for an inspector of a server whose requests other processes answer. */
function requireInspectable({ inspector, threads }: ServeOptions): void {
  if (inspector && threads > 0) throw new CliError({ code: 'InvalidFlag', message: '--inspector needs --threads=0' })
}

/** Records the requests of clients and controllers, and the runs of controllers, with `--inspector`. */
async function createInspector({ inspector }: ServeOptions): Promise<Inspector | undefined> {
  return inspector ? new (await import('@krmkit/testing')).Inspector() : undefined
}

function inspected(server: EmbeddedServer, inspector: Inspector | undefined): EmbeddedServer {
  return inspector === undefined ? server : { ...server, handle: inspector.wrap(server.handle) }
}

interface MeasuredParts {
  readonly server: EmbeddedServer
  readonly workers: Workers | undefined
  readonly components: ServerComponents
  readonly log: Log
}

/** Loads gRPC only where a collector receives metrics. */
async function startMetricsPush(options: ServeOptions, parts: MeasuredParts): Promise<AsyncDisposable | undefined> {
  const { metricsOtlpEndpoint: endpoint, metricsOtlpInterval: intervalMs } = options
  if (endpoint === undefined) return undefined
  const { server, workers, components, log } = parts
  const { MetricsPush } = await import('./metrics/metrics-push.ts')
  return new MetricsPush({
    ...{ endpoint, intervalMs, resource: components.resource, clock: environment.clock },
    read: async () => (workers === undefined ? server.metricsText() : workers.withTheirMetrics(await server.metricsText())),
    onError: (error) => log.error('metrics', error),
  })
}

/** Holds back requests that arrive after the server listens and before it is ready. */
class StartupGate {
  readonly #ready: Promise<EmbeddedServer | undefined>
  #server: EmbeddedServer | undefined
  #settle: (server: EmbeddedServer | undefined) => void = () => undefined

  constructor() {
    this.#ready = new Promise((settle) => {
      this.#settle = settle
    })
  }

  readonly handle = (request: ApiRequest): Promise<ApiResponse> => this.#server?.handle(request) ?? this.#wait(request)

  open(server: EmbeddedServer): void {
    this.#server = server
    this.#settle(server)
  }

  fail(): void {
    this.#settle(undefined)
  }

  async #wait(request: ApiRequest): Promise<ApiResponse> {
    const server = await this.#ready
    return server?.handle(request) ?? { status: 503, headers: {}, body: { kind: 'empty' } }
  }
}

/** Where to write the kubeconfig of the administrator, and its token. */
interface PlannedKubeconfig {
  readonly path: string
  readonly token: string
}

/** Undefined when no kubeconfig is wanted, or there is no administrator to write it for. */
function plannedKubeconfig(options: ServeOptions, { authentication }: ServerComponents): PlannedKubeconfig | undefined {
  if (options.writeKubeconfig === '') return undefined
  const { adminToken: token } = authentication
  if (token !== undefined) return { path: resolve(options.writeKubeconfig ?? join(options.dataDir, 'admin.kubeconfig')), token }
  if (options.writeKubeconfig === undefined) return undefined
  throw new CliError({
    code: 'InvalidFlag',
    message: '--write-kubeconfig needs a token of group system:masters in the token file',
  })
}

async function writeKubeconfig({ path, token }: PlannedKubeconfig, { url, authority }: Listener): Promise<void> {
  await writeSecret(path, kubeconfigText({ server: url, authority, token }))
}

interface RunningParts extends StartedControllers {
  readonly opened: OpenedStorage
  readonly server: EmbeddedServer
  readonly listening: Listener
  readonly components: ServerComponents
  /** Undefined where no collector receives metrics. */
  readonly metricsPush: AsyncDisposable | undefined
}

/** How long controllers may take to end their work and release what they hold: the storage that this needs may be away. */
const controllersGraceMs = 10_000

/** Stops in order: metrics of workers that still run, requests and controllers, watched files, the server with its storage, connections. */
async function close(parts: RunningParts): Promise<void> {
  const { server, listening, components, opened, controllers, ownControllers, metricsPush } = parts
  await metricsPush?.[Symbol.asyncDispose]()
  const stopped = Promise.all([controllers.close(), ownControllers.close()])
  await Promise.all([listening.close(), settledWithin(controllersGraceMs, stopped)])
  opened[Symbol.dispose]()
  await components.authentication[Symbol.asyncDispose]()
  // Requests of controllers that still wait for the storage fail now.
  await server.close()
  await stopped
  await disposeTransports(components)
  await components.authorization[Symbol.asyncDispose]()
}

/** Resolves when the promise has, at the latest after this time. @throws what the promise rejects with in time */
async function settledWithin(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  let cancel = () => {}
  const timeIsUp = new Promise<void>((resolve) => {
    cancel = foregroundClock.setTimeout(resolve, milliseconds)
  })
  try {
    await Promise.race([promise, timeIsUp])
  } finally {
    cancel()
  }
}
