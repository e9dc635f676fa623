import type { SeenRequest } from './front.ts'
import type { ClientAdapter, ConnectedClient } from './interfaces.ts'
import { namespace, type Stage } from './stage.ts'
import { NotApplicable, pause, require } from './violation.ts'

/** One client under test. */
export class ClientRun {
  readonly stage: Stage
  readonly #client: ConnectedClient

  private constructor(stage: Stage, client: ConnectedClient) {
    this.stage = stage
    this.#client = client
  }

  static async connect(adapter: ClientAdapter, stage: Stage): Promise<ClientRun> {
    return new ClientRun(stage, await adapter.connect(stage.server, namespace))
  }

  /** Returns a method of the client. @throws NotApplicable if the adapter lacks it */
  method<K extends keyof ConnectedClient>(name: K): NonNullable<ConnectedClient[K]> {
    const method = this.#client[name]
    if (method === undefined) throw new NotApplicable(`the adapter has no method ${name}`)
    return method.bind(this.#client) as NonNullable<ConnectedClient[K]>
  }

  /** Returns the requests of a verb after a delay in which a client could repeat a request. */
  async requestsOf(verb: string, waitMs = 1500): Promise<readonly SeenRequest[]> {
    await pause(waitMs)
    return this.stage.front.of(verb)
  }

  async close(): Promise<void> {
    await this.#client.close?.()
  }
}

/** Returns the HTTP status of an error of a client; undefined for other errors. */
export function statusOfError(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const { code, statusCode } = error as { readonly code?: unknown; readonly statusCode?: unknown }
  return [code, statusCode].find((each): each is number => typeof each === 'number')
}

/** Requires that a call rejects with a status of the server. */
export async function requireStatus(call: () => unknown, wanted: number): Promise<void> {
  let outcome = 'the call succeeded'
  try {
    await call()
  } catch (error) {
    const status = statusOfError(error)
    if (status === wanted) return
    outcome = status === undefined ? `the error has no status: ${String(error).slice(0, 200)}` : `the error has status ${status}`
  }
  require(false, () => `${outcome}; the server answered ${wanted}`)
}

/** Waits until a call succeeds or fails. */
export async function settled(call: () => unknown): Promise<void> {
  try {
    await call()
  } catch (error) {
    if (error instanceof NotApplicable) throw error
  }
}
