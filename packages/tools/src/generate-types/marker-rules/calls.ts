/**
 * Rules as calls, in the notation that packages/kinds/src/marker-rules/notation.ts reads: which checks a field gets, in the order in which
 * kube-apiserver runs them.
 */
import type { FieldFile, VersionFile } from '../../release-facts/facts.ts'
import { type Level, type Marker, markersOf } from './markers.ts'

export interface Call {
  readonly text: string
  readonly level: Level
  /** When it fails, only the other calls of this kind run. */
  readonly isShort: boolean
  /** It reports nothing: it only ends the rules of a value that is not set. */
  readonly isSilent?: boolean
  /** Calls of one item or member end alone. */
  readonly group?: string
}

/** How a list finds an item in the old list: not at all, by the whole item, or by members. */
export type ListKeys = readonly string[] | 'set' | undefined

/** What a struct collects from the markers of its fields. */
export interface StructRules {
  readonly unions: Map<string, string[]>
  readonly zeroOrOneOf: Map<string, string[]>
  readonly modes: Map<string, { discriminator?: string; readonly members: Map<string, ModeMember> }>
}

interface ModeMember {
  readonly text: string
  readonly goName: string
  readonly rules: { readonly mode: string; readonly call: Call }[]
}

export const noStructRules = (): StructRules => ({ unions: new Map(), zeroOrOneOf: new Map(), modes: new Map() })

export interface FieldRules {
  readonly calls: readonly Call[]
  readonly keys: ListKeys
  readonly isOpaque: boolean
  readonly hasOpaqueValues: boolean
}

interface Scope {
  readonly field: FieldFile
  readonly fieldsOfType: readonly FieldFile[]
  readonly struct: StructRules
}

/** Results of markers: calls, calls that come after those of all markers, and calls of the struct. */
interface Results {
  readonly now: Call[]
  readonly later: (() => readonly Call[])[]
  readonly ofStruct: (() => readonly Call[])[]
}

const short = (text: string): Call => ({ text, level: '', isShort: true })
const plain = (text: string): Call => ({ text, level: '', isShort: false })

/** @param ofStruct gets the calls of the struct, which are complete when all its fields are read */
export function fieldRules(scope: Scope, ofStruct: (() => readonly Call[])[]): FieldRules {
  const markers = markersOf(scope.field.validation)
  const results: Results = { now: [], later: [], ofStruct }
  const list = listOf(markers)
  const update = markers.filter(({ name }) => name === 'update')
  const isFirst = (marker: Marker) => marker === update[0]
  for (const marker of markers) {
    if (marker.name === 'update' && !isFirst(marker)) continue
    addMarker(marker, { ...scope, list, update: update.map(({ value }) => value) }, results)
  }
  const calls = inOrder([...results.now, ...results.later.flatMap((each) => each())])
  return {
    calls,
    keys: list.keys,
    isOpaque: markers.some(({ name }) => name === 'opaqueType'),
    hasOpaqueValues: markers.some(({ name, inner }) => name === 'eachVal' && inner?.name === 'opaqueType'),
  }
}

/** Short calls first in each group; calls without a group before the others. */
export function inOrder(calls: readonly Call[]): Call[] {
  const groups = [undefined, ...new Set(calls.flatMap(({ group }) => (group === undefined ? [] : [group])))]
  return groups.flatMap((group) => {
    const own = calls.filter((call) => call.group === group)
    return [...own.filter(({ isShort }) => isShort), ...own.filter(({ isShort }) => !isShort)]
  })
}

interface List {
  readonly keys: ListKeys
  /** The marker that makes the items unique. */
  readonly uniqueBy: Marker | undefined
}

function listOf(markers: readonly Marker[]): List {
  const types = markers.filter(({ name }) => name === 'listType' || name === 'unique')
  const kinds = types.map(({ value }) => value)
  const names = markers.filter(({ name }) => name === 'listMapKey').map(({ value }) => value)
  const keys = kinds.includes('map') ? names : kinds.includes('set') ? ('set' as const) : undefined
  const isCustom = markers.some(({ name }) => name === 'customUnique')
  return { keys, uniqueBy: isCustom || keys === undefined ? undefined : types[0] }
}

