import { onNextTurn } from '@krmkit/base/work'
import type { Client } from '@krmkit/client'
import { TurnBudget } from './turn-budget.ts'

/** Requests that may begin in one turn of the event loop without waiting. */
const requestsAtOnce = 4
/** Maximum number of waiting requests that begin in one turn. */
const requestsPerTurn = 16

/**
 * Wraps a client so that bursts of requests do not delay the requests of others: only a few start in one turn of the event
 * loop, until the time budget of the turn is used. A server in the same process handles a request without yielding, so that
 * an unpaced burst of thousands would block the server until all are handled. Watches and page iterations are not paced.
 *
 * @example
 * import { createPacedClient } from '@krmkit/controllers/framework'
 * import { createRemoteClient, loadKubeconfig } from '@krmkit/client'
 * const client = createPacedClient(createRemoteClient(await loadKubeconfig()))
 */
export function createPacedClient(client: Client, turnBudget = new TurnBudget()): Client {
  const pace = new RequestPace(turnBudget)
  const paced = <T>(send: () => Promise<T>): Promise<T> => {
    const turn = pace.enter()
    return turn === undefined ? send() : turn.then(send)
  }
  return {
    namespace: client.namespace,
    get: (resource, name, options) => paced(() => client.get(resource, name, options)),
    list: (resource, options) => paced(() => client.list(resource, options)),
    listPages: (resource, options) => client.listPages(resource, options),
    watch: (resource, options) => client.watch(resource, options),
    create: (resource, object, options) => paced(() => client.create(resource, object, options)),
    update: (resource, object, options) => paced(() => client.update(resource, object, options)),
    patch: (resource, name, options) => paced(() => client.patch(resource, name, options)),
    apply: (resource, object, options) => paced(() => client.apply(resource, object, options)),
    delete: (resource, name, options) => paced(() => client.delete(resource, name, options)),
    deleteCollection: (resource, options) => paced(() => client.deleteCollection(resource, options)),
    request: (request) => paced(() => client.request(request)),
    close: () => client.close(),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  }
}

class RequestPace {
  readonly #turnBudget: TurnBudget
  readonly #waiting: (() => void)[] = []
  /** Number of requests that started in this turn without waiting. */
  #begun = 0
  #isScheduled = false

  constructor(turnBudget: TurnBudget) {
    this.#turnBudget = turnBudget
  }

  /** @returns `undefined` when the request may start at once */
  enter(): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#begun < requestsAtOnce && !this.#turnBudget.isUsed) {
      this.#begun++
      this.#schedule()
      return undefined
    }
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#schedule()
    })
  }

  /**
   * One callback for each request: a resumed request runs, and uses its time, before the next callback of the same turn
   * checks the budget.
   */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    onNextTurn(() => {
      this.#begun = 0
      this.#resumeOne()
    })
    const more = Math.min(requestsPerTurn, this.#waiting.length) - 1
    for (let i = 0; i < more; i++) onNextTurn(() => this.#resumeOne())
    onNextTurn(() => {
      this.#isScheduled = false
      if (this.#waiting.length > 0) this.#schedule()
    })
  }

  #resumeOne(): void {
    if (!this.#turnBudget.isUsed) this.#waiting.shift()?.()
  }
}
