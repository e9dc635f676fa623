import { createApiServer, type EmbeddedServer } from '@krmkit/apiserver'
import { type Client, createInProcessClient } from '@krmkit/client'
import type { NodeSimulation, RunningControllers } from '@krmkit/controllers'
import { runControllers } from '@krmkit/controllers'
import { builtInTypes } from '@krmkit/kinds'
import { stockProfile, systemClock, type UserInfo } from '@krmkit/meta'
import type { ApiRequest, ApiResponse, Handler } from '@krmkit/protocol'
import type { TypeSource } from '@krmkit/schema'
import { fork, memoryStorage, type Storage } from '@krmkit/storage'
import { chosenControllers, createSimulation, simulationOf, withSimulation } from './cluster.ts'
import { connectionDropped, Faults } from './faults.ts'
import { IdleWait } from './idle-wait.ts'
import type { TestServer, TestServerOptions } from './interfaces.ts'
import { Ledger } from './ledger.ts'
import { readManifests } from './manifests.ts'
import { type RequestAttributes, requestAttributes } from './request-attributes.ts'
import { withSignal } from './request-signal.ts'
import { applySeed } from './seed.ts'
import { TestAuthority } from './test-authority.ts'
import { externalClock, ResettableClock } from './test-clock.ts'
import { TestingError } from './testing-error.ts'
import { administrator, controllerUser, Users } from './users.ts'

/**
 * Starts an API server for a test: in-process, in memory, with its own controllers and clock. Resolves when the seed is applied and the
 * server has settled.
 *
 * @throws TestingError `InvalidSeed`
 * @example
 * import { ConfigMap } from '@krmkit/kinds/core/v1'
 * import { createTestServer } from '@krmkit/testing'
 * await using cluster = await createTestServer()
 * await cluster.client.create(ConfigMap, { metadata: { name: 'web' }, data: { color: 'red' } })
 * await cluster.settle()
 */
export async function createTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const startAtMs = options.startAtMs ?? systemClock.now()
  const server = new InProcessTestServer(options, { startAtMs, types: await typesOf(options) })
  try {
    await server.applySeed()
    return server
  } catch (error) {
    await server.close()
    throw error
  }
}

async function typesOf({ emulate, server = {} }: TestServerOptions): Promise<TypeSource> {
  const release = emulate ?? server.emulate
  if (server.types !== undefined || release === undefined) return server.types ?? builtInTypes(server.profile)
  const { typesAt } = await import('@krmkit/kinds/releases')
  return typesAt(release, server.profile)
}

/** The state that a fork inherits. */
interface ForkState {
  readonly startAtMs: number
  /** Shared by a server and all its forks. */
  readonly types: TypeSource
  readonly authority?: TestAuthority
  readonly seeded?: Snapshot
}

/** The state that `reset` restores. */
interface Snapshot {
  readonly storage: Storage
  readonly atMs: number
}

/** A server and its controllers between two resets; both start on first use. */
interface Instance {
  readonly storage: Storage
  readonly simulation: NodeSimulation | undefined
  server: Promise<EmbeddedServer> | undefined
  controllers: Promise<ControllerSet> | undefined
}

interface ControllerSet {
  readonly client: Client
  readonly controllers: RunningControllers
}

class InProcessTestServer implements TestServer {
  readonly client: Client
  readonly clock: ResettableClock | ReturnType<typeof externalClock>
  readonly ledger = new Ledger()
  readonly faults: Faults
  readonly #options: TestServerOptions
  readonly #users: Users
  readonly #idleWait = new IdleWait()
  readonly #types: TypeSource
  readonly #authority: TestAuthority
  readonly #closers: AsyncDisposable[] = []
  #snapshot: Snapshot | undefined
  #instance: Instance
  #closed: Promise<void> | undefined
  #isClosed = false

