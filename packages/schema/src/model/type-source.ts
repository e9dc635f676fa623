import type { JsonValue } from '@krmkit/meta'
import type { Field, ProtoMember, StructType, TypeSource } from '../interfaces.ts'
import { SchemaError } from '../schema-error.ts'
import type { FieldFacts, GroupFacts, ProtoFacts, TypeFacts, VersionFacts } from './facts.ts'
import { type PackedGroup, type PackedVersion, readPackedGroup } from './packed-facts.ts'
import { type NodeContext, typeNode } from './type-node.ts'

/**
 * Reads the facts of the built-in types. The text of a group is read on first use of one of its types; a type is built on first
 * use of its name.
 */

/** A `TypeSource` over group files that also lists groups and versions. */
export interface FactsSource extends TypeSource {
  /** Names of the group folders: `core`, `apps`, ... */
  readonly folders: readonly string[]
  /** @throws SchemaError `UnknownType` for an unknown folder. */
  group(folder: string): { readonly group: string; readonly versions: readonly string[] }
  /**
   * Text of the facts of a folder: equal texts mean equal types.
   *
   * @throws SchemaError `UnknownType` for an unknown folder.
   */
  text(folder: string): string
}

/** Differences between an earlier release and the facts. */
export interface TypeSourceOptions {
  /** Changes the facts of a type, given its name, such as `core/v1.PodSpec`. Default: no changes. */
  readonly revise?: (type: string, facts: TypeFacts) => TypeFacts
  /** Leaves out versions of a group from those that are listed. Default: none. */
  readonly omitVersion?: (folder: string, version: string) => boolean
}

/**
 * Creates a type source.
 *
 * @param files text by group folder: JSON, or the compact form of `packed-facts.ts`. Entries without types (`lifecycle`, `special`) are
 * ignored.
 * @example
 * import { readFileSync } from 'node:fs'
 * import { createTypeSource } from '@krmkit/schema'
 * const types = createTypeSource({ core: readFileSync('model/core.json', 'utf8'), meta: readFileSync('model/meta.json', 'utf8') })
 * types.struct('core/v1.ConfigMap').fields.map(({ json }) => json)
 */
export function createTypeSource(
  files: Readonly<Record<string, string>>,
  { revise, omitVersion }: TypeSourceOptions = {},
): FactsSource {
  const groups = new Map<string, PackedGroup>()
  const structs = new Map<string, StructType>()
  const folders = Object.keys(files).filter((name) => name !== 'special')

  function text(folder: string): string {
    if (!folders.includes(folder)) throw new SchemaError({ code: 'UnknownType', message: `no group folder ${folder}` })
    return files[folder] as string
  }

  function group(folder: string): PackedGroup {
    const known = groups.get(folder)
    if (known !== undefined) return known
    const source = text(folder)
    const facts = source.startsWith('{') ? readJsonGroup(source) : readPackedGroup(source, folder)
    groups.set(folder, facts)
    return facts
  }

  function locate(name: string): Located | undefined {
    const at = parseTypeName(name)
    if (at === undefined || !folders.includes(at.folder)) return undefined
    const file = group(at.folder)
    const version = file.versions.get(at.version)
    if (version === undefined) return undefined
    const facts = version.type(at.type)
    if (facts !== undefined) return { facts, at, version, group: file.group }
    const alias = version.alias(at.type)
    return alias === undefined ? undefined : locate(alias)
  }

  function struct(name: string): StructType {
    const known = structs.get(name)
    if (known !== undefined) return known
    const found = locate(name)
    if (found === undefined) throw new SchemaError({ code: 'UnknownType', message: `no type ${name}` })
    const trueName = `${found.at.folder}/${found.at.version}.${found.at.type}`
    const built = structs.get(trueName) ?? buildStruct(trueName, revised(found, trueName), context)
    structs.set(trueName, built)
    structs.set(name, built)
    return built
  }

  function revised<F extends { readonly facts: TypeFacts }>(found: F, name: string): F {
    return revise === undefined ? found : { ...found, facts: revise(name, found.facts) }
  }

  const context: NodeContext = {
    struct,
    // Only the types of the same group refer to structs with a hand-written wire form, so no other group is parsed.
    specialOf: (name, folder) => (name.startsWith(`${folder}/`) ? locate(name)?.facts.special : undefined),
    enumValues(name) {
      const at = parseTypeName(name)
      return at === undefined ? undefined : group(at.folder).versions.get(at.version)?.enumeration(at.type)
    },
  }

  return {
    folders,
    text,
    struct,
    has: (name) => locate(name) !== undefined,
    group(folder) {
      const { group: name, versions } = group(folder)
      const listed = [...versions.keys()].filter((version) => omitVersion?.(folder, version) !== true)
      return { group: name, versions: listed }
    },
  }
}

interface Located {
  readonly facts: TypeFacts
  readonly at: TypeName
  readonly version: PackedVersion
  readonly group: string
}

function readJsonGroup(text: string): PackedGroup {
  const { group, versions } = JSON.parse(text) as GroupFacts
  return { group, versions: new Map(Object.entries(versions).map(([version, facts]) => [version, jsonVersion(facts)])) }
}

