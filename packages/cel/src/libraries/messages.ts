import { base64Text } from '@krmkit/base/bytes'
import { durationText, timestampText } from '../functions/conversions.ts'
import type { MessageDeclaration } from '../values/declarations.ts'
import {
  anyType,
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  nullableOf,
  stringType,
  structOf,
  type Type,
  timestampType,
  typeOf,
  uintType,
} from '../values/types.ts'
import {
  ArrayList,
  Double,
  Duration,
  ErrorValue,
  isInt,
  itemsOf,
  ListValue,
  literalMap,
  MapValue,
  MessageValue,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from '../values/values.ts'

/**
 * Messages that every expression can create, such as `google.protobuf.Timestamp{seconds: 5}`: most of them become CEL
 * values.
 */

const prefix = 'google.protobuf.'

function wrapper(
  name: string,
  type: Type,
  unset: Value,
  check: (value: Value) => Value | undefined,
): [string, MessageDeclaration] {
  return [
    name,
    {
      fields: new Map([['value', type]]),
      type: nullableOf(type),
      create: (fields) => {
        const value = check(fields.get('value') ?? unset)
        if (value !== undefined) return value
        const cause = type === uintType ? 'unsigned integer overflow' : 'integer overflow'
        return new ErrorValue(`field type conversion error for ${prefix}${name}.value value type: ${cause}`)
      },
    },
  ]
}

const any = (value: Value) => value

function integers(min: number, max: number): (value: Value) => Value | undefined {
  return (value) => {
    const plain = value instanceof Uint ? value.value : (value as number | bigint)
    return plain >= min && plain <= max ? value : undefined
  }
}

const secondsAndNanos = new Map([
  ['seconds', intType],
  ['nanos', intType],
])

/** Nanoseconds of a Timestamp or Duration. */
function nanosOf(fields: ReadonlyMap<string, Value>): bigint {
  const [seconds, nanos] = [fields.get('seconds') ?? 0, fields.get('nanos') ?? 0] as [number | bigint, number | bigint]
  return BigInt(seconds) * 1_000_000_000n + BigInt(nanos)
}

/** Limit of timestamps, in nanoseconds; later times cannot be printed. */
const farthest = 8_600_000_000_000n * 1_000_000_000n
const longest = 2n ** 63n - 1n

function timestamp(fields: ReadonlyMap<string, Value>): Value {
  const nanos = nanosOf(fields)
  return nanos > farthest || nanos < -farthest ? new ErrorValue('timestamp overflow') : new Timestamp(nanos)
}

function duration(fields: ReadonlyMap<string, Value>): Value {
  const nanos = nanosOf(fields)
  return new Duration(nanos > longest ? longest : nanos < -longest - 1n ? -longest - 1n : nanos)
}

const largestExact = 2 ** 53 - 1

/** Converts a value to the types of JSON: numbers become doubles, and integers without an exact double become strings. */
function jsonForm(value: Value): Value {
  if (value instanceof Uint) return jsonForm(value.value <= BigInt(largestExact) ? Number(value.value) : value.value)
  if (isInt(value)) return Math.abs(Number(value)) <= largestExact ? new Double(Number(value)) : String(value)
  if (value instanceof Uint8Array) return base64Text(value)
  if (value instanceof Timestamp) return timestampText(value)
  if (value instanceof Duration) return durationText(value)
  if (value instanceof ListValue) return listForm(value)
  if (value instanceof MapValue) return mapForm(value)
  return value
}

function listForm(list: ListValue): Value {
  const items: Value[] = []
  for (const item of itemsOf(list)) {
    const form = jsonForm(item)
    if (form instanceof ErrorValue) return form
    items.push(form)
  }
  return new ArrayList(items)
}

function mapForm(map: MapValue): Value {
  const entries: [Value, Value][] = []
  for (const key of map.keys()) {
    const form = jsonForm(map.get(key) ?? null)
    if (form instanceof ErrorValue) return form
    entries.push([typeof key === 'string' ? key : String(key), form])
  }
  return literalMap(entries)
}

const valueFields = new Map<string, Type>([
  ['null_value', intType],
  ['number_value', doubleType],
  ['string_value', stringType],
  ['bool_value', boolType],
  ['struct_value', mapOf(stringType, dynType)],
  ['list_value', listOf(dynType)],
])

/** Value of a `google.protobuf.Value`: that of the field that the literal sets last. */
function dynamicValue(fields: ReadonlyMap<string, Value>): Value {
  const [name, value] = [...fields].at(-1) ?? ['null_value', null]
  return name === 'null_value' ? null : jsonForm(value)
}

const anyFields = new Map<string, Type>([
  ['type_url', stringType],
  ['value', bytesType],
])
const notPacked = new ErrorValue('unsupported conversion to ref.Val: (*dynamicpb.Message)')

const emptyType = structOf(`${prefix}Empty`, new Map())

const declarations: ReadonlyMap<string, MessageDeclaration> = new Map<string, MessageDeclaration>([
  wrapper('BoolValue', boolType, false, any),
  wrapper('BytesValue', bytesType, new Uint8Array(), any),
  wrapper('DoubleValue', doubleType, new Double(0), any),
  wrapper('FloatValue', doubleType, new Double(0), (value) => new Double(Math.fround((value as Double).value))),
  wrapper('Int32Value', intType, 0, integers(-(2 ** 31), 2 ** 31 - 1)),
  wrapper('Int64Value', intType, 0, any),
  wrapper('StringValue', stringType, '', any),
  wrapper('UInt32Value', uintType, new Uint(0n), integers(0, 2 ** 32 - 1)),
  wrapper('UInt64Value', uintType, new Uint(0n), any),
  ['Timestamp', { fields: secondsAndNanos, type: timestampType, create: timestamp }],
  ['Duration', { fields: secondsAndNanos, type: durationType, create: duration }],
  ['Value', { fields: valueFields, type: dynType, create: dynamicValue }],
  [
    'Struct',
    {
      fields: new Map([['fields', mapOf(stringType, dynType)]]),
      type: mapOf(stringType, dynType),
      create: (fields) => mapForm((fields.get('fields') as MapValue | undefined) ?? literalMap([])),
    },
  ],
  [
    'ListValue',
    {
      fields: new Map([['values', listOf(dynType)]]),
      type: listOf(dynType),
      create: (fields) => listForm((fields.get('values') as ListValue | undefined) ?? new ArrayList([])),
    },
  ],
  ['Any', { fields: anyFields, type: anyType, create: () => notPacked }],
  ['Empty', { fields: new Map(), type: emptyType, create: () => new MessageValue(emptyType.name, new Map()) }],
])

/** Returns the message of a name; `undefined` for unknown names. */
export function wellKnownMessage(name: string): MessageDeclaration | undefined {
  return name.startsWith(prefix) ? declarations.get(name.slice(prefix.length)) : undefined
}

/**
 * Resolves the full name of a message or an enum value. As in kube-apiserver, most message names pass the type check as type
 * names but have no value.
 */
export function wellKnownName(name: string): { readonly type: Type; readonly constant: Value } | undefined {
  if (name === `${prefix}NullValue.NULL_VALUE`) return { type: intType, constant: 0 }
  const message = wellKnownMessage(name)
  if (message === undefined) return undefined
  const constant = message.type === emptyType ? new TypeValue(name) : new ErrorValue(`reference to undefined type: ${name}`)
  return { type: typeOf(message.type), constant }
}

/** Returns the message whose literals become objects of this type. */
export function objectMessage(type: ReturnType<typeof structOf>): MessageDeclaration {
  return { fields: type.fields, type, create: (fields) => new MessageValue(type.name, fields) }
}
