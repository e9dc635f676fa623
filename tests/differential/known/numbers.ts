import type { KnownDivergence } from './index.ts'

/** Departures in YAML and in numbers. */
export const ofNumbers: readonly KnownDivergence[] = [
  {
    id: 'D165',
    title: 'Maps with keys that are no texts are described in another order',
    reason:
      'The message for a map as a key, or for a key that JSON does not have, shows a value in Go syntax, whose maps have an order by the addresses of types. krmkit shows keys as texts, and what JSON makes of numbers.',
    matches: ({ at, aspect, stock, krmkit }) =>
      at === 'body.message' &&
      aspect === 'wording' &&
      [stock, krmkit].every((text) => / map key(:| of type: )/.test(String(text))),
  },
]
