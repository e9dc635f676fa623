import type { Difference, Divergence } from '../compare.ts'
import { bodyDepartures } from './bodies.ts'
import { deletionDepartures } from './deletions.ts'
import { documentDepartures } from './documents.ts'
import { ofExtensions } from './extensions.ts'
import { ofHttp } from './http.ts'
import { ofNumbers } from './numbers.ts'
import { ownDepartures } from './own.ts'
import { ofPatches } from './patches.ts'
import { ofQuantities } from './quantities.ts'
import { ofReleases } from './releases.ts'
import { bySpecification } from './specification.ts'
import { ofStorage } from './storage.ts'

/** A divergence that stays, with its reason; the report lists it. */
export interface KnownDivergence {
  /** `D` and a number; never reused. */
  readonly id: string
  readonly title: string
  /** Why krmkit answers otherwise: the rule of the specification, or the advantage of the departure. */
  readonly reason: string
  /** The servers are in different states afterwards, so the scenario ends. */
  readonly ends?: true
  /** Whether a difference is this divergence. */
  matches(difference: Difference, divergence: Divergence): boolean
}

export const knownDivergences: readonly KnownDivergence[] = [
  ...bySpecification,
  ...ofStorage,
  ...ofQuantities,
  ...ofNumbers,
  ...ofPatches,
  ...bodyDepartures,
  ...ownDepartures,
  ...documentDepartures,
  ...deletionDepartures,
  ...ofExtensions,
  ...ofHttp,
  ...ofReleases,
]

/** The known divergence that explains a difference. */
export function explain(difference: Difference, divergence: Divergence): KnownDivergence | undefined {
  return knownDivergences.find((known) => known.matches(difference, divergence))
}
