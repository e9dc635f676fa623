import type { KindPolicy } from '../interfaces.ts'

/** Policies of the built-in kinds, by `group/Kind` of the storage version; the core group is empty (`/Pod`). */
export const policies: Readonly<Record<string, KindPolicy>> = {}
