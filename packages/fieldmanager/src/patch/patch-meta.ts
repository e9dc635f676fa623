import type { Field, StructType, TypeNode } from '@krmkit/schema'
import { FieldManagerError } from '../field-manager-error.ts'

/** Strategic merge metadata of a field. */
export interface PatchMeta {
  readonly strategy: 'merge' | 'replace' | ''
  readonly retainKeys: boolean
  readonly mergeKey: string
  /** The type of the field's value, or of the items of a list. */
  readonly type: PatchType
}

/** The type of a value, as far as strategic merge patches need it. */
export type PatchType = { readonly kind: 'struct'; readonly struct: StructType } | { readonly kind: string }

/** @throws FieldManagerError `BadPatch` when the type has no such member. */
export function patchMetaOf(type: PatchType, name: string, what: 'object' | 'array'): PatchMeta {
  if (!('struct' in type)) {
    throw new FieldManagerError({
      code: 'BadPatch',
      message: `merging an ${what} in json but data type is not struct, instead is: ${type.kind}`,
    })
  }
  const field = type.struct.field.get(name)
  if (field === undefined) {
    const text = `unable to find api field in struct ${type.struct.typeName} for the json field ${JSON.stringify(name)}`
    throw new FieldManagerError({ code: 'BadPatch', message: text })
  }
  if (what === 'array' && !field.pointer && field.type.kind !== 'list' && !isBytes(field)) {
    throw new FieldManagerError({ code: 'BadPatch', message: 'expected slice or array type, but got: struct' })
  }
  return metaOf(field, what)
}

function isBytes({ type }: Field): boolean {
  return type.kind === 'scalar' && type.scalar === 'bytes'
}

export function patchTypeOf(struct: StructType): PatchType {
  return { kind: 'struct', struct }
}

function metaOf(field: Field, what: 'object' | 'array'): PatchMeta {
  const strategies = field.patchStrategy === undefined || field.patchStrategy === '' ? [] : field.patchStrategy.split(',')
  const strategy = strategies.find((name) => name !== 'retainKeys') ?? ''
  const node = what === 'array' && field.type.kind === 'list' ? field.type.of : field.type
  return {
    strategy: strategy === 'merge' || strategy === 'replace' ? strategy : '',
    retainKeys: strategies.includes('retainKeys'),
    mergeKey: field.patchMergeKey ?? '',
    type: typeOfNode(node),
  }
}

function typeOfNode(node: TypeNode): PatchType {
  if (node.kind === 'struct') return { kind: 'struct', struct: node.struct() }
  return { kind: node.kind === 'list' ? 'slice' : node.kind }
}
