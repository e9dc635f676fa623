import { createInterface } from 'node:readline'
import { statusOfError } from './client-run.ts'
import type { CertificationSubject, ConnectedClient, RunningInformer } from './interfaces.ts'
import type {
  CallParams,
  ConnectParams,
  Description,
  InformerState,
  LineRequest,
  LineResponse,
  StartParams,
  StateParams,
} from './line-protocol.ts'

/** Streams of requests and responses. */
export interface ServeSubjectStreams {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
}

/**
 * Serves a client under test to `startProcessSubject` in another process. Use it for a client that may crash, or that needs
 * another version of Node. Resolves when the input ends.
 *
 * @param methods names of the methods that the connected client has
 * @example
 * import { serveSubject } from '@krmkit/testing/certification'
 * await serveSubject({ name: 'my client', client: { connect: () => ({}) } }, { methods: [] })
 */
export async function serveSubject(
  subject: CertificationSubject,
  options: { readonly methods?: readonly (keyof ConnectedClient)[] } & Partial<ServeSubjectStreams> = {},
): Promise<void> {
  const { methods = [], input = process.stdin, output = process.stdout } = options
  const session = new Session(subject, methods)
  for await (const line of createInterface({ input })) {
    const request = JSON.parse(line) as LineRequest
    void session.respond(request).then((response) => output.write(`${JSON.stringify(response)}\n`))
  }
}

class Session {
  readonly #subject: CertificationSubject
  readonly #methods: readonly string[]
  readonly #informers = new Map<number, RunningInformer>()
  readonly #clients = new Map<number, ConnectedClient>()
  #count = 0

  constructor(subject: CertificationSubject, methods: readonly string[]) {
    this.#subject = subject
    this.#methods = methods
  }

  async respond({ id, method, params }: LineRequest): Promise<LineResponse> {
    try {
      return { id, result: (await this.#run(method, params)) ?? null }
    } catch (error) {
      const code = statusOfError(error)
      const message = error instanceof Error ? error.message : String(error)
      return { id, error: { message, ...(code === undefined ? {} : { code }) } }
    }
  }

  async #run(method: LineRequest['method'], params: unknown): Promise<unknown> {
    switch (method) {
      case 'describe':
        return this.#describe()
      case 'start':
        return this.#add(this.#informers, await this.#subject.informer!.start(params as StartParams))
      case 'state':
        return stateOf(this.#informers.get((params as StateParams).informer)!)
      case 'stop':
        return this.#informers.get((params as StateParams).informer)!.stop()
      case 'connect': {
        const { server, namespace } = params as ConnectParams
        return this.#add(this.#clients, await this.#subject.client!.connect(server, namespace))
      }
      case 'call':
        return this.#call(params as CallParams)
      case 'close':
        return this.#clients.get((params as Pick<CallParams, 'client'>).client)!.close?.()
    }
  }

  #describe(): Description {
    const { informer, client } = this.#subject
    return {
      ...(informer === undefined ? {} : { informer: { features: informer.features ?? {} } }),
      ...(client === undefined ? {} : { client: this.#methods }),
    }
  }

  #add<T>(all: Map<number, T>, one: T): number {
    all.set(++this.#count, one)
    return this.#count
  }

  async #call({ client, name, arguments: all }: CallParams): Promise<unknown> {
    const connected = this.#clients.get(client)!
    return Reflect.apply(connected[name as keyof ConnectedClient] as () => unknown, connected, all)
  }
}

async function stateOf(informer: RunningInformer): Promise<InformerState> {
  const hasSynced = await informer.hasSynced()
  const events = await informer.events?.()
  return { hasSynced, objects: await informer.objects(), ...(events === undefined ? {} : { events }) }
}
