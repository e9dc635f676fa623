import type { GroupFile, KindFile, Markers, NamedFile, ResourceFile, TypeFile, VersionFile } from './facts.ts'
import { type Place, readWholeField, wholeFieldText } from './field-text.ts'
import { type Line, line } from './line-tree.ts'

/**
 * The facts of a group as lines:
 *
 *     group apps
 *      /v1 k8s.io/api/apps/v1            a version and its Go package
 *       served                           it is in the discovery documents
 *       enabledByDefault
 *       kind Deployment {…}              members as JSON; null and empty ones are absent
 *       resource deployments {…}
 *       type DeploymentSpec
 *        ;structType "atomic"            members of the type, as JSON
 *        replicas?*:i;n1                 fields, as field-text.ts writes them
 *       named ResourceList {…}           named lists and maps, aliases
 *       enum DeploymentStrategyType
 *        ;hidden                         OpenAPI omits the values
 *        ;validation {…}                 markers of declarative validation, of constants as well
 *        |Recreate
 *       constants DeploymentConditionType
 *       scalar Number int32
 */
export function linesOfGroup(folder: string, { group, versions }: GroupFile): Line {
  return line(
    `group ${group || '""'}`,
    Object.entries(versions).map(([version, facts]) =>
      line(`/${version} ${facts.goPackage}`, linesOfVersion({ folder, version }, facts)),
    ),
  )
}

/** The inverse of {@link linesOfGroup}. */
export function groupOfLines(folder: string, { text, lines }: Line): GroupFile {
  const group = text.slice('group '.length)
  return {
    group: group === '""' ? '' : group,
    versions: Object.fromEntries(
      lines.map((each) => {
        const [version = '', goPackage = ''] = each.text.slice(1).split(' ')
        return [version, versionOfLines({ folder, version }, goPackage, each.lines)]
      }),
    ),
  }
}

function linesOfVersion(at: Place, facts: VersionFile): Line[] {
  const { goPackage, protoPackage, openapiPrefix, enabledByDefault, served, enumsNotInOpenAPI = [], stringRules = {} } = facts
  if (protoPackage !== protoPackageOf(goPackage) || openapiPrefix !== openapiPrefixOf(goPackage)) {
    throw new Error(`${goPackage}: ${protoPackage} and ${openapiPrefix} do not follow from it`)
  }
  const list = (name: string, values: readonly string[]) => [
    ...(Object.hasOwn(stringRules, name) ? [line(`;validation ${JSON.stringify(stringRules[name])}`)] : []),
    ...values.map((value) => line(`|${value}`)),
  ]
  return [
    ...(served ? [line('served')] : []),
    ...(enabledByDefault ? [line('enabledByDefault')] : []),
    ...Object.entries(facts.kinds).map(([name, kind]) => line(`kind ${name} ${JSON.stringify(leanKind(kind))}`)),
    ...Object.entries(facts.resources).map(([name, each]) => line(`resource ${name} ${JSON.stringify(each)}`)),
    ...Object.entries(facts.types).map(([name, type]) => line(`type ${name}`, linesOfType(at, type))),
    ...Object.entries(facts.named ?? {}).map(([name, named]) => line(`named ${name} ${JSON.stringify(named)}`)),
    ...Object.entries(facts.enums).map(([name, values]) =>
      line(`enum ${name}`, [...(enumsNotInOpenAPI.includes(name) ? [line(';hidden')] : []), ...list(name, values)]),
    ),
    ...Object.entries(facts.constants ?? {}).map(([name, values]) => line(`constants ${name}`, list(name, values))),
    ...Object.entries(facts.scalars ?? {}).map(([name, scalar]) => line(`scalar ${name} ${scalar}`)),
  ]
}

function linesOfType(at: Place, { fields, ...members }: TypeFile): Line[] {
  const attributes = Object.entries(members).map(([name, value]) =>
    line(value === true ? `;${name}` : `;${name} ${JSON.stringify(value)}`),
  )
  return [...attributes, ...fields.map((field) => line(wholeFieldText(field, at)))]
}

