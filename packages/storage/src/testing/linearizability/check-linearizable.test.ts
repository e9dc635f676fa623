import { describe, expect, it } from 'vitest'
import { memoryStorage } from '../../memory/memory-storage.ts'
import { checkLinearizable } from './check-linearizable.ts'
import { clientOf, type HistoryClient } from './history-client.ts'
import type { OperationInput, OperationOutput, StorageOperation } from './operation.ts'
import { plantedViolations } from './planted-violations.ts'
import { recordHistory } from './record-history.ts'

const clientCount = 6
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

const a = '/history/a'
const b = '/history/b'
const operation = (called: number, returned: number, input: OperationInput, output: OperationOutput): StorageOperation => ({
  client: called,
  called,
  returned,
  input,
  output,
})
const put = (called: number, returned: number, [value, revision, expected]: [string, number, number?], key = a) =>
  operation(called, returned, { type: 'put', key, value, expect: expected }, { outcome: 'written', revision })
const get = (called: number, returned: number, found?: [string, number], key = a) =>
  operation(called, returned, { type: 'get', key }, { outcome: 'read', found: found && { value: found[0], revision: found[1] } })
const lost = (called: number, value: string, key = a) =>
  operation(called, Number.POSITIVE_INFINITY, { type: 'put', key, value }, { outcome: 'unknown' })
const list = (called: number, returned: number, revision: number, ...entries: [string, string, number][]) =>
  operation(
    called,
    returned,
    { type: 'list' },
    { outcome: 'listed', revision, entries: entries.map(([key, value, at]) => ({ key, value, revision: at })) },
  )

describe('checkLinearizable', () => {
  it.each<[string, StorageOperation[]]>([
    ['an empty history', []],
    ['a read that overlaps a write and does not see it', [put(0, 3, ['1', 2]), get(1, 2)]],
    ['a read that overlaps a write and sees it', [put(0, 3, ['1', 2]), get(1, 2, ['1', 2])]],
    ['overlapping writes in the order of their revisions', [put(0, 2, ['1', 3]), put(1, 3, ['2', 2]), get(4, 5, ['1', 3])]],
    ['revisions with gaps', [put(0, 1, ['1', 2]), put(2, 3, ['2', 7, 2])]],
    ['an unanswered write that happens late', [lost(0, '1'), get(1, 2), get(3, 4, ['1', 9])]],
    ['an unanswered write that never happens', [lost(0, '1'), get(1, 2), get(3, 4)]],
    ['a list at a revision above the last write', [put(0, 1, ['1', 2]), list(2, 3, 5, [a, '1', 2]), put(4, 5, ['2', 6])]],
  ])('accepts %s', (_, history) => {
    expect(checkLinearizable(history)).toMatchObject({ isLinearizable: true })
  })

  it.each<[string, StorageOperation[]]>([
    ['a read of a former value', [put(0, 1, ['1', 2]), put(2, 3, ['2', 3]), get(4, 5, ['1', 2])]],
    ['a value that was not written', [get(0, 1, ['1', 2])]],
    ['two reads that see a write and then not', [put(0, 9, ['1', 2]), get(1, 2, ['1', 2]), get(3, 4)]],
    ['a write that is gone', [put(0, 1, ['1', 2]), get(2, 3)]],
    ['a value at a second revision', [put(0, 1, ['1', 2]), get(2, 3, ['1', 4])]],
    ['revisions against the order of writes', [put(0, 1, ['1', 3]), put(2, 3, ['2', 2], b)]],
    ['two creations of one key', [put(0, 3, ['1', 2, 0]), put(1, 2, ['2', 3, 0])]],
    ['an unanswered write that is undone', [lost(0, '1'), get(1, 2, ['1', 2]), get(3, 4)]],
    ['a list without an earlier write', [put(0, 1, ['1', 2]), list(2, 3, 2)]],
    ['a list at a revision that a later write takes', [put(0, 1, ['1', 2]), list(2, 3, 3, [a, '1', 2]), put(4, 5, ['2', 3], b)]],
    [
      'lists that see two writes in different orders',
      [put(0, 9, ['1', 2]), put(1, 8, ['2', 3], b), list(2, 3, 3, [b, '2', 3]), list(4, 5, 4, [a, '1', 2], [b, '2', 3])],
    ],
  ])('rejects %s', (_, history) => {
    const result = checkLinearizable(history)
    expect(result.isLinearizable).toBe(false)
    expect(result.isLinearizable || result.stuck.length).toBeGreaterThan(0)
  })

  it('accepts recorded histories of a store in memory', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const storage = memoryStorage()
      const clients = Array.from({ length: clientCount }, () => delayed(clientOf(storage)))
      const history = await recordHistory({ clients, seed, pause: turn })
      expect(history.length, `seed ${seed}`).toBeGreaterThan(200)
      expect(checkLinearizable(history), `seed ${seed}`).toMatchObject({ isLinearizable: true })
      await storage.close()
    }
  })

  it.each(Object.entries(plantedViolations))('rejects recorded histories with a planted violation: %s', async (_, plant) => {
    for (let seed = 1; seed <= 3; seed++) {
      const storage = memoryStorage()
      const clients = Array.from({ length: clientCount }, () => delayed(clientOf(storage)))
      const history = await recordHistory({ clients: plant(clients), seed, pause: turn })
      expect(checkLinearizable(history).isLinearizable, `seed ${seed}`).toBe(false)
      await storage.close()
    }
  })
})

/** A client whose operations wait some turns of the event loop before and after they take effect. */
function delayed(client: HistoryClient): HistoryClient {
  const around = async <T>(act: () => Promise<T>): Promise<T> => {
    await turn()
    const result = await act()
    await turn()
    return result
  }
  return {
    write: (write) => around(() => client.write(write)),
    get: (key) => around(() => client.get(key)),
    list: () => around(() => client.list()),
  }
}
