import type { Family } from '../harness/family.ts'
import { bodies } from './bodies.ts'
import { headerLists } from './header-lists.ts'

/** All families, in the order in which they are run and printed. */
export const families: readonly Family[] = [headerLists, bodies]
