import { type ApiRequest, type ApiResponse, createApiServer, type EmbeddedServer, type Handler } from '@krmkit/apiserver'
import { type Client, inProcessClient } from '@krmkit/client'
import { type RunningControllers, runControllers } from '@krmkit/controllers'
import { builtInTypes } from '@krmkit/kinds'
import { stockProfile, systemClock, type UserInfo } from '@krmkit/meta'
import type { TypeSource } from '@krmkit/schema'
import { fork, memoryStorage, type Storage } from '@krmkit/storage'
import { Faults } from './faults.ts'
import type { TestServer, TestServerOptions } from './interfaces.ts'
import { Ledger } from './ledger.ts'
import { readManifests } from './manifests.ts'
import { IdleWait } from './quiet.ts'
import { type RequestShape, shapeOf } from './request-shape.ts'
import { plant } from './seed.ts'
import { TestAuthority } from './test-authority.ts'
import { foreignClock, MovableClock } from './test-clock.ts'
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
  const server = new Cluster(options, { startAtMs, types: options.server?.types ?? builtInTypes() })
  try {
    await server.begin()
    return server
  } catch (error) {
    await server.close()
    throw error
  }
}

/** What a fork takes over. */
interface Origin {
  readonly startAtMs: number
  /** Decoders and such are made once for a server and all its forks. */
  readonly types: TypeSource
  readonly authority?: TestAuthority
  readonly seeded?: Seeded
}

/** The state that `reset` goes back to. */
interface Seeded {
  readonly storage: Storage
  readonly atMs: number
}

/** Status that tests write themselves stays as they wrote it. */
const usualControllers = ['*', '-deployment-controller']

/** A server and its controllers between two resets; each is started when it is first needed. */
interface Running {
  readonly storage: Storage
  server: Promise<EmbeddedServer> | undefined
  controllers: Promise<Controlling> | undefined
}

interface Controlling {
  readonly client: Client
  readonly controllers: RunningControllers
}

class Cluster implements TestServer {
  readonly client: Client
  readonly clock: MovableClock | ReturnType<typeof foreignClock>
  readonly ledger = new Ledger()
  readonly faults: Faults
  readonly #options: TestServerOptions
  readonly #users: Users
  readonly #quiet = new IdleWait()
  readonly #types: TypeSource
  readonly #authority: TestAuthority
  readonly #closers: AsyncDisposable[] = []
  #seeded: Seeded | undefined
  #running: Running
  #closed: Promise<void> | undefined
  #isClosed = false

  constructor(options: TestServerOptions, origin: Origin) {
    this.#options = options
    this.#types = origin.types
    const { profile = stockProfile } = options.server ?? {}
    this.#authority = origin.authority ?? new TestAuthority({ startAtMs: origin.startAtMs, profile })
    this.#users = new Users(options.users, (certificates) => this.#authority.identify(certificates, this.clock))
    this.clock =
      options.clock === undefined ? new MovableClock(origin.startAtMs, () => this.settle()) : foreignClock(options.clock)
    this.faults = new Faults(this.clock)
    this.client = this.as(administrator)
    this.#seeded = origin.seeded
    const clock = this.clock.quiet
    this.#running = started(origin.seeded === undefined ? memoryStorage({ clock }) : fork(origin.seeded.storage, { clock }))
  }

