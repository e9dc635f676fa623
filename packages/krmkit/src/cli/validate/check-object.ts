import { deprecationWarning, missingMembers, type ResourceDefinition } from '@krmkit/kinds'
import {
  type ApiObject,
  type FieldError,
  formatApiVersion,
  formatTime,
  type GroupVersionKind,
  type JsonObject,
  MetaError,
  nameRules,
  parseApiVersion,
  stockProfile,
  systemClock,
  systemRandom,
  validateObjectMeta,
} from '@krmkit/meta'
import { DecodeError, decode, type StructType } from '@krmkit/schema'
import { withDefaults } from '../offline/defaults.ts'
import type { FoundKind, OfflineKinds } from '../offline/kinds.ts'
import { identityOf } from '../offline/load.ts'
import { isObject, type ManifestObject, nameOf, own } from '../offline/objects.ts'
import { type Problem, problemOf, type Severity } from './findings.ts'

/** What a server would have against one object, all of it. */

export interface CheckOptions {
  /** What unknown fields are. */
  readonly fields: Severity | 'ignored'
}

export interface CheckedObject {
  readonly problems: readonly Problem[]
  /** What names the object among all others; absent when it has no name or its kind is not known. */
  readonly identity?: string
  /** Its fields were not looked at. */
  readonly unchecked?: true
}

/** Reads, fills in and validates an object as a server does that is asked to create it. The object may come back changed. */
export async function checkObject(object: ManifestObject, kinds: OfflineKinds, options: CheckOptions): Promise<CheckedObject> {
  const { value } = object
  if (!isObject(value)) return { problems: [error('no-object', '', `expected an object, found ${typeName(value)}`)] }
  const typed = kindOf(object)
  if (!('group' in typed)) return { problems: typed }
  const found = kinds.find(typed)
  if (found.kind === 'missing') return { problems: [missingKind(found)] }
  if (found.kind === 'unchecked') {
    return { problems: [warning('unchecked-kind', 'apiVersion', found.message)], unchecked: true }
  }
  const { definition } = found
  const name = nameOf(object)
  const metadata = own(value, 'metadata')
  const named = isObject(metadata) && own(metadata, 'name') === name.name && name.name !== ''
  const identity = identityOf(name, typed, kinds)
  const problems = [...versionProblems(found, kinds), ...(await contentProblems(value, definition, kinds, options))]
  return { problems, ...(named ? { identity } : {}) }
}