interface MarkerScope extends Scope {
  readonly list: List
  readonly update: readonly string[]
}

function addMarker(marker: Marker, scope: MarkerScope, results: Results): void {
  const { level } = marker
  const atLevel = (calls: readonly Call[]) => calls.map((call) => (call.level === '' ? { ...call, level } : call))
  const own: Results = { now: [], later: [], ofStruct: [] }
  const add = handlers[marker.name]
  if (add === undefined) throw new Error(`${scope.field.json}: the marker ${marker.name} is not known`)
  add(marker, scope, own)
  results.now.push(...atLevel(own.now))
  for (const later of own.later) results.later.push(() => atLevel(later()))
  for (const ofStruct of own.ofStruct) results.ofStruct.push(() => atLevel(ofStruct()))
}

type Handler = (marker: Marker, scope: MarkerScope, results: Results) => void

const nothing: Handler = () => undefined
const withValue =
  (make: (text: string) => Call): Handler =>
  ({ name, value }, _, { now }) =>
    void now.push(make(`${name}(${value})`))

/** What each marker adds. */
const handlers: Readonly<Record<string, Handler>> = {
  required: (_, { field }, { now }) => void now.push(requiredCall(field)),
  optional: (_, { field }, { now }) => void now.push(...optionalCalls(field)),
  forbidden: (_, __, { now }) => void now.push(short('forbidden')),
  immutable: (_, __, { now }) => void now.push(short('immutable')),
  maxItems: withValue(short),
  maxProperties: withValue(short),
  minItems: withValue(plain),
  minProperties: withValue(plain),
  minimum: withValue(plain),
  maximum: withValue(plain),
  minLength: withValue(plain),
  maxLength: withValue(plain),
  maxBytes: withValue(plain),
  format: withValue(plain),
  neq: withValue(plain),
  monotonic: (_, __, { now }) => void now.push(plain('monotonic')),
  customValidation: (_, __, { now }) => void now.push(plain('custom')),
  update: (_, { update, field, list }, { later }) => void later.push(() => [updateCall(update, field, list)]),
  listType: (marker, { list }, { later }) => addUnique(marker, list, later),
  unique: (marker, { list }, { later }) => addUnique(marker, list, later),
  listMapKey: nothing,
  customUnique: nothing,
  opaqueType: nothing,
  eachVal: (marker, scope, { later }) => void later.push(() => innerCalls(marker, scope, 'each')),
  eachKey: (marker, scope, { now }) => void now.push(...innerCalls(marker, scope, 'key')),
  item: addItem,
  subfield: addSubfield,
  ifEnabled: (marker, scope, results) => addConditional('on', marker, scope, results),
  ifDisabled: (marker, scope, results) => addConditional('off', marker, scope, results),
  unionMember: (marker, { field, struct }, { ofStruct }) => {
    addMember(struct.unions, unionName(marker), memberText(field))
    ofStruct.push(() => takeUnions(struct.unions, 'union'))
  },
  zeroOrOneOfMember: (marker, { field, struct }, { ofStruct }) => {
    addMember(struct.zeroOrOneOf, unionName(marker), memberText(field))
    ofStruct.push(() => takeUnions(struct.zeroOrOneOf, 'zeroOrOneOf'))
  },
  dependentRequired: (marker, scope, { ofStruct }) => void ofStruct.push(() => [dependentCall(marker, scope)]),
  dependentForbidden: (marker, scope, { ofStruct }) => void ofStruct.push(() => [dependentCall(marker, scope)]),
  modeDiscriminator: (marker, { field, struct }) => {
    modeOf(struct, marker).discriminator = field.json
  },
  ifMode: addMode,
}

const isStructValue = ({ type, pointer }: FieldFile) => !pointer && type.ref !== undefined

function requiredCall(field: FieldFile): Call {
  if (isStructValue(field)) throw new Error(`${field.json}: a struct cannot be required`)
  return short('required')
}

