import type { Family } from '../harness/family.ts'
import { addresses } from './addresses.ts'
import { bodies } from './bodies.ts'
import { earlyBodies } from './early-bodies.ts'
import { filesAndModes } from './files.ts'
import { floodFamily } from './floods.ts'
import { headerLists } from './header-lists.ts'
import { longTurns } from './long-turns.ts'
import { patches } from './patches.ts'
import { resets } from './resets.ts'
import { listRenderings, selectors } from './selectors.ts'
import { startUp } from './start-up.ts'
import { storedObjectsFamily } from './stored-objects.ts'
import { wideObjects } from './wide-objects.ts'

/** All families, in execution and print order. */
export const families: readonly Family[] = [
  headerLists,
  bodies,
  selectors,
  listRenderings,
  patches,
  wideObjects,
  storedObjectsFamily,
  floodFamily,
  addresses,
  earlyBodies,
  resets,
  longTurns,
  filesAndModes,
  startUp,
]