function typeName(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`
}

/** What the object says it is, or why that cannot be told. */
function kindOf(object: ManifestObject): GroupVersionKind | Problem[] {
  const value = object.value as JsonObject
  const { apiVersion, kind } = nameOf(object)
  const problems: Problem[] = []
  for (const [name, text] of [
    ['apiVersion', apiVersion],
    ['kind', kind],
  ] as const) {
    const given = own(value, name)
    if (given !== undefined && given !== null && typeof given !== 'string') {
      problems.push(error('type', name, `expected a string, found ${typeName(given)}`))
    } else if (text === '') problems.push(error('missing-kind', name, `${name} is missing`))
  }
  if (problems.length > 0) return problems
  try {
    return { ...parseApiVersion(apiVersion), kind }
  } catch (failure) {
    if (failure instanceof MetaError) return [error('invalid', 'apiVersion', failure.message)]
    throw failure
  }
}

function missingKind({ why, message }: FoundKind & { kind: 'missing' }): Problem {
  if (why === 'gone') return error('removed-version', 'apiVersion', message)
  return error(why === 'custom' ? 'missing-definition' : 'unknown-kind', 'kind', message)
}

function versionProblems({ definition, unserved }: FoundKind & { kind: 'found' }, kinds: OfflineKinds): Problem[] {
  const deprecation = definition.deprecationWarning ?? deprecationWarning(definition.kind, kinds.features)
  return [
    ...(deprecation === undefined ? [] : [warning('deprecated-version', 'apiVersion', deprecation)]),
    ...(unserved === undefined ? [] : [warning('unserved-version', 'apiVersion', unserved)]),
  ]
}

async function contentProblems(
  value: JsonObject,
  definition: ResourceDefinition,
  kinds: OfflineKinds,
  options: CheckOptions,
): Promise<readonly Problem[]> {
  const { object, problems } = decodeAll(definition.kind.type(), value, options)
  if (object === undefined) return problems
  const wrong = problems.filter(({ rule }) => rule === 'type' || rule === 'value').map(({ path }) => path)
  // What was refused counts as not set: complaints about that say nothing new.
  const others = await ruleProblems({ ...object, ...typeOf(definition) }, value, definition, kinds)
  return [...problems, ...others.filter(({ path }) => !wrong.some((each) => isWithin(path, each)))]
}

function typeOf({ kind }: ResourceDefinition): { apiVersion: string; kind: string } {
  return { apiVersion: formatApiVersion(kind), kind: kind.kind }
}

function isWithin(path: string, outer: string): boolean {
  return path.startsWith(outer) && /^(?:$|[.[])/.test(path.slice(outer.length))
}

/** As many wrong values of one object are told. */
const maxWrongValues = 100

/** Decodes, and where something has the wrong type takes it out and decodes again, so that all wrong values are found. */
function decodeAll(type: StructType, value: JsonObject, { fields }: CheckOptions): { object?: JsonObject; problems: Problem[] } {
  const problems: Problem[] = []
  for (let attempt = 0; attempt < maxWrongValues; attempt++) {
    try {
      const decoded = decode<JsonObject>(type, value, { collect: fields !== 'ignored' })
      if (fields !== 'ignored') problems.push(...decoded.problems.map((text) => fieldProblem(text, fields)))
      return { object: decoded.object, problems }
    } catch (failure) {
      if (!(failure instanceof DecodeError)) throw failure
      const { code, message, location: place } = failure
      const path = place.path ?? ''
      problems.push(error(code === 'Type' ? 'type' : 'value', path, typeMessage(message)))
      if (path === '' || !remove(value, path)) return { problems }
    }
  }
  return { problems }
}

/** `json: cannot unmarshal string into Go struct field PodSpec.spec.replicas of type int32` in words for everybody. */
function typeMessage(message: string): string {
  const found = /^json: cannot unmarshal (.+) into Go (?:struct field \S+|value) of type (\S+)$/.exec(message)
  if (found === null) return message.replace(/^json: /, '')
  const [, got = '', wanted = ''] = found
  return `expected ${plainTypes.get(wanted) ?? (wanted.startsWith('[]') ? 'a list' : wanted.startsWith('map[') ? 'a map' : 'an object')}, found ${got === 'bool' ? 'boolean' : got}`
}

const plainTypes: ReadonlyMap<string, string> = new Map([
  ['string', 'a string'],
  ['bool', 'a boolean'],
  ['int', 'an integer'],
  ['int32', 'an integer of 32 bits'],
  ['int64', 'an integer of 64 bits'],
  ['float64', 'a number'],
  ['[]uint8', 'base64 text'],
  ['uint8', 'a byte'],
])

/** Takes the value at a path out, as if it had not been there; items of lists become null. */
function remove(value: JsonObject, path: string): boolean {
  let holder: unknown
  let name = ''
  let at: unknown = value
  for (let rest = path; rest !== ''; ) {
    const step = stepInto(at, rest)
    if (step === undefined) return false
    holder = at
    ;({ name, rest } = step)
    at = (at as Record<string, unknown>)[name]
  }
  if (at === undefined || at === null) return false
  if (Array.isArray(holder)) holder[Number(name)] = null
  else delete (holder as Record<string, unknown>)[name]
  return true
}

function stepInto(at: unknown, path: string): { name: string; rest: string } | undefined {
  if (Array.isArray(at)) {
    const index = /^\[(\d{1,9})\]/.exec(path)
    return index === null ? undefined : { name: String(index[1]), rest: path.slice(index[0].length) }
  }
  if (!isObject(at)) return undefined
  const text = path.startsWith('.') ? path.slice(1) : path
  const names = Object.keys(at).filter((name) => text.startsWith(name) && /^(?:$|[.[])/.test(text.slice(name.length)))
  const name = names.sort((a, b) => b.length - a.length)[0]
  return name === undefined ? undefined : { name, rest: text.slice(name.length) }
}

function fieldProblem(text: string, severity: Severity): Problem {
  const found = /^(unknown|duplicate) field "(.*)"$/s.exec(text)
  const path = found?.[2]?.replaceAll('\\"', '"') ?? ''
  const rule = found?.[1] === 'duplicate' ? 'duplicate-field' : 'unknown-field'
  // `n: 1` has a member of that name.
  const hint = /(?:^|\.)(?:true|false)$/.test(path)
    ? '; YAML takes keys such as y, n, on and off for booleans: put them in quotes'
    : ''
  return { rule, severity, path, message: found === null ? text : `${found[1]} field${hint}`, aboutName: true }
}

/** The rules of the kind, in the order of the server. */
async function ruleProblems(
  object: JsonObject,
  written: JsonObject,
  definition: ResourceDefinition,
  { features }: OfflineKinds,
): Promise<readonly Problem[]> {
  const { kind, strategy: policy } = definition
  const paths = missingMembers(written, policy.requiredMembers?.[''] ?? [])
  const unnamed = paths.map((path) => error('required', String(path), 'Required value'))
  try {
    const filled = withDefaults(definition, object)
    const homeless = placed(filled, kind.namespaced)
    const stored = definition.toStorage?.(filled) ?? filled
    const { group, version } = definition
    const warnings: string[] = []
    const context = {
      clock: systemClock,
      random: systemRandom,
      profile: stockProfile,
      features,
      requestVersion: { group, version },
      allowPrivileged: true,
      warn: (text: string) => void warnings.push(text),
    }
    fillIn(stored)
    policy.prepareForCreate?.(stored, context)
    await policy.ready?.(stored, undefined)
    const errors = policy.validate?.(stored, context) ?? metadataErrors(stored, definition)
    warnings.push(...(policy.warnings?.(stored, undefined, context) ?? []))
    const isNew = ({ path }: Problem) => !unnamed.some((each) => each.path === path)
    return [...unnamed, ...distinct(errors).map(problemOf).filter(isNew), ...homeless, ...warnings.map(warningProblem)]
  } catch (failure) {
    return [error('internal', '', failure instanceof Error ? failure.message : String(failure))]
  }
}

/** Of kinds without rules of their own; what is only asked about and never stored needs no name. */
function metadataErrors({ metadata }: ApiObject, { resource, kind }: ResourceDefinition): FieldError[] {
  if (resource.virtual) return []
  return validateObjectMeta(metadata, { namespaced: kind.namespaced, name: nameRules.dns1123Subdomain })
}

/** The name and namespace that the request would bring along. */
function placed({ metadata }: ApiObject, namespaced: boolean): Problem[] {
  if ((metadata.name ?? '') === '' && (metadata.generateName ?? '') !== '')
    metadata.name = `${metadata.generateName?.slice(0, 58)}xxxxx`
  if (namespaced) {
    if ((metadata.namespace ?? '') === '') metadata.namespace = 'default'
    return []
  }
  if ((metadata.namespace ?? '') === '') return []
  delete metadata.namespace
  return [warning('no-namespace', 'metadata.namespace', 'has no effect: the object does not live in a namespace')]
}

/** What the server alone decides about a new object, and the service account that its admission gives to pods. */
function fillIn({ apiVersion, kind, metadata, ...rest }: ApiObject): void {
  metadata.uid = systemRandom.uuid()
  metadata.creationTimestamp = formatTime(systemClock.now())
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  const { spec } = rest as { spec?: { serviceAccountName?: string } }
  if (apiVersion === 'v1' && kind === 'Pod' && spec !== undefined && (spec.serviceAccountName ?? '') === '')
    spec.serviceAccountName = 'default'
}

/** The generic layer and the kind may say the same; that not everything was checked goes without saying. */
function distinct(errors: readonly FieldError[]): FieldError[] {
  const seen = new Set<string>()
  return errors.filter(({ field, message }) => {
    if (message.includes('some validation rules were not checked because')) return false
    const text = `${field}: ${message}`
    return !seen.has(text) && seen.add(text)
  })
}

function warningProblem(text: string): Problem {
  const found = /^((?:spec|metadata|status|data|rules|webhooks|parameters)[\w.[\]/-]*): (.+)$/s.exec(text)
  return warning('questionable', found?.[1] ?? '', found?.[2] ?? text)
}

function error(rule: Problem['rule'], path: string, message: string): Problem {
  return { rule, severity: 'error', path, message }
}

function warning(rule: Problem['rule'], path: string, message: string): Problem {
  return { rule, severity: 'warning', path, message }
}
