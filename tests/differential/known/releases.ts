import { defaultRelease } from '@krmkit/meta'
import { release } from '../served.ts'
import type { KnownDivergence } from './index.ts'

/** Departures of an emulated release from a stock server of that release. */
const ofEmulation: readonly KnownDivergence[] = [
  {
    id: 'D164',
    title: 'Texts of errors are those of the newest release',
    reason: 'An emulated release has its own fields, defaults and rules; what they say when they refuse is written once.',
    matches: ({ aspect }) => aspect === 'wording',
  },
]

export const ofReleases: readonly KnownDivergence[] = release === defaultRelease ? [] : ofEmulation
