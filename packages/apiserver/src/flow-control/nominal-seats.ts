import type { FrozenObject } from '@krmkit/registry'

interface Spec {
  readonly type?: string
  readonly exempt?: { readonly nominalConcurrencyShares?: number }
  readonly limited?: { readonly nominalConcurrencyShares?: number }
}

const usualShares = 30

/** How many of `total` requests at a time fall to each priority level: by its shares, rounded up. */
export function nominalSeats(levels: readonly FrozenObject[], total: number): ReadonlyMap<string, number> {
  const shares = levels.map((level) => [level.metadata.name ?? '', sharesOf(level)] as const)
  const sum = shares.reduce((all, [, own]) => all + own, 0)
  return new Map(shares.map(([name, own]) => [name, sum === 0 ? 0 : Math.ceil((total * own) / sum)]))
}

function sharesOf(level: FrozenObject): number {
  const { type, exempt, limited } = (level as { readonly spec?: Spec }).spec ?? {}
  if (type === 'Exempt') return exempt?.nominalConcurrencyShares ?? 0
  return limited?.nominalConcurrencyShares ?? usualShares
}
