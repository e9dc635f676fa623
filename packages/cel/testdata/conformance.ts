import { Environment } from '../src/environment.ts'
import { equal } from '../src/values/equality.ts'
import { Meter } from '../src/values/meter.ts'
import { Patterns } from '../src/values/patterns.ts'
import type { Program } from '../src/plan/program.ts'
import { PlanError } from '../src/plan/step.ts'
import * as t from '../src/values/types.ts'
import { ArrayList, Double, Duration, ErrorValue, literalMap, normalizeInt, Timestamp, TypeValue, Uint, type Value } from '../src/values/values.ts'

/** A case of the public conformance suite in JSON form. */
export interface Case {
  readonly name?: string
  readonly expr: string
  readonly container?: string
  readonly disableMacros?: boolean
  readonly disableCheck?: boolean
  readonly checkOnly?: boolean
  readonly typeEnv?: readonly { readonly name: string; readonly ident?: { readonly type: Json }; readonly function?: Json }[]
  readonly bindings?: Readonly<Record<string, { readonly value?: Json }>>
  readonly value?: Json
  readonly typedResult?: { readonly result?: Json; readonly deducedType?: Json }
  readonly evalError?: Json
  readonly anyEvalErrors?: Json
  readonly unknown?: Json
  readonly anyUnknowns?: Json
}

type Json = Readonly<Record<string, unknown>>

class Unsupported extends Error {}

const everything = Environment.ofRelease('1.999')

/** Features of the public suite that the dialect of the server lacks. */
const otherDialect: readonly (readonly [RegExp, string])[] = [
  [
    /TestAllTypes|google\.protobuf\.(?!Timestamp\b|Duration\b)|cel\.expr|NestedEnum|GlobalEnum|proto\.|\.expr\./,
    'messages',
  ],
  [/\bmath\.|base64\.|cel\.block|cel\.index|cel\.iterVar|cel\.bind|\.reverse\(|`/, 'unsupported libraries'],
]

const older = 'the release uses an older format'

/** Cases with intentionally different results, with the reason. */
const differentResults: Readonly<Record<string, string>> = {
  map_value_mix_type: 'literals are homogeneous',
  map_value_repeat_key: 'the last of several equal keys stays',
  optional_chaining_13: 'literals are homogeneous',
  map_bad_key_type_or_true: 'constants that can be no key are an error of the plan',
  map_bad_key_type_and_false: 'constants that can be no key are an error of the plan',
  map_null_entry_no_such_key: 'the server does not enable errors of presence tests',
  map_present_key_invalid_field: 'the server does not enable errors of presence tests',
  indexof_out_of_range: 'the release returns -1',
  lastindexof_out_of_range: 'the release returns -1',
  empty_string: 'the release has no last index in an empty text',
  'scientific notation formatting clause': older,
  'scientific notation formatting clause in a string variable': older,
  'default precision for scientific notation': older,
  'positive infinity support for scientific notation': older,
  'negative infinity support for scientific notation': older,
  'NaN support for decimal': older,
  'positive infinity support for decimal': older,
  'negative infinity support for decimal': older,
  'positive infinity support for fixed-point': older,
  'negative infinity support for fixed-point': older,
  'list support for string': older,
  'map support for string': older,
  'map support (all key types)': older,
  'dyntype support for scientific notation': older,
  'dyntype NaN/infinity support': older,
  'dyntype support for lists': older,
  'dyntype support for maps': older,
}

type Evaluate = (program: Program, variables: Record<string, Value>) => { readonly value: Value }

/**
 * `undefined` when the case passes; starts with `skip` when the dialect lacks the feature; otherwise the failure.
 *
 * @param evaluate Default: `Program.evaluate`.
 */
export function runCase(given: Case, evaluate: Evaluate = (program, variables) => program.evaluate(variables)): string | undefined {
  try {
    return run(given, evaluate)
  } catch (error) {
    if (error instanceof Unsupported) return `skip: ${error.message}`
    throw error
  }
}

function run(given: Case, evaluate: Evaluate): string | undefined {
  const failureWanted = given.evalError !== undefined || given.anyEvalErrors !== undefined
  const compiled = everything.with(typesOf(given)).compile(given.expr)
  if ('problem' in compiled) {
    const mixed = /^ERROR: <input>:\d+:\d+: expected type '.+' but found '.+'/m.test(compiled.problem)
    if (mixed && /[[{]/.test(given.expr)) skip('literals are homogeneous')
    if (given.disableCheck === true) skip('unchecked')
    return failureWanted ? undefined : compiled.problem
  }
  if (given.checkOnly === true) return undefined
  const program = compiled.program()
  if (program instanceof PlanError) return failureWanted ? undefined : program.message
  const bindings = Object.entries(given.bindings ?? {})
  const { value } = evaluate(program, Object.fromEntries(bindings.map(([name, { value }]) => [name, readValue(value ?? {})])))
  if (failureWanted) return value instanceof ErrorValue ? undefined : `no error: ${show(value)}`
  const wanted = readValue(given.value ?? given.typedResult?.result ?? { boolValue: true })
  return same(value, wanted) ? undefined : `got ${show(value)}, want ${show(wanted)}`
}

function typesOf(given: Case): Map<string, t.Type> {
  for (const [about, reason] of otherDialect) if (about.test(given.expr)) skip(reason)
  const other = differentResults[given.name ?? '']
  if (other !== undefined) skip(other)
  if (given.container !== undefined && given.container !== '') skip('containers')
  if (given.disableMacros === true) skip('no macros')
  if (given.unknown !== undefined || given.anyUnknowns !== undefined) skip('unknown values')
  const types = new Map<string, t.Type>()
  for (const { name, ident, function: fn } of given.typeEnv ?? []) {
    if (fn !== undefined || ident === undefined) return skip('functions of the case')
    types.set(name, readType(ident.type))
  }
  for (const name of Object.keys(given.bindings ?? {})) if (!types.has(name)) types.set(name, t.dynType)
  return types
}

function same(value: Value, wanted: Value): boolean {
  if (value instanceof ErrorValue) return false
  if (isNan(value) && isNan(wanted)) return true
  return equal(value, wanted, new Meter({ limit: 1e9, patterns: new Patterns() })) && kind(value) === kind(wanted)
}

function skip(message: string): never {
  throw new Unsupported(message)
}

function isNan(value: Value): boolean {
  return value instanceof Double && Number.isNaN(value.value)
}

function kind(value: Value): string {
  return value instanceof Double ? 'double' : value instanceof Uint ? 'uint' : typeof value === 'bigint' ? 'number' : typeof value
}

function show(value: Value): string {
  if (value instanceof ErrorValue) return `error ${value.message}`
  return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}n` : each)) ?? 'undefined'
}

