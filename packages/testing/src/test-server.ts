import { createApiServer, type EmbeddedServer } from '@krmkit/apiserver'
import { type Client, inProcessClient } from '@krmkit/client'
import { type RunningControllers, runControllers } from '@krmkit/controllers'
import { builtInTypes } from '@krmkit/kinds'
import { stockProfile, systemClock, type UserInfo } from '@krmkit/meta'
import type { ApiRequest, ApiResponse, Handler } from '@krmkit/protocol'
import type { TypeSource } from '@krmkit/schema'
import { fork, memoryStorage, type Storage } from '@krmkit/storage'
import { Faults } from './faults.ts'
import { IdleWait } from './idle-wait.ts'
import type { TestServer, TestServerOptions } from './interfaces.ts'
import { Ledger } from './ledger.ts'
import { readManifests } from './manifests.ts'
import { type RequestInfo, requestInfoOf } from './request-info.ts'
import { applySeed } from './seed.ts'
import { TestAuthority } from './test-authority.ts'
import { externalClock, ResettableClock } from './test-clock.ts'
import { TestingError } from './testing-error.ts'
import { administrator, controllerUser, Users } from './users.ts'

/**
 * Starts an API server for a test: in this process, in memory, with controllers and a clock of its own. Returns when the
 * seed is in place and everything has settled.
 *
 * @throws TestingError `InvalidSeed`
 */
export async function createTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const startAtMs = options.startAtMs ?? systemClock.now()
  const server = new InProcessTestServer(options, { startAtMs, types: options.server?.types ?? builtInTypes() })
  try {
    await server.begin()
    return server
  } catch (error) {
    await server.close()
    throw error
  }
}

/** What a fork takes over. */
interface ForkState {
  readonly startAtMs: number
  /** Decoders and such are made once for a server and all its forks. */
  readonly types: TypeSource
  readonly authority?: TestAuthority
  readonly seeded?: Snapshot
}

/** The state that `reset` goes back to. */
interface Snapshot {
  readonly storage: Storage
  readonly atMs: number
}

/** Status that tests write themselves stays as they wrote it. */
const defaultControllers = ['*', '-deployment-controller']

/** A server and its controllers between two resets; each is started when it is first needed. */
interface Instance {
  readonly storage: Storage
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
    )
  }

  /** Plants the seed and remembers the state after it. */
  async begin(): Promise<void> {
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
    const client = inProcessClient((request) => this.handle(request), { user: this.#users.named(user), clock: this.clock })
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
    const before = this.#instance
    const { storage, atMs } = this.#snapshot!
    this.clock.restart(atMs)
    this.faults.clear()
    const next = fork(storage, { clock: this.clock.background })
    await advanceRevision(next, before.storage.revision)
    this.#instance = createInstance(next)
    await this.#stop(before)
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

  async listen<L extends AsyncDisposable>(start: (served: { readonly handle: Handler }) => Promise<L>): Promise<L> {
    const listening = await start({ handle: this.handle })
    this.#closers.push(listening)
    return listening
  }

  server(): Promise<EmbeddedServer> {
    return this.#startServer(this.#instance)
  }

  close(): Promise<void> {
    this.#closed ??= (async () => {
      // Last come, first gone: ports before the clients that they may serve.
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
    if (this.#isClosed) throw new TestingError({ code: 'Closed', message: 'the test server was disposed of' })
    const user = request.user ?? this.#users.identify(request)
    const sent = { ...requestInfoOf(request), user: user?.username ?? '', isController: request.user === controllerUser }
    // Reading needs no controllers.
    if (!sent.isController && sent.method !== 'GET' && sent.method !== 'HEAD') void this.#startControllers(instance)
    const tracked = this.#idleWait.begin()
    try {
      const { handle } = await this.#startServer(instance)
      const response = await this.faults.apply(sent, {
        next: (signal) => handle({ ...request, signal }),
        signal: request.signal,
        suspend: (wait) => tracked.suspend(wait),
      })
      this.#record(request, sent, response.status)
      return response
    } catch (error) {
      this.#record(request, sent, 0)
      throw error
    } finally {
      tracked.end()
    }
  }

  #startServer(instance: Instance): Promise<EmbeddedServer> {
    if (instance.server !== undefined) return instance.server
    const { onError, server = {} } = this.#options
    instance.server = createApiServer({
      ...(this.#users.authorizer === undefined ? {} : { authorizer: this.#users.authorizer }),
      ...(onError === undefined ? {} : { onFault: onError }),
      ...server,
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
    const { controllers = defaultControllers, rootCA, legacyToken, onError, signing, server = {} } = this.#options
    if (controllers.length === 0) return Promise.resolve(undefined)
    instance.controllers ??= this.#startServer(instance).then(() => {
      const client = inProcessClient((request) => this.#serve(instance, request), { user: controllerUser, clock: this.clock })
      const { random, profile } = server
      const made = runControllers({
        client,
        clock: this.clock,
        controllers,
        newestVersion: () => String(instance.storage.revision),
        ...(random === undefined ? {} : { random }),
        ...(profile === undefined ? {} : { profile }),
        ...(rootCA === undefined ? {} : { rootCA }),
        ...(legacyToken === undefined ? {} : { legacyToken }),
        ...(signing === 'none' ? {} : { signing: signing ?? { signers: this.#authority.signers(this.clock) } }),
        ...(onError === undefined ? {} : { onError }),
      })
      return { client, controllers: made }
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
    sent: RequestInfo & { readonly user: string; readonly isController: boolean },
    code: number,
  ): void {
    const agent = request.headers['user-agent']
    const userAgent = typeof agent === 'string' ? agent : (agent?.[0] ?? '')
    this.ledger.record({ ...sent, code, atMs: this.clock.now(), userAgent })
  }
}

/** Watches last: no alarm of theirs is in the way of a clock that is moved by days. */
const watchMs = 10 * 365 * 24 * 3_600_000

function createInstance(storage: Storage): Instance {
  return { storage, server: undefined, controllers: undefined }
}

/** A store that nobody writes to and that does not age. */
function snapshot(storage: Storage, atMs: number): Snapshot {
  return { storage: fork(storage, { clock: { now: () => atMs, setTimeout: () => () => undefined } }), atMs }
}

/**
 * Makes a store go on after this revision without a memory of before: what clients remember of another life of the server is
 * forgotten to it, so that they list anew, and no revision stands for two things.
 */
async function advanceRevision(storage: Storage, revision: number): Promise<void> {
  const nothing = () => new Uint8Array()
  while (storage.revision <= revision) await storage.put('/testing/reset', nothing)
  await storage.delete('/testing/reset', nothing)
  await storage.compact(storage.revision)
}
