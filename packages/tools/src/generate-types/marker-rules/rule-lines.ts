/** The rules of a release as lines: the types that rules reach from the kinds whose rules kube-apiserver enforces. */
import type { NodeFacts } from '@krmkit/schema/model'
import type { GroupFile, TypeFile, VersionFile } from '../../release-facts/facts.ts'
import { type Line, line } from '../../release-facts/line-tree.ts'
import { type Call, callText, fieldRules, inOrder, type ListKeys, noStructRules, stringRules } from './calls.ts'
import { markersOf } from './markers.ts'

/** The first release that enforces rules of markers. Those before only compare them with the hand-written ones. */
export const firstEnforcing = 36

/** Kinds whose rules a release enforces: `folder/version.Kind`. Releases that are absent enforce those of all kinds. */
const enforcedKinds: Readonly<Record<number, readonly string[]>> = {
  // The strategies of these kinds ask for it (rest.WithDeclarativeEnforcement); 1.37 has no such option.
  36: ['resource/v1alpha3.ResourcePoolStatusRequest', 'scheduling/v1alpha2.PodGroup', 'scheduling/v1alpha2.Workload'],
}

interface FieldLine {
  readonly name: string
  readonly calls: readonly Call[]
  readonly keys: ListKeys
  readonly isPointer: boolean
  readonly container: 'list' | 'map' | undefined
  /** `folder/version.Type`; undefined for a type without rules. */
  readonly target: string | undefined
}

interface TypeRules {
  readonly calls: readonly Call[]
  readonly fields: readonly FieldLine[]
  /** Requests that the rules of a kind apply to; undefined for other types. */
  readonly requests: readonly string[] | undefined
}

type Groups = ReadonlyMap<string, GroupFile>

/** Lines of the versions with rules by folder. */
export function ruleLines(groups: Groups, minor: number): ReadonlyMap<string, readonly Line[]> {
  const kinds = enforcedKinds[minor] ?? kindsOf(groups)
  const isRuled = ruledTypes(reachedRules(groups, kinds))
  const roots = kinds.filter((name) => isRuled.has(name))
  const rules = reachedRules(groups, roots)
  const lines = new Map<string, readonly Line[]>()
  for (const [folder, { versions }] of groups) {
    const ofVersions = Object.keys(versions).flatMap((version) => {
      const prefix = `${folder}/${version}.`
      const types = [...rules.keys()].filter((name) => name.startsWith(prefix) && isRuled.has(name)).sort()
      const typeLines = types.map((name) =>
        typeLine(name, { prefix, rules: rules.get(name)!, isRuled, isRoot: roots.includes(name) }),
      )
      return typeLines.length === 0 ? [] : [line(`/${version}`, typeLines)]
    })
    if (ofVersions.length > 0) lines.set(folder, ofVersions)
  }
  return lines
}

/** Kinds of objects in the versions that are served. */
function kindsOf(groups: Groups): string[] {
  return [...groups].flatMap(([folder, { versions }]) =>
    Object.entries(versions).flatMap(([version, { kinds, served }]) =>
      Object.entries(kinds)
        .filter(([, { metadata }]) => served === true && metadata === 'object')
        .map(([kind]) => `${folder}/${version}.${kind}`),
    ),
  )
}

/** The rules of types and of those that they reach. */
function reachedRules(groups: Groups, roots: readonly string[]): ReadonlyMap<string, TypeRules> {
  const rules = new Map<string, TypeRules>()
  const visit = (name: string) => {
    const own = rules.has(name) ? undefined : rulesOf(groups, name)
    if (own === undefined) return
    rules.set(name, own)
    for (const { target } of own.fields) if (target !== undefined) visit(target)
  }
  for (const root of roots) visit(root)
  return rules
}

function rulesOf(groups: Groups, name: string): TypeRules | undefined {
  const [, folder = '', version = '', type = ''] = /^([a-z]+)\/([a-z0-9]+)\.(.+)$/.exec(name) ?? []
  const facts = groups.get(folder)?.versions[version]
  const struct = facts?.types[type]
  if (facts !== undefined && struct !== undefined) return structRules(type, struct, facts)
  if (facts?.stringRules?.[type] === undefined) return undefined
  return { calls: stringRules(type, facts), fields: [], requests: undefined }
}