function readType(json: Json): t.Type {
  const primitives: Readonly<Record<string, t.Type>> = {
    BOOL: t.boolType,
    INT64: t.intType,
    UINT64: t.uintType,
    DOUBLE: t.doubleType,
    STRING: t.stringType,
    BYTES: t.bytesType,
  }
  if ('primitive' in json) return primitives[json.primitive as string] ?? t.dynType
  if ('wrapper' in json) throw new Unsupported('messages')
  if ('messageType' in json) throw new Unsupported('messages')
  if ('null' in json) return t.nullType
  if ('wellKnown' in json)
    return json.wellKnown === 'TIMESTAMP' ? t.timestampType : json.wellKnown === 'DURATION' ? t.durationType : t.dynType
  if ('listType' in json) return t.listOf(readType(((json.listType as Json).elemType ?? { dyn: {} }) as Json))
  if ('mapType' in json) {
    const { keyType, valueType } = json.mapType as { keyType?: Json; valueType?: Json }
    return t.mapOf(readType(keyType ?? { dyn: {} }), readType(valueType ?? { dyn: {} }))
  }
  if ('abstractType' in json) {
    const { name, parameterTypes = [] } = json.abstractType as { name: string; parameterTypes?: readonly Json[] }
    return t.opaqueOf(name, parameterTypes.map(readType))
  }
  if ('type' in json) return t.anyTypeType
  return t.dynType
}

function readValue(json: Json): Value {
  const [name, raw] = Object.entries(json)[0] ?? ['nullValue', null]
  switch (name) {
    case 'nullValue':
      return null
    case 'boolValue':
    case 'stringValue':
      return raw as Value
    case 'int64Value':
      return normalizeInt(BigInt(raw as string))
    case 'uint64Value':
      return new Uint(BigInt(raw as string))
    case 'doubleValue':
      return new Double(Number(raw))
    case 'bytesValue':
      return Uint8Array.from(Buffer.from(raw as string, 'base64'))
    case 'typeValue':
      return new TypeValue(raw as string)
    case 'listValue':
      return new ArrayList(((raw as { values?: Json[] }).values ?? []).map(readValue))
    case 'mapValue':
      return literalMap(
        ((raw as { entries?: { key: Json; value: Json }[] }).entries ?? []).map(
          ({ key, value }) => [readValue(key), readValue(value)] as const,
        ),
      )
    case 'objectValue':
      return readMessage(raw as Json)
    default:
      throw new Unsupported(name)
  }
}

function readMessage(json: Json): Value {
  const type = String(json['@type']).split('/')[1]
  if (type === 'google.protobuf.Timestamp') {
    const found = /^(.*?)(?:\.(\d+))?Z$/.exec(json.value as string)
    return new Timestamp(BigInt(Date.parse(`${found?.[1]}Z`)) * 1_000_000n + BigInt((found?.[2] ?? '').padEnd(9, '0')))
  }
  if (type === 'google.protobuf.Duration') {
    const found = /^(-?)(\d+)(?:\.(\d+))?s$/.exec(json.value as string)
    const nanos = BigInt(found?.[2] ?? 0) * 1_000_000_000n + BigInt((found?.[3] ?? '').padEnd(9, '0'))
    return new Duration(found?.[1] === '-' ? -nanos : nanos)
  }
  throw new Unsupported('messages')
}