/** An optional field with a default is a required one, but for a zero default, which says nothing. */
function optionalCalls(field: FieldFile): Call[] {
  const { pointer, type } = field
  if (field.default === undefined) return [{ ...short('optional'), isSilent: true }]
  const isNilable = pointer === true || type.list !== undefined || type.map !== undefined
  const isZero = field.default === '' || field.default === 0 || field.default === false
  return !isNilable && isZero ? [] : [requiredCall(field)]
}

const constraintOrder = ['NoSet', 'NoUnset', 'NoModify', 'NoAddItem', 'NoRemoveItem']

function updateCall(values: readonly string[], field: FieldFile, { keys }: List): Call {
  if (values.some((value) => !constraintOrder.includes(value))) throw new Error(`${field.json}: ${values} is not known`)
  if (isStructValue(field)) throw new Error(`${field.json}: constraints of structs are not known`)
  if (field.type.list !== undefined && keys === undefined && values.some((value) => value.endsWith('Item'))) {
    throw new Error(`${field.json}: the items of the list have no identity`)
  }
  return short(`update(${constraintOrder.filter((each) => values.includes(each)).join(',')})`)
}

/** The first marker of the list adds the call, with its level. */
function addUnique(marker: Marker, { uniqueBy }: List, later: Results['later']): void {
  if (marker === uniqueBy) later.push(() => [plain('unique')])
}

/** Calls of the values or keys of a list or map. */
function innerCalls({ inner }: Marker, scope: MarkerScope, wrapper: 'each' | 'key'): Call[] {
  return simpleCalls(inner!, scope).map((call) => ({ ...call, text: `${wrapper}(${call.text})` }))
}

/** Calls of a marker that add nothing to the struct. Values are not pointers and have no defaults. */
function simpleCalls(marker: Marker, scope: MarkerScope): Call[] {
  const { default: _, pointer: __, ...field } = scope.field
  const type = field.type.list ?? field.type.map ?? field.type
  const results: Results = { now: [], later: [], ofStruct: [] }
  const update = marker.name === 'update' ? [marker.value] : []
  addMarker(marker, { ...scope, field: { ...field, type }, update, list: listOf([marker]) }, results)
  if (results.ofStruct.length > 0) throw new Error(`${field.json}: ${marker.name} cannot be inside of another marker`)
  return [...results.now, ...results.later.flatMap((each) => each())]
}

function addItem({ args, inner }: Marker, scope: MarkerScope, { later }: Results): void {
  const selector = args.map(({ name, value }) => `${name}=${value}`).join('+')
  if (inner!.name === 'zeroOrOneOfMember') {
    const { struct, field } = scope
    const key = `${field.json}/${unionName(inner!)}`
    addMember(struct.zeroOrOneOf, key, `${field.json}:${selector}`)
    later.push(() => takeUnions(struct.zeroOrOneOf, 'zeroOrOneOf', (name) => name.startsWith(`${field.json}/`)))
    return
  }
  later.push(() =>
    simpleCalls(inner!, scope).map((call) => ({ ...call, text: `item(${selector}:${call.text})`, group: selector })),
  )
}

/** The member is of another type, whose own rules that end a field would come along: those of metadata have none. */
function addSubfield({ args, inner }: Marker, scope: MarkerScope, { later }: Results): void {
  const name = args[0]!.value
  if (scope.field.type.ref !== 'meta/v1.ObjectMeta' || name !== 'name') {
    throw new Error(`${scope.field.json}: rules of the member ${name} are not known`)
  }
  later.push(() => simpleCalls(inner!, scope).map((call) => ({ ...call, text: `sub(${name}:${call.text})`, group: name })))
}

function addConditional(wrapper: 'on' | 'off', { args, inner }: Marker, scope: MarkerScope, results: Results): void {
  const own: Results = { now: [], later: [], ofStruct: [] }
  addMarker(inner!, scope, own)
  const wrapped = (calls: readonly Call[]) =>
    calls.map((call) => ({ ...call, text: `${wrapper}(${args[0]!.value}:${call.text})` }))
  results.now.push(...wrapped(own.now))
  for (const later of own.later) results.later.push(() => wrapped(later()))
  if (own.ofStruct.length > 0) throw new Error(`${scope.field.json}: ${inner!.name} cannot depend on a gate`)
}

