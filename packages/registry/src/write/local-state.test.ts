import { ApiError } from '@krmkit/meta'
import { type Entry, type Storage, StorageError } from '@krmkit/storage'
import { describe, expect, it } from 'vitest'
import { fromLocalState, fromNewestWhenRefused } from './local-state.ts'

const key = '/core/configmaps/shop/web'
const entryAt = (revision: number): Entry => ({ key, value: new Uint8Array(), revision, created: 1, memo: undefined })

/** A store whose local entry is at revision 5, and at another one after a refresh. */
function storeOf(local: Entry | undefined, newest: Entry | undefined) {
  const store = {
    refreshes: 0,
    revision: 5,
    peek: () => (store.refreshes === 0 ? local : newest),
    async refresh() {
      store.refreshes++
      store.revision = newest === local ? 5 : 9
    },
  }
  return Object.assign(store, { storage: store as unknown as Storage })
}

const refused = ApiError.badRequest('no')

describe('a write from the local state', () => {
  it('does not refresh when it stores or removes the object, or loses to another writer', async () => {
    const local = entryAt(5)
    for (const result of [{ entry: entryAt(6) }, {}, undefined]) {
      const store = storeOf(local, local)
      expect(await fromLocalState(store.storage, key, async () => result)).toBe(result)
      expect(store.refreshes).toBe(0)
    }
  })

  it('is refused or left unchanged only when the newest entry is the local one', async () => {
    const local = entryAt(5)
    const same = storeOf(local, local)
    const unchanged = { entry: local }
    expect(await fromLocalState(same.storage, key, async () => unchanged)).toBe(unchanged)
    await expect(fromLocalState(same.storage, key, () => Promise.reject(refused))).rejects.toBe(refused)
    expect(same.refreshes).toBe(2)
    for (const newest of [entryAt(8), undefined]) {
      expect(await fromLocalState(storeOf(local, newest).storage, key, async () => ({ entry: local }))).toBeUndefined()
      expect(await fromLocalState(storeOf(local, newest).storage, key, () => Promise.reject(refused))).toBeUndefined()
    }
  })

  it('is not attempted when nothing is stored, and not repeated when its outcome is unknown', async () => {
    const store = storeOf(undefined, entryAt(8))
    const attempt = () => Promise.reject(new Error('tried'))
    expect(await fromLocalState(store.storage, key, attempt)).toBeUndefined()
    expect(store.refreshes).toBe(1)
    const unknown = new StorageError({ code: 'Unavailable', reason: 'outcome', problem: 'no answer' })
    const other = storeOf(entryAt(5), entryAt(8))
    await expect(fromLocalState(other.storage, key, () => Promise.reject(unknown))).rejects.toBe(unknown)
    expect(other.refreshes).toBe(0)
  })

  it('is not attempted in a store of one process', async () => {
    const storage = { peek: () => entryAt(5) } as unknown as Storage
    expect(await fromLocalState(storage, key, () => Promise.reject(new Error('tried')))).toBeUndefined()
  })
})

describe('checks of other objects', () => {
  const failing = (times: number) => {
    let calls = 0
    const check = async () => {
      if (++calls <= times) throw refused
      return calls
    }
    return check
  }

  it('run once more when objects have changed since', async () => {
    expect(await fromNewestWhenRefused(storeOf(undefined, entryAt(8)).storage, failing(1))).toBe(2)
    await expect(fromNewestWhenRefused(storeOf(undefined, entryAt(8)).storage, failing(2))).rejects.toBe(refused)
  })

  it('fail when nothing has changed, or the failure does not depend on the state', async () => {
    const same = storeOf(undefined, undefined)
    await expect(fromNewestWhenRefused(same.storage, failing(1))).rejects.toBe(refused)
    expect(same.refreshes).toBe(1)
    const changed = storeOf(undefined, entryAt(8))
    await expect(fromNewestWhenRefused(changed.storage, failing(1), { mayBeStale: () => false })).rejects.toBe(refused)
    expect(changed.refreshes).toBe(0)
  })
})