function typeOfLines(at: Place, lines: readonly Line[]): TypeFile {
  const members: Record<string, unknown> = {}
  const fields = []
  for (const { text } of lines) {
    if (!text.startsWith(';')) fields.push(readWholeField(text, at))
    else {
      const [name, value] = cut(text.slice(1))
      members[name] = value === '' ? true : JSON.parse(value)
    }
  }
  return { ...members, fields }
}

function versionOfLines(at: Place, goPackage: string, lines: readonly Line[]): VersionFile {
  const [kinds, resources, types, named, enums, constants, scalars] = Array.from(
    { length: 7 },
    () => ({}) as Record<string, never>,
  )
  const tables: Readonly<Record<string, Record<string, unknown>>> = {
    ...{ kind: kinds!, resource: resources!, type: types!, named: named! },
    ...{ enum: enums!, constants: constants!, scalar: scalars! },
  }
  const hidden: string[] = []
  const rules: Record<string, Markers> = {}
  const words = new Set<string>()
  for (const { text, lines: below } of lines) {
    const [word, rest] = cut(text)
    const table = tables[word]
    if (table === undefined) {
      words.add(text)
      continue
    }
    const [name, value] = cut(rest)
    if (word === 'type') table[name] = typeOfLines(at, below)
    else if (word === 'scalar') table[name] = value
    else if (word === 'kind') table[name] = wholeKind(JSON.parse(value) as KindFile, at.folder)
    else if (word === 'enum' || word === 'constants') {
      if (below.some((each) => each.text === ';hidden')) hidden.push(name)
      const validation = below.find((each) => each.text.startsWith(';validation '))
      if (validation !== undefined) rules[name] = JSON.parse(cut(validation.text)[1]) as Markers
      table[name] = below.filter((each) => each.text.startsWith('|')).map((each) => each.text.slice(1))
    } else table[name] = JSON.parse(value) as ResourceFile | NamedFile
  }
  const filled = (name: string, members: object | readonly string[]) =>
    Object.keys(members).length === 0 ? {} : { [name]: members }
  return {
    goPackage,
    protoPackage: protoPackageOf(goPackage),
    openapiPrefix: openapiPrefixOf(goPackage),
    ...(at.folder === 'meta' ? {} : { enabledByDefault: words.has('enabledByDefault'), served: words.has('served') }),
    kinds: kinds!,
    resources: resources!,
    types: types!,
    ...filled('named', named!),
    enums: enums!,
    ...filled('constants', constants!),
    ...filled('scalars', scalars!),
    ...filled('enumsNotInOpenAPI', hidden),
    ...filled('stringRules', rules),
  }
}

/** Without members that are null or empty. */
function leanKind(kind: KindFile): Partial<KindFile> {
  return Object.fromEntries(
    Object.entries(kind).filter(([name, value]) => value !== null && !(name === 'explicit' && (value as string[]).length === 0)),
  )
}

/** With the members that the extractor always writes. */
function wholeKind(kind: Partial<KindFile>, folder: string): KindFile {
  if (folder === 'meta') return { metadata: null, ...kind }
  const { namespaced = null, metadata = null, list = null, introduced = null, deprecated = null, removed = null } = kind
  const { replacement = null, explicit = [], ...rest } = kind
  return { ...{ namespaced, metadata, list, introduced, deprecated, removed, replacement, explicit }, ...without(rest) }
}

function without({
  namespaced: _,
  metadata: _m,
  list: _l,
  introduced: _i,
  deprecated: _d,
  removed: _r,
  ...rest
}: Partial<KindFile>) {
  return rest
}

const protoPackageOf = (goPackage: string) => goPackage.replaceAll('/', '.').replaceAll('-', '_')

function openapiPrefixOf(goPackage: string): string {
  const [host = '', ...rest] = goPackage.split('/')
  return [...host.split('.').reverse(), ...rest].join('.')
}

/** The first word, and what follows it. */
export function cut(text: string): readonly [string, string] {
  const space = text.indexOf(' ')
  return space < 0 ? [text, ''] : [text.slice(0, space), text.slice(space + 1)]
}