const unionName = ({ args }: Marker) => args.find(({ name }) => name === 'union')?.value ?? ''

const memberText = ({ json, pointer }: FieldFile) => (pointer ? `${json}*` : json)

function addMember(unions: Map<string, string[]>, name: string, member: string): void {
  unions.set(name, [...(unions.get(name) ?? []), member])
}

/** The first member that asks gets the calls of all unions. */
function takeUnions(unions: Map<string, string[]>, name: string, isOwn = (_: string) => true): Call[] {
  const names = [...unions.keys()].filter(isOwn).sort()
  const calls = names.map((each) => plain(`${name}(${unions.get(each)!.join(',')})`))
  for (const each of names) unions.delete(each)
  return calls
}

function dependentCall({ name, args }: Marker, { field, fieldsOfType }: MarkerScope): Call {
  const dependent = fieldsOfType.find(({ json }) => json === args[0]!.value)
  if (dependent === undefined) throw new Error(`${field.json}: there is no field ${args[0]!.value}`)
  return plain(`${name}(${memberText(field)},${memberText(dependent)})`)
}

function modeOf({ modes }: StructRules, { args }: Marker) {
  const name = args.find((each) => each.name === 'modality')?.value ?? ''
  const known = modes.get(name) ?? { members: new Map<string, ModeMember>() }
  modes.set(name, known)
  return known
}

function addMode(marker: Marker, scope: MarkerScope, { ofStruct }: Results): void {
  const { field, struct } = scope
  const { members } = modeOf(struct, marker)
  const mode = marker.args.find(({ name }) => name === '' || name === 'mode')!.value
  const member = members.get(field.json) ?? { text: memberText(field), goName: field.go, rules: [] }
  members.set(field.json, member)
  const { default: _, ...plainField } = field
  const results: Results = { now: [], later: [], ofStruct: [] }
  addMarker(marker.inner!, { ...scope, field: plainField }, results)
  for (const call of results.now) member.rules.push({ mode, call: { ...call, level: marker.level } })
  ofStruct.push(() => takeModes(struct))
}

/** Calls such as `mode(type,exempt*,:%forbidden,Exempt:%optional)`; the rule without a mode is that of all other modes. */
function takeModes({ modes }: StructRules): Call[] {
  const calls = [...modes.keys()].sort().flatMap((name) => {
    const { discriminator, members } = modes.get(name)!
    if (discriminator === undefined) throw new Error(`the modes of ${[...members.keys()]} have no discriminator`)
    return [...members.values()].sort((a, b) => (a.goName < b.goName ? -1 : 1)).map((member) => modeCall(discriminator, member))
  })
  modes.clear()
  return calls
}

function modeCall(discriminator: string, { text, rules }: ModeMember): Call {
  const levels = new Set(rules.map(({ call }) => call.level))
  const level = levels.size === 1 ? [...levels][0]! : ''
  const values = [...new Set(rules.map(({ mode }) => mode))].sort()
  const ofModes = values.map((value) => {
    const own = inOrder(rules.filter(({ mode }) => mode === value).map(({ call }) => call))
    return `${value}:${own.map(callText).join('+')}`
  })
  const call = plain(`mode(${[discriminator, text, `:${callText({ ...short('forbidden'), level })}`, ...ofModes].join(',')})`)
  return { ...call, level }
}

const levelMarks: Readonly<Record<Level, string>> = { '': '', alpha: '?', beta: '%' }

/** A call with the mark of its level. Calls of modes have the marks of their rules. */
export function callText({ text, level }: Call): string {
  return text.startsWith('mode(') ? text : levelMarks[level] + text
}

/** Calls of a string type: an enumeration has its values in order. */
export function stringRules(name: string, { stringRules: rules, enums, constants }: VersionFile): Call[] {
  return markersOf(rules?.[name]).map(({ name: marker, level }) => {
    if (marker !== 'enum') throw new Error(`${name}: the marker ${marker} of a string type is not known`)
    const values = [...new Set(enums[name] ?? constants?.[name] ?? [])].sort()
    return { ...plain(`enum(${values.join(',')})`), level }
  })
}
