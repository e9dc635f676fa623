import type { SubresourceStrategy } from '@krmkit/kinds'

/** The strategy of operations that decide by themselves what they change: the rules of ordinary updates do not apply. */
export const anyChange: SubresourceStrategy = { prepareForUpdate: () => {}, validateUpdate: () => [] }