  /** Plants the seed and remembers the state after it. */
  async begin(): Promise<void> {
    const manifests = await readManifests(this.#options.seed ?? [])
    const { profile = stockProfile } = this.#options.server ?? {}
    const signal = new AbortController().signal
    await plant(manifests, { client: this.client, profile, signal, settle: () => this.settle() })
    await this.settle()
    this.#seeded = snapshot(this.#running.storage, this.clock.now())
    this.ledger.clear()
  }

  readonly handle: Handler = (request) => this.#answer(this.#running, request)

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
    const seeded = snapshot(this.#running.storage, startAtMs)
    return new Cluster(this.#options, { startAtMs, types: this.#types, authority: this.#authority, seeded })
  }

  async reset(): Promise<void> {
    const before = this.#running
    const { storage, atMs } = this.#seeded!
    this.clock.restart(atMs)
    this.faults.clear()
    const next = fork(storage, { clock: this.clock.quiet })
    await outgrow(next, before.storage.revision)
    this.#running = started(next)
    await this.#end(before)
    this.ledger.clear()
  }

  async settle(): Promise<void> {
    const running = this.#running
    const controlling = await this.#control(running)
    await this.#quiet.settled(
      async () => controlling?.controllers.settled(),
      () => running.storage.revision,
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
    return this.#serve(this.#running)
  }

  close(): Promise<void> {
    this.#closed ??= (async () => {
      // Last come, first gone: ports before the clients that they may serve.
      for (const closer of this.#closers.reverse()) await closer[Symbol.asyncDispose]()
      await this.#end(this.#running)
      this.#isClosed = true
      await this.#seeded?.storage.close()
    })()
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #answer(running: Running, request: ApiRequest): Promise<ApiResponse> {
    if (this.#isClosed) throw new TestingError({ code: 'Closed', message: 'the test server was disposed of' })
    const user = request.user ?? this.#users.identify(request)
    const sent = { ...shapeOf(request), user: user?.username ?? '', isController: request.user === controllerUser }
    // Reading needs no controllers.
    if (!sent.isController && sent.method !== 'GET' && sent.method !== 'HEAD') void this.#control(running)
    const end = this.#quiet.begin()
    try {
      const { handle } = await this.#serve(running)
      const response = await this.faults.apply(sent, {
        next: (signal) => handle({ ...request, signal }),
        signal: request.signal,
        waits: (time) => this.#quiet.without(time),
      })
      this.#record(request, sent, response.status)
      return response
    } catch (error) {
      this.#record(request, sent, 0)
      throw error
    } finally {
      end()
    }
  }

  #serve(running: Running): Promise<EmbeddedServer> {
    if (running.server !== undefined) return running.server
    const { onError, server = {} } = this.#options
    running.server = createApiServer({
      ...(this.#users.authorizer === undefined ? {} : { authorizer: this.#users.authorizer }),
      ...(onError === undefined ? {} : { onFault: onError }),
      ...server,
      types: this.#types,
      storage: running.storage,
      clock: this.clock.quiet,
      authenticator: this.#users.authenticator,
      limits: { readOnlyInFlight: 0, mutatingInFlight: 0, watchMs, ...server.limits },
    })
    running.server.catch(() => undefined)
    return running.server
  }

  #control(running: Running): Promise<Controlling | undefined> {
    const { controllers = usualControllers, rootCA, legacyToken, onError, signing, server = {} } = this.#options
    if (controllers.length === 0) return Promise.resolve(undefined)
    running.controllers ??= this.#serve(running).then(() => {
      const client = inProcessClient((request) => this.#answer(running, request), { user: controllerUser, clock: this.clock })
      const { random, profile } = server
      const made = runControllers({
        client,
        clock: this.clock,
        controllers,
        newestVersion: () => String(running.storage.revision),
        ...(random === undefined ? {} : { random }),
        ...(profile === undefined ? {} : { profile }),
        ...(rootCA === undefined ? {} : { rootCA }),
        ...(legacyToken === undefined ? {} : { legacyToken }),
        ...(signing === 'none' ? {} : { signing: signing ?? { signers: this.#authority.signers(this.clock) } }),
        ...(onError === undefined ? {} : { onError }),
      })
      return { client, controllers: made }
    })
    running.controllers.catch(() => undefined)
    return running.controllers
  }

  async #end(running: Running): Promise<void> {
    const controlling = await running.controllers?.catch(() => undefined)
    await controlling?.controllers.close()
    await controlling?.client.close()
    const server = await running.server?.catch(() => undefined)
    if (server === undefined) await running.storage.close()
    else await server.close()
  }

  #record(
    request: ApiRequest,
    sent: RequestShape & { readonly user: string; readonly isController: boolean },
    code: number,
  ): void {
    const agent = request.headers['user-agent']
    const userAgent = typeof agent === 'string' ? agent : (agent?.[0] ?? '')
    this.ledger.record({ ...sent, code, atMs: this.clock.now(), userAgent })
  }
}

/** Watches last: no alarm of theirs is in the way of a clock that is moved by days. */
const watchMs = 10 * 365 * 24 * 3_600_000

function started(storage: Storage): Running {
  return { storage, server: undefined, controllers: undefined }
}

/** A store that nobody writes to and that does not age. */
function snapshot(storage: Storage, atMs: number): Seeded {
  return { storage: fork(storage, { clock: { now: () => atMs, setTimeout: () => () => undefined } }), atMs }
}

/**
 * Makes a store go on after this revision without a memory of before: what clients remember of another life of the server is
 * forgotten to it, so that they list anew, and no revision stands for two things.
 */
async function outgrow(storage: Storage, revision: number): Promise<void> {
  const nothing = () => new Uint8Array()
  while (storage.revision <= revision) await storage.put('/testing/reset', nothing)
  await storage.delete('/testing/reset', nothing)
  await storage.compact(storage.revision)
}
