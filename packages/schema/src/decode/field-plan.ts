import type { Work } from '@krmkit/base/work'
import type { Field, StructType, TypeNode } from '../interfaces.ts'
import type { DecodeContext, FieldStep } from './context.ts'

/** The operations of types and fields that `planOf` prepares. */

/** Operations of a type node. */
export interface NodePlan {
  readonly node: TypeNode
  /** Plan of the elements of a list or map. */
  readonly of?: NodePlan
  /** Plan of a struct. */
  readonly struct?: () => StructPlan
  /** Returns a canonical value, or `undefined` after a mismatch. Never receives null. */
  decode(value: unknown, context: DecodeContext): unknown
  /** The pausable form; absent for values that are never large. */
  readonly paced?: { decode(value: unknown, context: DecodeContext): Work<unknown> }
  /** Creates the value of an unset list element or map value. */
  zero(): unknown
  /** Whether `omitempty` drops the value. */
  isEmpty(value: unknown): boolean
  /** Lower bound of the bytes of JSON, excluding the bytes that decoding the value counts. */
  readonly frameBytes: number
}

export interface FieldPlan extends FieldStep {
  readonly field: Field
  readonly json: string
  readonly owner: StructType
  readonly index: number
  readonly node: NodePlan
  /** Whether `omitempty` drops zero values of this field: always false for pointers and structs. */
  readonly dropEmpty: boolean
  /** Whether Go distinguishes the empty value from an unset one. False for bytes, because protobuf stores empty ones. */
  readonly distinctEmpty: boolean
  /** Creates the printed value of the unset field; absent when nothing is printed. */
  readonly zero: (() => unknown) | undefined
  /** Bytes of JSON of the member, excluding the bytes that decoding its value counts. */
  readonly memberBytes: number
  /** Additional bytes of the unset field. Computed on first use: structs may be recursive. */
  readonly zeroBytes: () => number
  /** Whether the field is counted separately, because it is not stored as sent. @see {@link DecodedSize} */
  readonly countedSeparately: boolean
}

export interface StructPlan {
  readonly type: StructType
  readonly fields: readonly FieldPlan[]
  readonly byName: ReadonlyMap<string, FieldPlan>
  /** Number of fields that are printed when unset. */
  readonly zeroCount: number
  readonly open: boolean
}
