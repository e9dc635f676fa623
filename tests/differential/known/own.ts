import type { KnownDivergence } from './index.ts'

/** Departures on purpose, where the specification is silent. */
export const ownDepartures: readonly KnownDivergence[] = []
