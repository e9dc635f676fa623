import { atomOf, type TypeRef as Ref, TypeRef } from './types.ts'

/** Names of the built-in types in schemas. */
export const untypedName = '__untyped_atomic_'
export const deducedName = '__untyped_deduced_'

/** Any value, atomic. */
export const untypedType: Ref = new TypeRef(untypedName, () =>
  atomOf({
    scalar: 'untyped',
    list: { items: untypedType, atomic: true, keys: [] },
    map: { fields: new Map(), items: untypedType, atomic: true },
  }),
)

/** Any value of an object without schema: maps are granular, lists atomic. */
export const deducedType: Ref = new TypeRef(deducedName, () =>
  atomOf({
    scalar: 'untyped',
    list: { items: untypedType, atomic: true, keys: [] },
    map: { fields: new Map(), items: deducedType, atomic: false },
  }),
)
