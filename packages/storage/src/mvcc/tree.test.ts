import { RandomChoices } from '@krmkit/base/random-choices'
import { describe, expect, it } from 'vitest'
import type { Entry } from '../interfaces.ts'
import { makeEntry } from './entries.ts'
import { Tree, type TreeSnapshot } from './tree.ts'

const entry = (key: string, revision = 1): Entry => makeEntry(key, new Uint8Array(), { revision, created: 1 })
const all = (tree: Tree) => tree.slice(0, tree.size)

/** A reference implementation: a sorted array. */
class SortedArray {
  entries: Entry[] = []
  set(next: Entry): void {
    this.entries = [...this.entries.filter(({ key }) => key !== next.key), next].sort((a, b) =>
      Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)),
    )
  }
  delete(key: string): void {
    this.entries = this.entries.filter((other) => other.key !== key)
  }
}

describe('Tree', () => {
  it('is empty initially', () => {
    const tree = new Tree()
    expect([tree.size, tree.get('/a'), tree.rank('/a'), all(tree)]).toEqual([0, undefined, 0, []])
    tree.delete('/a')
    expect(tree.size).toBe(0)
  })

  it('keeps snapshots unchanged', () => {
    const tree = new Tree()
    tree.set(entry('/x', 1))
    tree.set(entry('/y', 2))
    const before = tree.freeze()
    tree.set(entry('/z', 3))
    tree.set(entry('/x', 4))
    const between = tree.freeze()
    tree.delete('/x')
    const show = (state: TreeSnapshot) => all(new Tree(state)).map(({ key, revision }) => `${key}@${revision}`)
    expect(show(before)).toEqual(['/x@1', '/y@2'])
    expect(show(between)).toEqual(['/x@4', '/y@2', '/z@3'])
    expect(show(tree.freeze())).toEqual(['/y@2', '/z@3'])
  })

  it('allows independent changes to two trees from one snapshot', () => {
    const origin = new Tree()
    for (let n = 0; n < 200; n++) origin.set(entry(`/${n}`))
    const state = origin.freeze()
    const [one, other] = [new Tree(state), new Tree(state)]
    one.set(entry('/one'))
    other.delete('/7')
    origin.delete('/8')
    expect([one.size, other.size, origin.size, new Tree(state).size]).toEqual([201, 199, 199, 200])
    expect([one.get('/7'), one.get('/8'), other.get('/8')].map((found) => found?.key)).toEqual(['/7', '/8', '/8'])
  })

  for (const shape of ['rising', 'falling', 'scattered'] as const) {
    it(`stores and removes thousands of ${shape} keys`, () => {
      const count = 5000
      const tree = new Tree()
      const order = Array.from({ length: count }, (_, n) =>
        shape === 'rising' ? n : shape === 'falling' ? count - n - 1 : (n * 1999) % count,
      )
      const keyOf = (n: number) => `/${String(n).padStart(5, '0')}`
      for (const n of order) tree.set(entry(keyOf(n), n))
      expect(all(tree).map(({ revision }) => revision)).toEqual(Array.from({ length: count }, (_, n) => n))
      for (const n of [0, 1, 31, 32, 33, 1024, 4999]) {
        expect([tree.rank(keyOf(n)), tree.rank(keyOf(n), 'including'), tree.get(keyOf(n))?.revision]).toEqual([n, n + 1, n])
      }
      expect([tree.rank('/'), tree.rank('/00007x'), tree.rank('/9')]).toEqual([0, 8, count])
      expect(tree.slice(1000, 1100).map(({ revision }) => revision)).toEqual(Array.from({ length: 100 }, (_, n) => 1000 + n))
      for (const [at, n] of order.entries()) {
        tree.delete(keyOf(n))
        if (at % 500 === 0) expect([tree.size, all(tree).length]).toEqual([count - at - 1, count - at - 1])
      }
      expect([tree.size, tree.freeze().root]).toEqual([0, undefined])
    })
  }

  for (const seed of [1, 2, 3, 4, 5, 6]) {
    it(`agrees with a sorted array, seed ${seed}`, () => {
      const choices = new RandomChoices(seed)
      const letters = seed % 2 === 0 ? ['a', 'b', '\uffff', '\u{1f600}', '\ue000'] : ['a', 'b', 'c']
      const tree = new Tree()
      const model = new SortedArray()
      const states: { state: TreeSnapshot; entries: readonly Entry[] }[] = []
      const anyKey = () => `/${Array.from({ length: 1 + choices.below(4) }, () => choices.pick(letters)).join('')}`
      for (let step = 0; step < 1500; step++) {
        // The tree grows, shrinks and grows again, so that nodes split and merge.
        if (choices.chance(step % 600 < 300 ? 75 : 25)) {
          const next = entry(anyKey(), step)
          tree.set(next)
          model.set(next)
        } else {
          const key = model.entries.length > 0 && choices.chance(80) ? choices.pick(model.entries).key : anyKey()
          tree.delete(key)
          model.delete(key)
        }
        if (step % 50 !== 0) continue
        states.push({ state: tree.freeze(), entries: model.entries })
        const key = anyKey()
        const before = model.entries.filter((other) => Buffer.compare(Buffer.from(other.key), Buffer.from(key)) < 0).length
        expect([tree.rank(key), tree.get(key)]).toEqual([before, model.entries.find((other) => other.key === key)])
      }
      for (const { state, entries } of states) expect(all(new Tree(state))).toEqual(entries)
    })
  }
})
