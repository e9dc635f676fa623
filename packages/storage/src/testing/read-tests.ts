import assert from 'node:assert/strict'
import type { Storage } from '../interfaces.ts'
import { failureOf, formatEntries, put, read, remove, type StoreTest, text } from './harness.ts'

/** Tests of get, list, pages, snapshots and counts. */
export function readTests(test: StoreTest): void {
  test('gets the newest entry without a revision [P168]', async ({ storage }) => {
    assert.equal(await storage.get('/a/x'), undefined)
    await put(storage, '/a/x', '1')
    const newest = await put(storage, '/a/x', '2')
    assert.equal(await storage.get('/a/x'), newest)
    assert.equal(storage.peek('/a/x'), newest)
  })

  test('gets the entry of a past revision', async ({ storage }) => {
    const before = storage.revision
    const first = await put(storage, '/a/x', '1')
    const second = await put(storage, '/a/x', '2')
    await remove(storage, '/a/x')
    await put(storage, '/a/y', '3')
    assert.equal(await storage.get('/a/x', { at: before }), undefined)
    assert.equal(await storage.get('/a/x', { at: first.revision }), first)
    assert.equal(await storage.get('/a/x', { at: second.revision }), second)
    assert.equal(await storage.get('/a/x', { at: second.revision + 1 }), undefined)
    assert.equal(await storage.get('/a/y', { at: second.revision + 1 }), undefined)
  })

  test('lists the newest state in key order, with its revision [P169 P170]', async ({ storage }) => {
    for (const name of ['c', 'a', 'b']) await put(storage, `/a/${name}`, name)
    const { entries, revision, remaining } = await storage.list({ prefix: '/a/' })
    assert.deepEqual(
      entries.map(({ key }) => key),
      ['/a/a', '/a/b', '/a/c'],
    )
    assert.equal(revision, storage.revision)
    assert.equal(remaining, 0)
    assert.equal(entries[0], storage.peek('/a/a'))
  })

  test('waits for a revision before listing [P171 P180]', async ({ storage }) => {
    const revision = storage.revision + 2
    const waiting = storage.waitFor(revision, new AbortController().signal)
    await put(storage, '/a/x', '1')
    await put(storage, '/a/y', '2')
    assert.equal(await waiting, true)
    assert.ok((await storage.list({ prefix: '/a/' })).revision >= revision)
  })

  test('lists exactly the state of a revision [P173 P178]', async ({ storage }) => {
    const start = storage.revision
    await put(storage, '/a/x', '1')
    await put(storage, '/a/y', '2')
    await put(storage, '/a/x', '3')
    await remove(storage, '/a/y')
    const at = async (offset: number) => formatEntries((await storage.list({ prefix: '/a/', at: start + offset })).entries)
    assert.deepEqual(await at(0), [])
    assert.deepEqual(await at(1), [`/a/x=1@${start + 1}`])
    assert.deepEqual(await at(2), [`/a/x=1@${start + 1}`, `/a/y=2@${start + 2}`])
    assert.deepEqual(await at(3), [`/a/x=3@${start + 3}`, `/a/y=2@${start + 2}`])
    assert.deepEqual(await at(4), [`/a/x=3@${start + 3}`])
    const result = await storage.list({ prefix: '/a/', at: start + 2, limit: 1 })
    assert.deepEqual([result.revision, result.remaining], [start + 2, 1])
  })

  test('counts the remaining keys after the last entry [P24]', async ({ storage }) => {
    await fill(storage, 10)
    for (const limit of [1, 4, 9, 10, 11]) {
      const { entries, remaining } = await storage.list({ prefix: '/a/', limit })
      assert.deepEqual([entries.length, remaining], [Math.min(limit, 10), Math.max(0, 10 - limit)])
    }
    assert.equal((await storage.list({ prefix: '/a/', limit: 3, after: '/a/05' })).remaining, 1)
    assert.equal((await storage.list({ prefix: '/a/', after: '/a/05' })).remaining, 0)
  })

  test('respects the limit; without one, or with 0, lists everything [P172 P185]', async ({ storage }) => {
    await fill(storage, 100)
    const limited = await storage.list({ prefix: '/a/', limit: 7 })
    assert.deepEqual([limited.entries.length, limited.revision], [7, storage.revision])
    assert.equal((await storage.list({ prefix: '/a/', limit: 0 })).entries.length, 100)
    assert.equal((await storage.list({ prefix: '/a/' })).entries.length, 100)
  })

  test('pages through one snapshot regardless of concurrent writes [P174 P186 P187 P188]', async ({ storage }) => {
    await fill(storage, 250)
    const whole = await storage.list({ prefix: '/a/' })
    const first = await storage.list({ prefix: '/a/', limit: 20 })
    const pages = [...first.entries]
    let { remaining } = first
    while (remaining > 0) {
      const last = pages.at(-1)!.key
      await put(storage, last, 'changed')
      await put(storage, `${last}-new`, 'new')
      await remove(storage, `/a/${String(249 - Math.floor(pages.length / 20)).padStart(2, '0')}`)
      const page = await storage.list({ prefix: '/a/', limit: 20, after: last, at: first.revision })
      assert.equal(page.revision, first.revision)
      assert.equal(page.remaining, remaining - page.entries.length)
      pages.push(...page.entries)
      remaining = page.remaining
    }
    assert.deepEqual(pages, whole.entries)
    assert.notDeepEqual((await storage.list({ prefix: '/a/' })).entries, whole.entries)
  })

  test('lists only keys under the prefix', async ({ storage }) => {
    for (const key of ['/a', '/a/b', '/a/b/c', '/a/b/c/d', '/a/b0', '/a/b-c', '/a/bc', '/a0', '/b/a/b/c'])
      await put(storage, key, '')
    const keys = async (prefix: string) => (await storage.list({ prefix })).entries.map(({ key }) => key)
    assert.deepEqual(await keys('/a/b/'), ['/a/b/c', '/a/b/c/d'])
    assert.deepEqual(await keys('/a/'), ['/a/b', '/a/b-c', '/a/b/c', '/a/b/c/d', '/a/b0', '/a/bc'])
    assert.deepEqual(await keys('/none/'), [])
    assert.equal((await keys('/')).length, 9)
    assert.deepEqual([storage.count('/a/b/'), storage.count('/a/'), storage.count('/none/'), storage.count('/')], [2, 6, 0, 9])
  })

  test('never lists keys outside the prefix because of after', async ({ storage }) => {
    for (const key of ['/a/x', '/b/x', '/b/y', '/c/x']) await put(storage, key, '')
    const keys = async (after: string) => {
      const { entries, remaining } = await storage.list({ prefix: '/b/', after, limit: 10 })
      assert.equal(remaining, 0)
      return entries.map(({ key }) => key)
    }
    assert.deepEqual(await keys('/a/x'), ['/b/x', '/b/y'])
    assert.deepEqual(await keys(''), ['/b/x', '/b/y'])
    assert.deepEqual(await keys('/b/x'), ['/b/y'])
    assert.deepEqual(await keys('/b/x\0'), ['/b/y'])
    assert.deepEqual(await keys('/c/x'), [])
  })

  test('orders keys by their bytes', async ({ storage }) => {
    const names = [
      'a',
      'b',
      'A',
      '0',
      '-',
      '.',
      '~',
      '\u00e9',
      '\u754c',
      '\ud7ff',
      '\ue000',
      '\uffff',
      '\u{10000}',
      '\u{1f600}',
      'a\u{1f600}',
      'a\uffff',
    ]
    for (const name of names) await put(storage, `/a/${name}`, name)
    const sorted = names.map((name) => `/a/${name}`).sort((x, y) => Buffer.compare(Buffer.from(x), Buffer.from(y)))
    const { entries } = await storage.list({ prefix: '/a/' })
    assert.deepEqual(
      entries.map(({ key }) => key),
      sorted,
    )
    for (const [at, key] of sorted.entries()) {
      const rest = await storage.list({ prefix: '/a/', after: key })
      assert.equal(rest.entries.length, sorted.length - at - 1)
      assert.equal(read(await storage.get(key)), key.slice(3))
    }
  })

  test('rejects a prefix that is not a collection', async ({ storage }) => {
    for (const prefix of ['', '/a', 'a/', '/a/\0/', '/\ud800/']) {
      assert.equal((await failureOf(() => storage.list({ prefix }))).code, 'InvalidKey', JSON.stringify(prefix))
      assert.equal((await failureOf(() => storage.count(prefix))).code, 'InvalidKey')
    }
  })

  test('rejects a future revision', async ({ storage }) => {
    const current = storage.revision
    const expected = { code: 'FutureRevision', requested: current + 1, current }
    assert.deepEqual(await failureOf(() => storage.get('/a/x', { at: current + 1 })), expected)
    assert.deepEqual(await failureOf(() => storage.list({ prefix: '/a/', at: current + 1 })), expected)
    assert.deepEqual(await failureOf(() => storage.compact(current + 1)), expected)
  })

  test('resolves waitFor with whether the revision came before the abort', async ({ storage }) => {
    const never = new AbortController().signal
    assert.equal(await storage.waitFor(storage.revision, never), true)
    const abort = new AbortController()
    const [near, far] = [storage.waitFor(storage.revision + 1, abort.signal), storage.waitFor(storage.revision + 2, abort.signal)]
    await put(storage, '/a/x', '1')
    abort.abort()
    assert.deepEqual(await Promise.all([near, far]), [true, false])
    assert.equal(await storage.waitFor(storage.revision + 1, abort.signal), false)
  })
}

async function fill(storage: Storage, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await storage.put(`/a/${String(n).padStart(2, '0')}`, text(String(n)))
}