function jsonVersion(facts: VersionFacts): PackedVersion {
  const { goPackage, protoPackage, openapiPrefix, types, named = {}, enums = {}, enumsNotInOpenAPI = [] } = facts
  return {
    ...{ goPackage, protoPackage, openapiPrefix },
    type: (name) => own(types, name),
    alias: (name) => own(named, name)?.aliasOf,
    enumeration(name) {
      const values = own(enums, name)
      return values === undefined ? undefined : { values, hidden: enumsNotInOpenAPI.includes(name) }
    },
  }
}

interface TypeName {
  readonly folder: string
  readonly version: string
  readonly type: string
}

/** Splits `core/v1.Pod`. */
function parseTypeName(name: string): TypeName | undefined {
  const slash = name.indexOf('/')
  const dot = name.lastIndexOf('.')
  if (slash < 0 || dot < slash) return undefined
  return { folder: name.slice(0, slash), version: name.slice(slash + 1, dot), type: name.slice(dot + 1) }
}

function own<V>(record: Readonly<Record<string, V>>, key: string): V | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined
}

const typeMeta = 'meta/v1.TypeMeta'

function buildStruct(name: string, found: Located, context: NodeContext): StructType {
  const { facts, at, version } = found
  const fields: Field[] = []
  const members: ProtoMember[] = []
  let root = false
  for (const fact of facts.fields ?? []) {
    if (fact.json === '-') continue
    if (fact.inline) {
      const inner = fact.type.ref as string
      if (inner === typeMeta) root = true
      for (const field of context.struct(inner).fields) fields.push(promoted(field, inner))
      if (fact.proto !== undefined) members.push(embeddedMember(fact, fact.proto, context))
      continue
    }
    const field = buildField(fact, at.folder, context)
    if (field.proto !== undefined) members.push({ kind: 'field', number: field.proto.number, field })
    fields.push(field)
  }
  members.sort((a, b) => a.number - b.number)
  const protobuf = facts.noProto ? {} : { protoName: `${version.protoPackage}.${at.type}`, proto: members }
  return {
    name,
    typeName: at.type,
    packageName: version.goPackage.slice(version.goPackage.lastIndexOf('/') + 1),
    group: found.group,
    version: at.version,
    openapiName: `${version.openapiPrefix}.${at.type}`,
    ...protobuf,
    root,
    fields,
    field: new Map(fields.map((field) => [field.json, field])),
    ...(facts.structType === undefined ? {} : { structType: facts.structType }),
    ...(facts.union ? { union: true } : {}),
    ...(facts.noOpenAPI ? { noOpenAPI: true } : {}),
    raw: facts,
  }
}

/** Copies a promoted field without its protobuf number, which is valid only in the embedded message. */
function promoted(field: Field, inner: string): Field {
  const { proto: _, ...rest } = field
  return { ...rest, promotedFrom: field.promotedFrom ?? inner }
}

function embeddedMember(fact: FieldFacts, proto: ProtoFacts, context: NodeContext): ProtoMember {
  const inner = fact.type.ref as string
  return { kind: 'embedded', number: proto.number, name: proto.name ?? fact.go, struct: () => context.struct(inner) }
}

function buildField(fact: FieldFacts, folder: string, context: NodeContext): Field {
  const isCapitalized = fact.go === fact.json.charAt(0).toUpperCase() + fact.json.slice(1)
  return {
    json: fact.json,
    ...(isCapitalized ? {} : { goName: fact.go }),
    type: typeNode(fact.type, folder, context),
    pointer: fact.pointer ?? false,
    optional: fact.optional ?? false,
    required: fact.required ?? false,
    omitEmpty: fact.omitempty ?? false,
    ...(fact.zero === undefined ? {} : { zero: fact.zero as JsonValue }),
    ...(fact.default === undefined ? {} : { default: fact.default as JsonValue }),
    ...(fact.proto === undefined ? {} : { proto: protoField(fact.proto) }),
    ...(fact.patchStrategy === undefined ? {} : { patchStrategy: fact.patchStrategy }),
    ...(fact.patchMergeKey === undefined ? {} : { patchMergeKey: fact.patchMergeKey }),
    ...(fact.listType === undefined ? {} : { listType: fact.listType }),
    ...(fact.listMapKeys === undefined ? {} : { listMapKeys: fact.listMapKeys }),
    ...(fact.mapType === undefined ? {} : { mapType: fact.mapType }),
    ...(fact.structType === undefined ? {} : { structType: fact.structType }),
    ...(fact.featureGate === undefined ? {} : { featureGates: fact.featureGate }),
    ...(fact.noDoc ? { noDoc: true } : {}),
    ...(fact.unionDiscriminator ? { unionDiscriminator: true } : {}),
    ...(fact.oneOf ? { oneOf: true } : {}),
  }
}

function protoField(facts: ProtoFacts): NonNullable<Field['proto']> {
  return {
    number: facts.number,
    wire: facts.type,
    repeated: facts.rep === 'rep',
    ...(facts.name === undefined ? {} : { name: facts.name }),
    ...(facts.map === undefined ? {} : { map: facts.map }),
  }
}
