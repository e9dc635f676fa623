import type { StructType, TypeNode } from '@krmkit/schema'
import type { FieldPath } from '../shared/field-path.ts'
import { isEmpty, isSet, own } from '../shared/values.ts'

/** Validates a value against its type: required members and enumerations. */
export function validateStructure(type: StructType, value: object, at: (name: string) => FieldPath): void {
  for (const { json, type: node, required, promotedFrom } of type.fields) {
    if (promotedFrom === 'meta/v1.TypeMeta' || (type.root && json === 'metadata')) continue
    const member = own(value as Record<string, unknown>, json)
    if (required && isMissing(node, member)) at(json).required()
    else if (isSet(member)) validateNode(node, member, at(json))
  }
}

function validateNode(node: TypeNode, value: unknown, at: FieldPath): void {
  switch (node.kind) {
    case 'scalar':
      if (node.enum !== undefined && node.enum.length > 0 && value !== '' && !node.enum.includes(value as string)) {
        at.notSupported(value, [...node.enum].sort())
      }
      return
    case 'struct':
      if (typeof value === 'object' && value !== null) validateStructure(node.struct(), value, (name) => at.child(name))
      return
    case 'list':
      for (const [i, item] of (Array.isArray(value) ? value : []).entries()) validateNode(node.of, item, at.index(i))
      return
    case 'map':
      for (const [key, member] of Object.entries(value as object).sort(([a], [b]) => (a < b ? -1 : 1))) {
        validateNode(node.of, member, at.key(key))
      }
  }
}

/** Unset numbers and booleans have a meaning, so they are never missing. */
function isMissing(node: TypeNode, value: unknown): boolean {
  if (!isSet(value)) return node.kind !== 'scalar' || node.scalar === 'string'
  return typeof value === 'string' || Array.isArray(value) ? isEmpty(value) : false
}
