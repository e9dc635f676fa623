import { describe, expect, it } from 'vitest'
import { deal, hashText } from './shuffle-shard.ts'

const hand = (text: string, deckSize: number, size: number, seed = { a: 1, b: 2 }) => {
  const cards = new Array<number>(size).fill(0)
  deal(hashText(seed, text), deckSize, cards)
  return cards
}

describe('shuffle sharding', () => {
  it('deals distinct cards, the same ones for the same flow', () => {
    for (let i = 0; i < 2000; i++) {
      const cards = hand(`flow-${i}`, 16, 8)
      expect(new Set(cards).size).toBe(8)
      expect(cards.every((card) => card >= 0 && card < 16)).toBe(true)
      expect(hand(`flow-${i}`, 16, 8)).toEqual(cards)
    }
  })

  it('deals every card to an equal share of flows', () => {
    const dealt = new Array<number>(64).fill(0)
    for (let i = 0; i < 64_000; i++) for (const card of hand(`user-${i}`, 64, 6)) dealt[card]!++
    expect(Math.min(...dealt)).toBeGreaterThan(5500)
    expect(Math.max(...dealt)).toBeLessThan(6500)
  })

  it('rarely deals the same hand to two flows, even with similar names', () => {
    const hands = new Set<string>()
    for (let i = 0; i < 10_000; i++) hands.add(hand(`system:serviceaccount:ns:a${i}`, 128, 6).join())
    expect(hands.size).toBeGreaterThan(9_990)
  })

  it('deals different hands for another seed', () => {
    const moved = Array.from(
      { length: 100 },
      (_, i) => hand(`${i}`, 128, 6).join() !== hand(`${i}`, 128, 6, { a: 3, b: 4 }).join(),
    )
    expect(moved.filter(Boolean).length).toBeGreaterThan(95)
  })

  it('supports a hand as large as the deck', () => {
    expect(hand('any', 6, 6)).toEqual([0, 1, 2, 3, 4, 5])
    expect(hand('any', 1, 1)).toEqual([0])
  })
})
