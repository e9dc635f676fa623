// Derived from settled.ts by `npm run direct`: do not edit.
import type { JsonObject } from '@krmkit/meta'
import type { StructType } from '../interfaces.ts'
import type { SchemaNode } from '../schema-node.ts'
import { isSettledMetadata, membersPerStep, SettledCheck } from './settled.ts'

/** Whether coercion of metadata, pruning, removal of nulls, defaulting and sorting leave an object unchanged. `false` when undecided. */
export function isSettled(object: JsonObject, schema: SchemaNode, objectMeta: StructType): boolean {
  if (!isSettledMetadata(object.metadata, objectMeta)) return false

  const check = new SettledCheck(object, schema)
  for (;;) {
    const settled = check.run(membersPerStep)
    if (settled !== undefined) return settled
  }
}
