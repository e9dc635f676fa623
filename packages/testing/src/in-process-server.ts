import { createApiServer, type EmbeddedServer } from '@krmkit/apiserver'
import { type Client, createInProcessClient } from '@krmkit/client'
import { type Controller, type ControllerRun, type RunningControllers, runControllers } from '@krmkit/controllers'
import { stockProfile, systemClock, type UserInfo } from '@krmkit/meta'
import type { ApiRequest, ApiResponse, Handler } from '@krmkit/protocol'
import type { TypeSource } from '@krmkit/schema'
import { fork, memoryStorage } from '@krmkit/storage'
import { chosenControllers, createSimulation, simulationOf, withSimulation } from './cluster.ts'
import { type Explanation, explainField } from './explanation.ts'
import { droppingConnections, Faults, type OpenWatchRecord } from './faults.ts'
import type { ObjectReference } from './field-history.ts'
import type { HeldEvents } from './held-events.ts'
import type { HostAuthority, Kubeconfigs, TestHost } from './host.ts'
import { IdleWait } from './idle-wait.ts'
import { type InspectOptions, inspectRequests } from './inspector/inspect.ts'
import { type ControllerSet, createInstance, type ForkState, type Instance, typesOf } from './instance.ts'
import { runInstanceControllers } from './instance-controllers.ts'
import type { RunOptions, ServerOptions, TestServer, TestServerOptions } from './interfaces.ts'
import { checkMembers, invalidOption } from './known-members.ts'
import type { KubeconfigFile, KubeconfigFileOptions } from './kubeconfig.ts'
import { Ledger } from './ledger.ts'
import { readManifests } from './manifests.ts'
import { checkKind, checkKinds } from './option-kinds.ts'
import { optional } from './optional.ts'
import { RandomFaults } from './random-faults.ts'
import { checkControllers } from './reconciler.ts'
import { type RequestAttributes, requestAttributes } from './request-attributes.ts'
import type { Match } from './request-match.ts'
import { withOverrides } from './request-overrides.ts'
import { type RecordedRequest, RequestRecorder } from './request-recorder.ts'
import { applySeed } from './seed.ts'
import { checkServerOptions } from './server-options.ts'
import { advanceRevision, compact, type Snapshot, snapshot } from './store-state.ts'
import { externalClock, ResettableClock } from './test-clock.ts'
import { TestingError } from './testing-error.ts'
import { administrator, controllerUser, Users } from './users.ts'

/** Starts a test server on a host. */
export async function startTestServer(options: TestServerOptions, host: TestHost): Promise<InProcessTestServer> {
  checkServerOptions(options)
  const savedAtMs = options.from === undefined ? systemClock.now() : await host.savedTimeMs(options.from)
  const startAtMs = options.startAtMs ?? savedAtMs
  const server = new InProcessTestServer(options, { host, startAtMs, types: await typesOf(options) })
  try {
    await server.applySeed()
    if (options.kubeconfig === true) server.kubeconfig = await server.writeKubeconfig()
    return server
  } catch (error) {
    await server.close()
    throw error
  }
}

export class InProcessTestServer implements TestServer {
  readonly client: Client
  readonly clock: ResettableClock | ReturnType<typeof externalClock>
  readonly ledger: Ledger
  readonly faults: Faults
  readonly #options: TestServerOptions
  readonly #users: Users
  readonly #idleWait = new IdleWait()
  readonly #types: TypeSource
  readonly #host: TestHost
  readonly #authority: HostAuthority | undefined
  readonly #kubeconfigs: Kubeconfigs
  readonly #closers: AsyncDisposable[]
  kubeconfig: KubeconfigFile | undefined
  /** Functions that resolve when code of the test is idle. */
  readonly #settling = new Set<() => Promise<void>>()
  #snapshot: Snapshot | undefined
  #instance: Instance
  #closed: Promise<void> | undefined
  #isClosed = false