  constructor(options: TestServerOptions, origin: ForkState) {
    this.#options = options
    this.#types = origin.types
    const { profile = stockProfile } = options.server ?? {}
    this.#authority = origin.authority ?? new TestAuthority({ startAtMs: origin.startAtMs, profile })
    this.#users = new Users(options.users, (certificates) => this.#authority.identify(certificates, this.clock))
    this.clock =
      options.clock === undefined ? new ResettableClock(origin.startAtMs, () => this.settle()) : externalClock(options.clock)
    this.faults = new Faults(this.clock)
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
    const manifests = await readManifests(this.#options.seed ?? [])
    const { profile = stockProfile } = this.#options.server ?? {}
    const signal = new AbortController().signal
    await applySeed(manifests, { client: this.client, profile, signal, settle: () => this.settle() })
    await this.settle()
    this.#snapshot = snapshot(this.#instance.storage, this.clock.now())
    this.ledger.clear()
  }

  readonly handle: Handler = (request) => this.#serve(this.#instance, request)

  as(user: string | UserInfo): Client {
    const client = createInProcessClient((request) => this.handle(request), {
      user: this.#users.resolve(user),
      clock: this.clock,
    })
    this.#closers.push(client)
    return client
  }

  tokenOf(user: string | UserInfo): string {
    return this.#users.tokenOf(user)
  }

  fork(): TestServer {
    const startAtMs = this.clock.now()
    const seeded = snapshot(this.#instance.storage, startAtMs)
    return new InProcessTestServer(this.#options, { startAtMs, types: this.#types, authority: this.#authority, seeded })
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
    await this.#idleWait.settled(
      async () => controlling?.controllers.settled(),
      () => instance.storage.revision,
    )
  }

  async signingAuthority(): Promise<string> {
    return (await this.#authority.get()).certificate
  }

  async listen<L extends AsyncDisposable>(start: (server: { readonly handle: Handler }) => Promise<L>): Promise<L> {
    const handle: Handler = (request) =>
      this.handle(request).catch((error: unknown) => {
        throw error === connectionDropped ? new DOMException(connectionDropped.message, 'AbortError') : error
      })
    const listener = await start({ handle })
    this.#closers.push(listener)
    return listener
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
      // In reverse order: ports close before the clients that they may serve.
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
    }
    // Reads do not need controllers.
    if (!classified.isController && classified.method !== 'GET' && classified.method !== 'HEAD')
      void this.#startControllers(instance)
    const tracked = this.#idleWait.begin()
    try {
      const { handle } = await this.#startServer(instance)
      const response = await this.faults.apply(classified, {
        next: (signal) => handle(signal === request.signal ? request : withSignal(request, signal)),
        signal: request.signal,
        suspend: (wait) => tracked.suspend(wait),
      })
      this.#record(request, classified, response.status)
      return response
    } catch (error) {
      this.#record(request, classified, 0)
      throw error
    } finally {
      tracked.end()
    }
  }

  #startServer(instance: Instance): Promise<EmbeddedServer> {
    if (instance.server !== undefined) return instance.server
    const { onError, emulate, server = {} } = this.#options
    instance.server = createApiServer({
      ...(emulate === undefined ? {} : { emulate }),
      ...(this.#users.authorizer === undefined ? {} : { authorizer: this.#users.authorizer }),
      ...(onError === undefined ? {} : { onError }),
      ...withSimulation(server, instance.simulation),
      types: this.#types,
      storage: instance.storage,
      clock: this.clock.background,
      authenticator: this.#users.authenticator,
      limits: { readOnlyInFlight: 0, mutatingInFlight: 0, watchMs, ...server.limits },
    })
    instance.server.catch(() => undefined)
    return instance.server
  }

  #startControllers(instance: Instance): Promise<ControllerSet | undefined> {
    const { rootCA, legacyToken, metrics, onError, signing, signerRules, server = {} } = this.#options
    const chosen = chosenControllers(this.#options.controllers, instance.simulation)
    if (chosen.controllers.length === 0) return Promise.resolve(undefined)
    instance.controllers ??= this.#startServer(instance).then(() => {
      const client = createInProcessClient((request) => this.#serve(instance, request), {
        user: controllerUser,
        clock: this.clock,
      })
      const { random, profile } = server
      const running = runControllers({
        client,
        clock: this.clock,
        ...chosen,
        newestVersion: () => String(instance.storage.revision),
        ...(random === undefined ? {} : { random }),
        ...(profile === undefined ? {} : { profile }),
        ...(rootCA === undefined ? {} : { rootCA }),
        ...(legacyToken === undefined ? {} : { legacyToken }),
        ...(signing === 'none' ? {} : { signing: signing ?? { signers: this.#authority.signers(this.clock, signerRules) } }),
        ...(signerRules === undefined ? {} : { signerRules }),
        ...(metrics === undefined ? {} : { metrics }),
        ...(onError === undefined ? {} : { onError }),
      })
      return { client, controllers: running }
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
  ): void {
    const agent = request.headers['user-agent']
    const userAgent = typeof agent === 'string' ? agent : (agent?.[0] ?? '')
    this.ledger.record({ ...classified, code, atMs: this.clock.now(), userAgent })
  }
}

/** Watch timeout of ten years, so that advancing the clock by days does not end watches. */
const watchMs = 10 * 365 * 24 * 3_600_000

function createInstance(storage: Storage, simulation: NodeSimulation | undefined): Instance {
  return { storage, simulation, server: undefined, controllers: undefined }
}

/** Forks a store that is never written to and whose history does not expire. */
function snapshot(storage: Storage, atMs: number): Snapshot {
  return { storage: fork(storage, { clock: { now: () => atMs, setTimeout: () => () => undefined } }), atMs }
}

/**
 * Advances a store beyond a revision and compacts it. Clients with a version from before the reset must list again, and no revision
 * has two meanings.
 */
async function advanceRevision(storage: Storage, revision: number): Promise<void> {
  const empty = () => new Uint8Array()
  while (storage.revision <= revision) await storage.put('/testing/reset', empty)
  await storage.delete('/testing/reset', empty)
  await storage.compact(storage.revision)
}
