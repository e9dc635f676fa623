/** Runs concurrent clients with random operations on few keys, and records the history. */
import { RandomChoices } from '@krmkit/base/random-choices'
import type { Revision } from '../../interfaces.ts'
import type { ClientWrite, HistoryClient } from './history-client.ts'
import { historyPrefix, type OperationInput, type OperationOutput, type SeenValue, type StorageOperation } from './operation.ts'

export interface HistoryOptions {
  /** Each client runs one operation after the other. */
  readonly clients: readonly HistoryClient[]
  readonly seed: number
  /** Operations of each client; default 40. */
  readonly operations?: number
  /** Number of keys; default 3. */
  readonly keys?: number
  /** Waits between two operations of a client. */
  readonly pause?: (choices: RandomChoices) => Promise<void>
  /** Called after each operation with the number of completed operations. */
  readonly onProgress?: (done: number) => void
}

/**
 * Runs the clients to their end and returns their history.
 *
 * @example
 * import { memoryStorage } from '@krmkit/storage'
 * import { checkLinearizable, clientOf, recordHistory } from '@krmkit/storage/testing'
 * const storage = memoryStorage()
 * const history = await recordHistory({ clients: [clientOf(storage), clientOf(storage)], seed: 1, operations: 100 })
 * checkLinearizable(history).isLinearizable // true
 */
export async function recordHistory(options: HistoryOptions): Promise<StorageOperation[]> {
  const history = new HistoryRecorder(options)
  await Promise.all(options.clients.map((client, number) => history.run(client, number)))
  return history.operations
}

class HistoryRecorder {
  readonly operations: StorageOperation[] = []
  readonly #options: HistoryOptions
  readonly #keys: readonly string[]
  #moment = 0
  #done = 0

  constructor(options: HistoryOptions) {
    this.#options = options
    this.#keys = Array.from({ length: options.keys ?? 3 }, (_, n) => `${historyPrefix}${n}`)
  }

  async run(client: HistoryClient, number: number): Promise<void> {
    const { seed, operations = 40, pause, onProgress } = this.#options
    const choices = new RandomChoices(seed, number)
    const known = new Map<string, Revision>()
    for (let n = 0; n < operations; n++) {
      const key = choices.pick(this.#keys)
      const roll = choices.below(100)
      if (roll < 30) await this.#get(client, number, { key, known })
      else if (roll < 40) await this.#list(client, number, known)
      else {
        const expect = choices.pick([undefined, 0, known.get(key) ?? 0, known.get(key) ?? 0])
        const type = choices.chance(25) ? 'delete' : 'put'
        await this.#write(client, number, { write: { type, key, value: `${number}.${n}`, expect }, known })
      }
      onProgress?.(++this.#done)
      await pause?.(choices)
    }
  }

  async #get(client: HistoryClient, number: number, { key, known }: { key: string; known: Map<string, Revision> }) {
    const called = this.#moment++
    // A failed read is not recorded.
    const result = await client.get(key).then(
      (found) => ({ found }),
      () => undefined,
    )
    if (result === undefined) return
    this.#add(number, called, { type: 'get', key }, { outcome: 'read', found: result.found })
    learn(known, key, result.found)
  }

  async #list(client: HistoryClient, number: number, known: Map<string, Revision>) {
    const called = this.#moment++
    const listed = await client.list().catch(() => undefined)
    if (listed === undefined) return
    this.#add(number, called, { type: 'list' }, { outcome: 'listed', ...listed })
    known.clear()
    for (const { key, revision } of listed.entries) known.set(key, revision)
  }

  async #write(client: HistoryClient, number: number, { write, known }: { write: ClientWrite; known: Map<string, Revision> }) {
    const called = this.#moment++
    const result = await client.write(write)
    if (result.outcome === 'refused') return
    if (result.outcome === 'unknown') {
      this.operations.push({ client: number, called, returned: Number.POSITIVE_INFINITY, input: write, output: result })
      return
    }
    if (result.outcome === 'written') {
      this.#add(number, called, write, result)
      known.set(write.key, write.type === 'put' ? result.revision : 0)
      return
    }
    const returned = this.#add(number, called, write, { outcome: 'conflict' })
    // The current entry of a conflict counts as a read between call and return.
    const read = { type: 'get', key: write.key } as const
    this.operations.push({ client: number, called, returned, input: read, output: { outcome: 'read', found: result.current } })
    learn(known, write.key, result.current)
  }

  #add(client: number, called: number, input: OperationInput, output: OperationOutput): number {
    const returned = this.#moment++
    this.operations.push({ client, called, returned, input, output })
    return returned
  }
}

function learn(known: Map<string, Revision>, key: string, found: SeenValue | undefined): void {
  known.set(key, found?.revision ?? 0)
}
