import { runAtOnce, type Work } from '@krmkit/base/work'
import { deprecationWarning, type ResourceDefinition, runPreparation, runValidation } from '@krmkit/kinds'
import { missingMembers } from '@krmkit/kinds/strategies'
import {
  type ApiObject,
  type DeepReadonly,
  type FieldError,
  formatApiVersion,
  formatTime,
  type GroupVersionKind,
  isJsonObject,
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
import { withDefaults } from './defaults.ts'
import { type Problem, problemOf } from './findings.ts'
import { messageOf } from './message-of.ts'
import { type ManifestObject, nameOf, ownMember } from './objects.ts'
import { type FoundKind, identityOf, type OfflineKinds } from './offline-kinds.ts'

/** The result of checking an object: all problems that a server would report. */

export interface CheckedObject {
  readonly problems: readonly Problem[]
  /** Identifies the object across versions; undefined without a name or for an unknown kind. */
  readonly identity?: string
  /** Set if the fields were not checked because the type is not available. */
  readonly unchecked?: true
  /** The type of the object; undefined for unknown kinds. */
  readonly type?: StructType
}

/** Decodes, defaults and validates an object like a server that creates it. May modify the object. */
export async function checkObject(object: ManifestObject, kinds: OfflineKinds): Promise<CheckedObject> {
  const { value } = object
  if (!isJsonObject(value)) return { problems: [error('no-object', '', `expected an object, found ${typeName(value)}`)] }
  const typed = kindOf(object)
  if (!('group' in typed)) return { problems: typed }
  const found = kinds.find(typed)
  if (found.kind === 'missing') return { problems: [missingKind(found, typed)] }
  if (found.kind === 'unchecked') {
    return { problems: [warning('unchecked-kind', 'apiVersion', found.message)], unchecked: true }
  }
  const { definition } = found
  const name = nameOf(object)
  const metadata = ownMember(value, 'metadata')
  const named = isJsonObject(metadata) && ownMember(metadata, 'name') === name.name && name.name !== ''
  const identity = identityOf(name, typed, kinds)
  const problems = [...versionProblems(found, typed, kinds), ...(await contentProblems(value, definition, kinds))]
  return { problems, type: definition.kind.type(), ...(named ? { identity } : {}) }
}

function typeName(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`
}

/** Returns the kind of the object, or the problems of its apiVersion and kind. */
function kindOf(object: ManifestObject): GroupVersionKind | Problem[] {
  const value = object.value as JsonObject
  const { apiVersion, kind } = nameOf(object)
  const problems: Problem[] = []
  for (const [name, text] of [
    ['apiVersion', apiVersion],
    ['kind', kind],
  ] as const) {
    const given = ownMember(value, name)
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

function missingKind({ why, message, instead }: FoundKind & { kind: 'missing' }, gvk: GroupVersionKind): Problem {
  if (why === 'gone') return { ...error('removed-version', 'apiVersion', message), ...newerVersion(gvk, instead) }
  return { ...error(missingRules[why], 'kind', message), ...replacementsOf(gvk, instead) }
}

const missingRules = {
  custom: 'missing-definition',
  unreadable: 'unreadable-definition',
  unknown: 'unknown-kind',
} as const satisfies Readonly<Record<string, Problem['rule']>>

/** Returns the replacements that change the kind of an object. */
function replacementsOf(gvk: GroupVersionKind, instead: GroupVersionKind | undefined): Pick<Problem, 'replacements'> {
  if (instead === undefined) return {}
  const [before, apiVersion] = [formatApiVersion(gvk), formatApiVersion(instead)]
  const replacements = {
    ...(before === apiVersion ? {} : { apiVersion }),
    ...(gvk.kind === instead.kind ? {} : { kind: instead.kind }),
  }
  return { replacements }
}

/** Returns the replacement if it is another version of the same kind; a different kind has different fields. */
function newerVersion(gvk: GroupVersionKind, instead: GroupVersionKind | undefined): Pick<Problem, 'replacements'> {
  return instead?.kind === gvk.kind ? replacementsOf(gvk, instead) : {}
}

function versionProblems(
  { definition, unserved }: FoundKind & { kind: 'found' },
  gvk: GroupVersionKind,
  kinds: OfflineKinds,
): Problem[] {
  const deprecation = definition.deprecationWarning ?? deprecationWarning(definition.kind, kinds.features)
  const deprecated = (message: string): Problem => ({
    ...warning('deprecated-version', 'apiVersion', message),
    ...newerVersion(gvk, kinds.replacementOf(gvk)),
  })
  return [
    ...(deprecation === undefined ? [] : [deprecated(deprecation)]),
    ...(unserved === undefined ? [] : [warning('unserved-version', 'apiVersion', unserved)]),
  ]
}

async function contentProblems(
  value: JsonObject,
  definition: ResourceDefinition,
  kinds: OfflineKinds,
): Promise<readonly Problem[]> {
  const { object, problems } = decodeAll(definition.kind.type(), value)
  if (object === undefined) return problems
  const wrong = problems.filter(({ rule }) => rule === 'type' || rule === 'value').map(({ path }) => path)
  // Removed values count as unset. Problems below them are dropped, because they would repeat the type error.
  const others = await ruleProblems({ ...object, ...typeOf(definition) }, value, definition, kinds)
  return [...problems, ...others.filter(({ path }) => !wrong.some((each) => isWithin(path, each)))]
}

function typeOf({ kind }: ResourceDefinition): { apiVersion: string; kind: string } {
  return { apiVersion: formatApiVersion(kind), kind: kind.kind }
}

function isWithin(path: string, outer: string): boolean {
  return path.startsWith(outer) && /^(?:$|[.[])/.test(path.slice(outer.length))
}

/** Maximum number of type errors reported for one object. */
const maxTypeErrors = 100

/** Decodes the value. After a type error it removes the wrong value and decodes again, so that all type errors are found. */
function decodeAll(type: StructType, value: JsonObject): { object?: JsonObject; problems: Problem[] } {
  const problems: Problem[] = []
  for (let attempt = 0; attempt < maxTypeErrors; attempt++) {
    try {
      const decoded = decode<JsonObject>(type, value, { collect: true })
      return { object: decoded.object, problems: [...problems, ...decoded.problems.map(fieldProblem)] }
    } catch (failure) {
      if (!(failure instanceof DecodeError)) throw failure
      const { code, message, path = '' } = failure
      problems.push(error(code === 'Type' ? 'type' : 'value', path, typeMessage(message)))
      if (path === '' || !remove(value, path)) return { problems }
    }
  }
  return { problems }
}

/** Rephrases `json: cannot unmarshal string into Go struct field PodSpec.spec.replicas of type int32` without Go types. */
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

/** Removes the value at a path; a list item becomes null. */
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
  if (!isJsonObject(at)) return undefined
  const text = path.startsWith('.') ? path.slice(1) : path
  const names = Object.keys(at).filter((name) => text.startsWith(name) && /^(?:$|[.[])/.test(text.slice(name.length)))
  const name = names.sort((a, b) => b.length - a.length)[0]
  return name === undefined ? undefined : { name, rest: text.slice(name.length) }
}

function fieldProblem(text: string): Problem {
  const found = /^(unknown|duplicate) field "(.*)"$/s.exec(text)
  const path = found?.[2]?.replaceAll('\\"', '"') ?? ''
  const rule = found?.[1] === 'duplicate' ? 'duplicate-field' : 'unknown-field'
  // YAML 1.1 parses the key of `n: 1` as a boolean.
  const hint = /(?:^|\.)(?:true|false)$/.test(path)
    ? '; YAML reads keys such as y, n, on and off as booleans: put them in quotes'
    : ''
  return { ...error(rule, path, found === null ? text : `${found[1]} field${hint}`), aboutName: true }
}

/** Applies defaulting, strategy and validation of the kind in the order of a server. */
async function ruleProblems(
  object: JsonObject,
  written: JsonObject,
  definition: ResourceDefinition,
  { features }: OfflineKinds,
): Promise<readonly Problem[]> {
  const { kind, strategy: policy } = definition
  const paths = missingMembers(written, policy.requiredMembers?.[''] ?? [])
  const missing = paths.map((path) => error('required', String(path), 'Required value'))
  try {
    const filled = withDefaults(definition, object)
    const namespaceProblems = applyRequestNamespace(filled, kind.namespaced)
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
    setServerFields(stored)
    runPreparation(policy.prepareForCreate?.(stored, context))
    await policy.ready?.(stored, undefined)
    const validation = policy.validate?.(stored, context)
    const byStrategy = validation === undefined ? [] : runValidation(validation)
    const ofKind = await withMarkerRules(byStrategy, stored, definition)
    const reported = new Set(ofKind.map(({ field }) => field))
    const errors = [...ofKind, ...metadataErrors(stored, definition).filter(({ field }) => !reported.has(field))]
    warnings.push(...(policy.warnings?.(stored, undefined, context) ?? []))
    const isNew = ({ path }: Problem) => !missing.some((each) => each.path === path)
    return [...missing, ...distinct(errors).map(problemOf).filter(isNew), ...namespaceProblems, ...warnings.map(warningProblem)]
  } catch (failure) {
    return [error('internal', '', messageOf(failure))]
  }
}

/** Completes the errors of a new object by the rules that an emulated release enforces as markers of the type state them. */
async function withMarkerRules(
  errors: readonly FieldError[],
  object: ApiObject,
  definition: ResourceDefinition,
): Promise<readonly FieldError[]> {
  const { markerRules } = definition
  if (markerRules === undefined) return errors
  await markerRules.load()
  const inVersion = (stored: DeepReadonly<ApiObject>) => versionOf(stored, definition)
  return runAtOnce(markerRules.complete(errors, { object: object as DeepReadonly<ApiObject>, inVersion }))
}

function* versionOf(stored: DeepReadonly<ApiObject>, { fromStorage }: ResourceDefinition): Work<DeepReadonly<ApiObject>> {
  yield
  return (fromStorage?.(stored) ?? stored) as DeepReadonly<ApiObject>
}

/**
 * Validates the metadata like the server does for every kind, because not every strategy does. Names of kinds without rules
 * are DNS subdomains; virtual resources, such as reviews, need no name.
 */
function metadataErrors({ metadata }: ApiObject, { resource, kind, strategy }: ResourceDefinition): FieldError[] {
  if (resource.virtual) return []
  const name = strategy.validate === undefined ? nameRules.dns1123Subdomain : nameRules.pathSegment
  return validateObjectMeta(metadata, { namespaced: kind.namespaced, name })
}

/** Sets the name and namespace that a create request would provide. */
function applyRequestNamespace({ metadata }: ApiObject, namespaced: boolean): Problem[] {
  if ((metadata.name ?? '') === '' && (metadata.generateName ?? '') !== '')
    metadata.name = `${metadata.generateName?.slice(0, 58)}xxxxx`
  if (namespaced) {
    if ((metadata.namespace ?? '') === '') metadata.namespace = 'default'
    return []
  }
  if ((metadata.namespace ?? '') === '') return []
  delete metadata.namespace
  return [warning('no-namespace', 'metadata.namespace', 'has no effect: the object is cluster-scoped')]
}

/** Sets the metadata that a server assigns to a new object, and the service account that admission assigns to pods. */
function setServerFields({ apiVersion, kind, metadata, ...rest }: ApiObject): void {
  metadata.uid = systemRandom.uuid()
  metadata.creationTimestamp = formatTime(systemClock.now())
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  const { spec } = rest as { spec?: { serviceAccountName?: string } }
  if (apiVersion === 'v1' && kind === 'Pod' && spec !== undefined && (spec.serviceAccountName ?? '') === '')
    spec.serviceAccountName = 'default'
}

/** Removes duplicate errors and notices that validation stopped early. */
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