  constructor(options: TestServerOptions, origin: ForkState) {
    this.#options = options
    this.#types = origin.types
    this.#host = origin.host
    this.#kubeconfigs = this.#host.createKubeconfigs((start) => this.listen(start))
    this.#closers = [this.#kubeconfigs]
    this.ledger = new Ledger(undefined, options.traces)
    const { profile = stockProfile } = options.server ?? {}
    this.#authority =
      'authority' in origin ? origin.authority : this.#host.createAuthority({ startAtMs: origin.startAtMs, profile })
    const lookUpCertificate = (certificates: readonly Uint8Array[] | undefined) =>
      this.#authority?.identify(certificates, this.clock)
    this.#users = new Users(options.users, lookUpCertificate, options.authenticator)
    this.clock =
      options.clock === undefined ? new ResettableClock(origin.startAtMs, () => this.settle()) : externalClock(options.clock)
    this.faults = this.#createFaults(origin)
    this.client = this.as(administrator)
    this.#snapshot = origin.seeded
    const clock = this.clock.background
    this.#instance = createInstance(
      origin.seeded === undefined ? memoryStorage({ clock }) : fork(origin.seeded.storage, { clock }),
      createSimulation(options),
    )
  }

  /** Applies the seed and takes a snapshot of the state after it. */
  async applySeed(): Promise<void> {
    if (this.#options.from !== undefined) await this.#host.restoreState(this.#options.from, this.#instance.storage)
    const manifests = await readManifests(this.#options.seed ?? [], this.#host.manifestFiles)
    // An unschedulable pod waits for the clock.
    if (this.#options.cluster !== undefined) await this.settle()
    const { profile = stockProfile } = this.#options.server ?? {}
    await applySeed(manifests, { client: this.client, profile, settle: () => this.settle() })
    await this.settle()
    this.#snapshot = snapshot(this.#instance.storage, this.clock.now())
    this.ledger.clear()
  }

  readonly handle: Handler = (request) => this.#serve(this.#instance, request)

  as(user: string | UserInfo): Client {
    const client = createInProcessClient((request) => this.handle(request), {
      user: this.#users.resolve(user),
      clock: this.clock,
      ...optional({ random: this.#options.server?.random }),
    })
    this.#closers.push(client)
    return client
  }

  tokenOf(user: string | UserInfo): string {
    return this.#users.tokenOf(user)
  }

  expireTokens(user: string | UserInfo): number {
    return this.#users.revoke(user)
  }

  fork(): TestServer {
    return this.forkWith({})
  }

  /** Forks with other server options. */
  forkWith(server: ServerOptions): InProcessTestServer {
    const startAtMs = this.clock.now()
    const seeded = snapshot(this.#instance.storage, startAtMs)
    const options = { ...this.#options, server: { ...this.#options.server, ...server } }
    const origin = { host: this.#host, startAtMs, types: this.#types, authority: this.#authority, seeded }
    return new InProcessTestServer(options, origin)
  }

  async reset(): Promise<void> {
    const previous = this.#instance
    const { storage, atMs } = this.#snapshot!
    this.clock.resetTo(atMs)
    this.faults.clear()
    const next = fork(storage, { clock: this.clock.background })
    await advanceRevision(next, previous.storage.revision)
    this.#instance = createInstance(next, createSimulation(this.#options))
    await this.#stop(previous)
    this.ledger.clear()
  }

  async settle(): Promise<void> {
    const instance = this.#instance
    const controlling = await this.#startControllers(instance)
    const round = async () => {
      await controlling?.controllers.settled()
      for (const settled of this.#settling) await settled()
    }
    for (let stepped: Promise<void> | undefined; ; await stepped) {
      await this.#idleWait.settled(round, () => instance.storage.revision)
      stepped = this.faults.gate?.stepped()
      if (stepped === undefined) return
    }
  }

  /** Resolves when everything that is not held has finished. */
  async quiet(): Promise<void> {
    await this.#idleWait.settled(
      async () => undefined,
      () => this.#instance.storage.revision,
    )
  }

  holdWatches(match: Match = {}): HeldEvents {
    return this.faults.holdWatches(match, () => this.settle())
  }

  settleWith(settled: () => Promise<void>): () => void {
    if (typeof settled !== 'function') throw invalidOption('settleWith needs a function that returns a promise')
    this.#settling.add(settled)
    return () => this.#settling.delete(settled)
  }

  run(controllers: Controller | readonly Controller[], options: RunOptions = {}): RunningControllers {
    checkMembers('run', options, { user: true })
    const { user = administrator } = options
    const available = [controllers].flat()
    checkControllers(available)
    const running = runControllers({
      client: this.as(user),
      clock: this.clock,
      available,
      paced: false,
      controllers: available.map(({ name }) => name),
      onRun: (run) => this.ledger.recordRun(run, { isController: false }),
      newestVersion: () => String(this.#instance.storage.revision),
      ...optional({ random: this.#options.server?.random, onError: this.#options.onError }),
    })
    const forget = this.settleWith(() => running.settled())
    const close = () => {
      forget()
      return running.close()
    }
    const closing = { ...running, close, [Symbol.asyncDispose]: close }
    this.#closers.push(closing)
    return closing
  }

  async signingAuthority(): Promise<string> {
    if (this.#authority === undefined) {
      throw new TestingError({ code: 'Unsupported', message: 'certificates are signed only in Node' })
    }
    return (await this.#authority.get()).certificate
  }

  async listen<L extends AsyncDisposable>(start: (server: { readonly handle: Handler }) => Promise<L>): Promise<L> {
    if (typeof start !== 'function') throw invalidOption('listen needs a function: (server) => listen(server, { port: 0 })')
    const listener = await start({ handle: droppingConnections(this.handle) })
    this.#closers.push(listener)
    return listener
  }

  async writeKubeconfig(options: KubeconfigFileOptions = {}): Promise<KubeconfigFile> {
    checkMembers('writeKubeconfig', options, { user: true, namespace: true })
    checkKinds('writeKubeconfig', options, { namespace: 'text' })
    const { user = administrator, namespace } = options
    return this.#kubeconfigs.write({ token: this.tokenOf(user), namespace })
  }

  async save(folder: string): Promise<void> {
    checkKind('save', folder, 'text')
    return this.#host.saveState(folder, { storage: this.#instance.storage, nowMs: this.clock.now() })
  }

  explain(object: ObjectReference, path: string): Explanation {
    return explainField(this.ledger.entries, object, path)
  }

  async inspect(options: InspectOptions = {}): Promise<string> {
    checkMembers('inspect', options, { file: true })
    checkKinds('inspect', options, { file: 'text' })
    const { file } = options
    const page = inspectRequests(this.ledger)
    if (file !== undefined) await this.#host.writeFile(file, page)
    return page
  }

  failNode(name: string): void {
    simulationOf(this.#instance.simulation, name).failNode(name)
  }

  recoverNode(name: string): void {
    simulationOf(this.#instance.simulation, name).recoverNode(name)
  }

  server(): Promise<EmbeddedServer> {
    return this.#startServer(this.#instance)
  }

  close(): Promise<void> {
    this.#closed ??= (async () => {
      this.faults.clear()
      // In reverse order, so that ports close before the clients that they may serve.
      for (const closer of this.#closers.reverse()) await closer[Symbol.asyncDispose]()
      await this.#stop(this.#instance)
      this.#isClosed = true
      await this.#snapshot?.storage.close()
    })()
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #serve(instance: Instance, request: ApiRequest): Promise<ApiResponse> {
    if (this.#isClosed) throw new TestingError({ code: 'Closed', message: 'the test server is closed' })
    const user = request.user ?? this.#users.identify(request)
    const classified = {
      ...requestAttributes(request),
      user: user?.username ?? '',
      isController: request.user === controllerUser,
      isAdministrator: request.user === administrator,
    }
    // Reads do not need controllers.
    if (!classified.isController && classified.method !== 'GET' && classified.method !== 'HEAD')
      void this.#startControllers(instance)
    const tracked = this.#idleWait.begin()
    const recorder = this.#options.traces === 0 ? undefined : new RequestRecorder(request)
    const traced = recorder?.request ?? request
    const watch: OpenWatchRecord | undefined = classified.verb === 'watch' && !classified.isController ? { events: 0 } : undefined
    try {
      const { handle } = await this.#startServer(instance)
      const response = await this.faults.apply(classified, {
        next: (signal) => handle(signal === request.signal ? traced : withOverrides(traced, { signal })),
        redirect: (other) => other(traced),
        signal: request.signal,
        watch,
        suspend: (wait) => tracked.suspend(wait),
      })
      const recorded = recorder?.end(response)
      const isOpen = watch !== undefined && response.body.kind === 'stream'
      this.#record(request, classified, response.status, isOpen ? { ...recorded, watch } : recorded)
      return response
    } catch (error) {
      this.#record(request, classified, 0, recorder?.end())
      throw error
    } finally {
      tracked.end()
    }
  }

  #createFaults({ startAtMs }: ForkState): Faults {
    const { faults } = this.#options
    const host = {
      clock: this.clock,
      types: this.#types,
      revision: () => this.#instance.storage.revision,
      compact: () => compact(this.#instance.storage),
      freeze: () => this.#freeze(),
    }
    return new Faults(host, faults === undefined ? undefined : new RandomFaults(faults, startAtMs % 1_000_000))
  }

  /** Starts a server with a copy of the current state, which is not changed until the test server closes. */
  async #freeze(): Promise<EmbeddedServer> {
    const storage = fork(this.#instance.storage, { clock: this.clock.background })
    const server = await this.#createServer({ storage, simulation: undefined })
    this.#closers.push({ [Symbol.asyncDispose]: () => server.close() })
    return server
  }

  #startServer(instance: Instance): Promise<EmbeddedServer> {
    if (instance.server !== undefined) return instance.server
    instance.server = this.#createServer(instance)
    instance.server.catch(() => undefined)
    return instance.server
  }

  #createServer({ storage, simulation }: Pick<Instance, 'storage' | 'simulation'>): Promise<EmbeddedServer> {
    const { onError, emulate, server = {} } = this.#options
    return createApiServer({
      ...optional({ emulate, onError, authorizer: this.#users.authorizer }),
      ...withSimulation(server, simulation),
      types: this.#types,
      storage,
      clock: this.clock.background,
      authenticator: this.#users.authenticator,
      limits: { readOnlyInFlight: 0, mutatingInFlight: 0, watchMs, ...server.limits },
    })
  }

  #startControllers(instance: Instance): Promise<ControllerSet | undefined> {
    if (instance.controllers !== undefined) return instance.controllers
    const chosen = chosenControllers(this.#options.controllers, instance.simulation)
    if (chosen.controllers.length === 0) return Promise.resolve(undefined)
    instance.controllers = this.#startServer(instance).then(() => {
      const { clock } = this
      const client = createInProcessClient((request) => this.#serve(instance, request), { user: controllerUser, clock })
      const isWatched = () => this.faults.isWatched(['leases', 'nodes'])
      const onRun = (run: ControllerRun) => this.ledger.recordRun(run, { isController: true })
      const parts = { ...{ instance, client, clock, chosen, isWatched, onRun }, authority: this.#authority }
      return { client, controllers: runInstanceControllers(this.#options, parts) }
    })
    instance.controllers.catch(() => undefined)
    return instance.controllers
  }

  async #stop(instance: Instance): Promise<void> {
    const controlling = await instance.controllers?.catch(() => undefined)
    await controlling?.controllers.close()
    await controlling?.client.close()
    const server = await instance.server?.catch(() => undefined)
    if (server === undefined) await instance.storage.close()
    else await server.close()
  }

  #record(
    request: ApiRequest,
    classified: RequestAttributes & { readonly user: string; readonly isController: boolean },
    code: number,
    recorded: RecordedRequest | undefined,
  ): void {
    const agent = request.headers['user-agent']
    const userAgent = typeof agent === 'string' ? agent : (agent?.[0] ?? '')
    // Users of other authenticators are known only after the server has authenticated the request.
    const user = classified.user === '' ? (recorded?.trace?.authentication?.user.username ?? '') : classified.user
    this.ledger.record({ ...classified, user, code, atMs: this.clock.now(), userAgent, ...recorded })
  }
}

/** Watch timeout of ten years, so that advancing the clock by days does not end watches. */
const watchMs = 10 * 365 * 24 * 3_600_000
