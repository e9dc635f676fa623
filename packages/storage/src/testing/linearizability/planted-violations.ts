/** Clients that occasionally violate the contract, to show that the check detects it. */
import type { ClientWriteResult, HistoryClient } from './history-client.ts'
import type { SeenValue } from './operation.ts'

/** Number of successful writes between two violations of a client. */
const every = 8
/** Maximum number of turns of the event loop for which a write waits for another. */
const maxWaitTurns = 50

/** By kind of violation: functions that make clients of one store violate the contract. */
export const plantedViolations: Readonly<Record<string, (clients: readonly HistoryClient[]) => HistoryClient[]>> = {
  'a stale read': (clients) => clients.map(staleReads),
  'a lost write': (clients) => clients.map(lostWrites),
  'a write applied twice': (clients) => clients.map(repeatedWrites),
  'versions in another order': swappedRevisions,
  'a list of two states': (clients) => clients.map(tornLists),
}

function staleReads(client: HistoryClient): HistoryClient {
  const former = new Map<string, SeenValue | undefined>()
  let count = 0
  return {
    ...client,
    async get(key) {
      const found = await client.get(key)
      const before = former.get(key)
      if (++count % 2 === 0 && before !== undefined && before.revision !== found?.revision) return before
      former.set(key, found)
      return found
    },
  }
}

function lostWrites(client: HistoryClient): HistoryClient {
  let count = 0
  return {
    ...client,
    async write(write) {
      if (write.type === 'delete' || ++count % every !== 0) return client.write(write)
      const { revision } = await client.list()
      return { outcome: 'written', revision: revision + 1 }
    },
  }
}

function repeatedWrites(client: HistoryClient): HistoryClient {
  let count = 0
  return {
    ...client,
    async write(write) {
      const result = await client.write(write)
      if (result.outcome !== 'written' || write.type === 'delete' || ++count % every !== 0) return result
      await client.write({ type: 'put', key: write.key, value: write.value })
      return result
    },
  }
}

/** Swaps the revisions of two acknowledgements. */
function swappedRevisions(clients: readonly HistoryClient[]): HistoryClient[] {
  let waiting: { readonly revision: number; other: number | undefined } | undefined
  let count = 0
  const swap = async (result: ClientWriteResult): Promise<ClientWriteResult> => {
    if (result.outcome !== 'written') return result
    if (waiting !== undefined) {
      const { revision } = waiting
      waiting.other = result.revision
      waiting = undefined
      return { outcome: 'written', revision }
    }
    if (++count % every !== 0) return result
    const own: { readonly revision: number; other: number | undefined } = { revision: result.revision, other: undefined }
    waiting = own
    for (let turn = 0; turn < maxWaitTurns && own.other === undefined; turn++)
      await new Promise((resolve) => setImmediate(resolve))
    if (waiting === own) waiting = undefined
    return { outcome: 'written', revision: own.other ?? own.revision }
  }
  return clients.map((client) => ({ ...client, write: async (write) => swap(await client.write(write)) }))
}

/** Returns lists whose entries were read one after the other. */
function tornLists(client: HistoryClient): HistoryClient {
  return {
    ...client,
    async list() {
      const { revision, entries } = await client.list()
      const last = entries.at(-1)
      if (last === undefined) return { revision, entries }
      await Promise.resolve()
      const later = await client.list()
      return { revision, entries: [...entries.slice(0, -1), ...later.entries.filter(({ key }) => key >= last.key)] }
    },
  }
}