function structRules(name: string, type: TypeFile, facts: VersionFile): TypeRules {
  const struct = noStructRules()
  const ofStruct: (() => readonly Call[])[] = []
  const fields = type.fields
    .filter(({ json, inline }) => json !== '-' && (json !== '' || inline === true))
    .map((field): FieldLine => {
      const { calls, keys, isOpaque, hasOpaqueValues } = fieldRules({ field, fieldsOfType: type.fields, struct }, ofStruct)
      const container = field.type.list !== undefined ? 'list' : field.type.map !== undefined ? 'map' : undefined
      const target = isOpaque || hasOpaqueValues ? undefined : targetOf(field.type)
      return { name: field.json, calls, keys, isPointer: field.pointer === true, container, target }
    })
  return { calls: inOrder(ofStruct.flatMap((each) => each())), fields, requests: requestsOf(name, type, facts) }
}

function targetOf(node: NodeFacts): string | undefined {
  const inner = node.list ?? node.map
  return inner === undefined ? (node.ref ?? node.enum ?? node.named) : targetOf(inner)
}

/** The paths below an object that the rules of its kind apply to, such as `/` and `/status`. */
function requestsOf(name: string, { validation }: TypeFile, { kinds }: VersionFile): string[] | undefined {
  const markers = markersOf(validation)
  const others = markers.filter((marker) => !['supportsSubresource', 'isSubresource', 'opaqueType'].includes(marker.name))
  if (others.length > 0) throw new Error(`${name}: the marker ${others[0]!.name} of a type is not known`)
  if (kinds[name] === undefined) return undefined
  const named = (marker: string) => markers.filter((each) => each.name === marker).map(({ value }) => value)
  const own = named('isSubresource')
  return [...(own.length > 0 ? own : ['/']), ...named('supportsSubresource')].sort()
}

/** The types with rules that report something, their own or those of the types of their fields. */
function ruledTypes(rules: ReadonlyMap<string, TypeRules>): ReadonlySet<string> {
  const ruled = new Set<string>()
  for (let size = -1; size !== ruled.size; ) {
    size = ruled.size
    for (const [name, { calls, fields }] of rules) {
      if (ruled.has(name)) continue
      const reports = calls.some(isReported) || fields.some((field) => hasRules(field, ruled))
      if (reports) ruled.add(name)
    }
  }
  return ruled
}

const isReported = ({ level, isSilent, text }: Call) =>
  isSilent !== true && (text.startsWith('mode(') ? /[:+]%?[a-z]/.test(text) : level !== 'alpha')

const hasRules = ({ calls, target }: FieldLine, ruled: ReadonlySet<string>) =>
  calls.some(isReported) || (target !== undefined && ruled.has(target))

interface TypeLineOptions {
  readonly prefix: string
  readonly rules: TypeRules
  readonly isRuled: ReadonlySet<string>
  readonly isRoot: boolean
}

function typeLine(name: string, { prefix, rules, isRuled, isRoot }: TypeLineOptions): Line {
  const calls = kept(rules.calls)
  const fields = rules.fields
    .filter((field) => hasRules(field, isRuled))
    .map(({ name: fieldName, calls: own, keys, isPointer, container, target }) => {
      const isDescended = target !== undefined && isRuled.has(target)
      const list = container === 'map' ? '{}' : container === 'list' ? `[${keys === 'set' ? '.' : (keys ?? []).join(',')}]` : ''
      const listed = kept(own)
      const isNeeded = listed.some((call) => call.isSilent !== true) || !(isPointer || container !== undefined)
      const text = isNeeded ? callsText(listed) : ''
      const type = isDescended ? `>${target.startsWith(prefix) ? target.slice(prefix.length) : target}` : ''
      return `${fieldName}${isPointer ? '*' : ''}${list}${text}${type}`
    })
  const requests = isRoot ? `;${rules.requests!.join(',')}` : ''
  const parts = [...(calls.length > 0 ? [callsText(calls)] : []), ...fields]
  return line(
    name.slice(prefix.length) + requests,
    parts.map((part) => line(part)),
  )
}

/** Of the rules of the level alpha, those that end a field. */
const kept = (calls: readonly Call[]) => calls.filter((call) => call.level !== 'alpha' || call.isShort)

/** Calls with a semicolon between them, and a bar where another group begins. */
function callsText(calls: readonly Call[]): string {
  const texts = calls.map((call, i) => {
    const separator = i === 0 ? (call.group === undefined ? '' : '|') : call.group === calls[i - 1]!.group ? ';' : '|'
    return separator + callText(call)
  })
  return texts.length === 0 ? '' : `=${texts.join('')}`
}
