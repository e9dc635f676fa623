/** Shuffle sharding: each flow gets a small hand of many queues, so that two flows rarely share all of them. */

/** State of a text hash: two lanes of 32 bits. */
export interface FlowHash {
  readonly a: number
  readonly b: number
}

/** Extends a hash by text. The first `start` is a secret seed, so that clients cannot target queues. */
export function hashText(start: FlowHash, text: string): FlowHash {
  let { a, b } = start
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    a = Math.imul(a ^ code, 0x9e3779b1)
    b = Math.imul(b ^ code, 0x5f356495)
    a ^= b >>> 15
  }
  return { a: a ^ text.length, b }
}

/**
 * Deals distinct cards from a deck of `deckSize` into `hand`, whose length is the hand size.
 *
 *     deal({ a, b }, 64, hand)   // 6 numbers below 64, always the same for the same hash
 */
export function deal({ a, b }: FlowHash, deckSize: number, hand: number[]): void {
  for (let i = 0; i < hand.length; i++) {
    let card = mix(a + Math.imul(i, 0x9e3779b9), b) % (deckSize - i)
    // `card` is an index among the cards not yet dealt; `hand` is sorted up to `i`.
    let at = 0
    while (at < i && card >= (hand[at] as number)) {
      card++
      at++
    }
    for (let j = i; j > at; j--) hand[j] = hand[j - 1] as number
    hand[at] = card
  }
}

function mix(a: number, b: number): number {
  let h = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ b
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  h = Math.imul(h ^ (h >>> 16), 0x27d4eb2f) ^ a
  return (h ^ (h >>> 15)) >>> 0
}
