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

/** Hostile connections, headers and bodies. */
export const requestFamilies: readonly Family[] = [headerLists, bodies, earlyBodies, resets, addresses]

/** Large objects that are written and stored. */
export const objectFamilies: readonly Family[] = [patches, wideObjects, storedObjectsFamily]

/** Work that delays others, and what the server reads when it starts. */
export const loadFamilies: readonly Family[] = [selectors, listRenderings, floodFamily, longTurns, filesAndModes, startUp]

/** All families, in execution and print order. */
export const families: readonly Family[] = [...requestFamilies, ...objectFamilies, ...loadFamilies]
