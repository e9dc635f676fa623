import type { TypeRef as Ref } from './types.ts'
import { atomOf, TypeRef } from './types.ts'

/** Names that schemas use for the built-in types. */
export const untypedName = '__untyped_atomic_'
export const deducedName = '__untyped_deduced_'

/** Anything, owned as a whole. */
export const untypedType: Ref = new TypeRef(untypedName, () =>
  atomOf({
    scalar: 'untyped',
    list: { items: untypedType, atomic: true, keys: [] },
    map: { fields: new Map(), items: untypedType, atomic: true },
  }),
)

/** Anything: maps are granular, lists atomic; for objects without a schema. */
export const deducedType: Ref = new TypeRef(deducedName, () =>
  atomOf({
    scalar: 'untyped',
    list: { items: untypedType, atomic: true, keys: [] },
    map: { fields: new Map(), items: deducedType, atomic: false },
  }),
)
