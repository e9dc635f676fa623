import { isEmptyObject } from '@krmkit/base/work'
import { setMember } from '@krmkit/meta'
import type { Field, ListNode, MapNode, SpecialNode, StructType, TypeNode } from '../interfaces.ts'
import { copyJson } from '../json/copy.direct.ts'
import { jsonWeight } from '../json/json-weight.direct.ts'
import { decodeList, decodeMap, decodeSchema } from './containers.direct.ts'
import type { ContainerPlan, SchemaForm } from './containers.ts'
import * as pacedContainers from './containers.ts'
import type { FieldPlan, NodePlan, StructPlan } from './field-plan.ts'
import { goTypeName } from './go-type.ts'
import { scalarDecoder } from './scalars.ts'
import { specialDecoding, specialZero } from './special.ts'
import { decodeStruct } from './struct.direct.ts'
import * as pacedStruct from './struct.ts'

/** Decode plans: the operations of every field, computed once per type. */

/** A cache: entries depend on the type only. */
const plans = new WeakMap<StructType, StructPlan>()

export function planOf(type: StructType): StructPlan {
  const known = plans.get(type)
  if (known !== undefined) return known
  const fields = type.fields.map((field, index) => fieldPlan(field, index, type))
  const plan: StructPlan = {
    type,
    fields,
    byName: new Map(fields.map((field) => [field.json, field])),
    zeroCount: fields.filter((field) => field.zero !== undefined).length,
    open: type.preserveUnknown ?? false,
  }
  plans.set(type, plan)
  return plan
}

/** The object that Go prints for an unset struct. */
export function zeroObject(type: StructType): Record<string, unknown> {
  const object: Record<string, unknown> = {}
  for (const field of planOf(type).fields) if (field.zero !== undefined) setMember(object, field.json, field.zero())
  return object
}

function fieldPlan(field: Field, index: number, owner: StructType): FieldPlan {
  const node = nodePlan(field.type)
  const { kind } = field.type
  const always = kind === 'struct' || (kind === 'special' && field.type.special !== 'Unknown' && !omitsZeroTime(field))
  const zero = zeroForm(field)
  const countedSeparately = isCountedSeparately(field, owner)
  return {
    field,
    json: field.json,
    owner,
    index,
    node,
    dropEmpty: field.omitEmpty && !field.pointer && !always,
    distinctEmpty: kind === 'list' || kind === 'map',
    zero,
    memberBytes: countedSeparately ? 0 : field.json.length + 4 + node.frameBytes,
    zeroBytes: memoize(() => (zero === undefined ? 0 : Math.max(0, jsonWeight(zero()) - node.frameBytes))),
    countedSeparately,
  }
}

/** Whether nothing is printed for the zero time, whether it is unset or sent (`omitzero`). */
function omitsZeroTime({ type, zero }: Field): boolean {
  return zero === undefined && type.kind === 'special' && type.special === 'Time'
}

/** Whether a field is counted separately: most writes discard the `status` and `managedFields` that a client sent. */
function isCountedSeparately({ json }: Field, owner: StructType): boolean {
  return (json === 'status' && owner.root) || (json === 'managedFields' && owner.typeName === 'ObjectMeta')
}

function memoize<T extends object | number>(work: () => T): () => T {
  let known: T | undefined
  return () => (known ??= work())
}

function zeroForm(field: Field): (() => unknown) | undefined {
  const { zero, type } = field
  if (zero === undefined) return undefined
  // An unset pointer prints null, an unset struct its zero object.
  if (type.kind === 'struct' && zero !== null) return () => zeroObject(type.struct())
  return typeof zero === 'object' && zero !== null ? () => copyJson(zero) : () => zero
}

export function nodePlan(node: TypeNode): NodePlan {
  switch (node.kind) {
    case 'scalar':
      return scalarPlan(node)
    case 'struct': {
      // Computed on first use, since structs may be recursive, then cached, because every write needs it several times.
      const struct = memoize(() => planOf(node.struct()))
      return {
        node,
        struct,
        decode: (value, context) => decodeStruct(struct(), value, context),
        paced: { decode: (value, context) => pacedStruct.decodeStruct(struct(), value, context) },
        zero: () => zeroObject(node.struct()),
        isEmpty: () => false,
        frameBytes: 1,
      }
    }
    case 'special':
      return specialPlan(node)
    case 'list':
      return listPlan(node)
    case 'map':
      return mapPlan(node)
  }
}

function scalarPlan(node: TypeNode & { kind: 'scalar' }): NodePlan {
  const { scalar } = node
  const text = scalar === 'string' || scalar === 'bytes'
  const zero = scalar === 'string' ? '' : scalar === 'bool' ? false : scalar === 'bytes' || scalar === 'any' ? null : 0
  return {
    node,
    frameBytes: text ? 2 : scalar === 'bool' ? 4 : 1,
    decode: scalarDecoder(scalar, () => goTypeName(node)),
    zero: () => zero,
    isEmpty: text ? (value) => value === '' : scalar === 'any' ? () => false : (value) => value === zero || value === 0n,
  }
}

function specialPlan(node: SpecialNode): NodePlan {
  const { special, struct } = node
  const plan = { node, zero: () => specialZero(special), isEmpty: (value: unknown) => value === null, frameBytes: 1 }
  if (struct === undefined) return { ...plan, ...specialDecoding(special) }
  const schema: SchemaForm = { special, plan: memoize(() => planOf(struct())), zero: () => zeroObject(struct()) }
  return {
    ...plan,
    decode: (value, context) => decodeSchema(schema, value, context),
    paced: { decode: (value, context) => pacedContainers.decodeSchema(schema, value, context) },
  }
}

function listPlan(node: ListNode): NodePlan {
  const of = nodePlan(node.of)
  const plan: ContainerPlan = {
    node,
    of,
    frameBytes: 1,
    zero: () => null,
    isEmpty: (value) => Array.isArray(value) && value.length === 0,
    decode: (value, context) => decodeList(plan, value, context),
    paced: { decode: (value, context) => pacedContainers.decodeList(plan, value, context) },
  }
  return plan
}

function mapPlan(node: MapNode): NodePlan {
  const of = nodePlan(node.of)
  const plan: ContainerPlan = {
    node,
    of,
    frameBytes: 1,
    zero: () => null,
    isEmpty: (value) => isEmptyObject(value as object),
    decode: (value, context) => decodeMap(plan, value, context),
    paced: { decode: (value, context) => pacedContainers.decodeMap(plan, value, context) },
  }
  return plan
}
