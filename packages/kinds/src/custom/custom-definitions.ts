import { type ApiObject, type DeepReadonly, formatApiVersion, type GroupVersionKind, type JsonObject } from '@krmkit/meta'
import { type CustomCodec, createCustomType, type StructType } from '@krmkit/schema'
import { compareVersions } from '../groups.ts'
import type { KindInfo, ResourceDefinition, ResourceInfo } from '../interfaces.ts'
import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from '../types/apiextensions-v1.generated.ts'
import { customStrategy } from './custom-strategy.ts'
import { type ObjectConverter, objectConversion } from './object-converter.ts'
import * as direct from './served-version.direct.ts'
import { readAs, type ServedVersion } from './served-version.ts'

/** Resource definitions from a CustomResourceDefinition. */

type Frozen = DeepReadonly<ApiObject>
type Definition = DeepReadonly<CustomResourceDefinition>
type Version = DeepReadonly<CustomResourceDefinitionVersion>

export interface CustomDefinitionOptions {
  /** `meta/v1.ObjectMeta` */
  readonly objectMeta: StructType
  /** Includes versions that are not served. Default false. */
  readonly unserved?: boolean
  /** Converts between versions. Absent: versions differ only in their apiVersion. */
  readonly converter?: ObjectConverter
  /** See `CustomForm`. */
  readonly edition?: object
}

/**
 * Returns one definition for each served version of a CustomResourceDefinition whose names are accepted, in its order. The
 * definition must be valid, as a stored one is.
 *
 * @example
 * import type { CustomResourceDefinition } from '@krmkit/kinds/apiextensions/v1'
 * import { builtInTypes } from '@krmkit/kinds'
 * import { customDefinitions } from '@krmkit/kinds/custom-resources'
 * const schema = { openAPIV3Schema: { type: 'object' } }
 * const widgets: CustomResourceDefinition = {
 *   apiVersion: 'apiextensions.k8s.io/v1',
 *   kind: 'CustomResourceDefinition',
 *   metadata: { name: 'widgets.shop.example.com' },
 *   spec: {
 *     group: 'shop.example.com',
 *     names: { plural: 'widgets', kind: 'Widget' },
 *     scope: 'Namespaced',
 *     versions: [{ name: 'v1', served: true, storage: true, schema }],
 *   },
 * }
 * const definitions = customDefinitions(widgets, { objectMeta: builtInTypes().struct('meta/v1.ObjectMeta') })
 * definitions.map(({ resource }) => resource.name) // [ 'widgets' ]
 */
export function customDefinitions(definition: Definition, options: CustomDefinitionOptions): ResourceDefinition[] {
  const { spec } = definition
  const names = { ...spec.names, ...definition.status?.acceptedNames }
  const versions = spec.versions ?? []
  const stored = versions.find(({ storage }) => storage) ?? versions[0]
  if (stored === undefined) return []
  const kinds = new Map(
    versions.map((version) => [
      formatApiVersion({ group: spec.group, version: version.name }),
      kindOf(definition, names, version, options),
    ]),
  )
  const terminating =
    definition.metadata.deletionTimestamp !== undefined &&
    (definition.status?.conditions ?? []).some(({ type, status }) => type === 'Terminating' && status === 'True')
  const definitionAt = (version: Version) => definitionOf({ definition, names, version, stored, kinds, terminating, options })
  const isShown = ({ served }: Version) => served || options.unserved === true
  const hub = isShown(stored) ? {} : { storedAs: definitionAt(stored) }
  return versions.filter(isShown).map((version) => ({ ...definitionAt(version), ...hub }))
}

function kindOf(
  { spec }: Definition,
  names: Definition['spec']['names'],
  version: Version,
  { objectMeta }: CustomDefinitionOptions,
): KindInfo {
  const gvk = { group: spec.group, version: version.name, kind: names.kind }
  let type: StructType | undefined
  const schema = version.schema?.openAPIV3Schema as JsonObject | undefined
  return {
    ...gvk,
    listKind: listKindOf(names),
    namespaced: spec.scope === 'Namespaced',
    type: () => {
      type ??= createCustomType({ kind: gvk, schema, preserveUnknownFields: spec.preserveUnknownFields, objectMeta })
      return type
    },
  }
}

function listKindOf({ kind, listKind }: Definition['spec']['names']): string {
  return listKind === undefined || listKind === '' ? `${kind}List` : listKind
}

/** Names the newest version that is not deprecated, if it is newer than this one. */
function deprecationText({ group, version, kind }: GroupVersionKind, versions: readonly Version[]): string {
  const newer = versions.filter(
    ({ name, served, deprecated }) => served && deprecated !== true && compareVersions(name, version) < 0,
  )
  const [newest] = newer.map(({ name }) => name).sort(compareVersions)
  return `${group}/${version} ${kind} is deprecated${newest === undefined ? '' : `; use ${group}/${newest} ${kind}`}`
}

interface DefinitionParts {
  readonly definition: Definition
  readonly names: Definition['spec']['names']
  readonly version: Version
  readonly stored: Version
  /** By apiVersion. */
  readonly kinds: ReadonlyMap<string, KindInfo>
  /** Instances are being deleted; none can be created. */
  readonly terminating: boolean
  readonly options: CustomDefinitionOptions
}

const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
const terminatingVerbs = ['delete', 'deletecollection', 'get', 'list', 'watch']
const subresourceVerbs = ['get', 'patch', 'update']

/** Conversion of stored objects to a version that differs from others only in its schema. */
function storedConversion(target: ServedVersion): Required<Pick<ResourceDefinition, 'fromStorage' | 'paced'>> {
  // Large objects are converted once, in slices; their conversions live as long as they do.
  const converted = new WeakMap<Frozen, ApiObject>()
  return {
    fromStorage: (object) => converted.get(object) ?? direct.readAs(object, target),
    paced: {
      *fromStorage(object) {
        const shown = converted.get(object) ?? (yield* readAs(object, target))
        if (Object.isFrozen(object)) converted.set(object, shown)
        return shown
      },
    },
  }
}

function definitionOf({ definition, names, version, stored, kinds, terminating, options }: DefinitionParts): ResourceDefinition {
  const { spec } = definition
  const { converter, edition } = options
  const { group } = spec
  const apiVersion = formatApiVersion({ group, version: version.name })
  const storedVersion = formatApiVersion({ group, version: stored.name })
  const kind = kinds.get(apiVersion) as KindInfo
  const gvk = { group, version: version.name, kind: kind.kind }
  const schema = version.schema?.openAPIV3Schema as JsonObject | undefined
  const codec = () => kind.type().custom as CustomCodec
  const { namespaced } = kind
  const common = { singularName: '', namespaced, verbs: subresourceVerbs, shortNames: [], categories: [] }
  const subresources: ResourceInfo[] = []
  if (version.subresources?.status !== undefined) subresources.push({ ...common, name: `${names.plural}/status`, kind: gvk })
  if (version.subresources?.scale !== undefined) {
    const scale = { group: 'autoscaling', version: 'v1', kind: 'Scale' }
    subresources.push({ ...common, name: `${names.plural}/scale`, kind: scale, virtual: true })
  }
  const { fromStorage, paced } = storedConversion({ apiVersion, kinds, codec })
  const conversion =
    converter === undefined || kinds.size < 2 ? undefined : objectConversion({ apiVersion, storedVersion, kinds, converter })
  const fields = (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath)
  const { deprecated, deprecationWarning } = version
  return {
    group,
    version: version.name,
    resource: {
      name: names.plural,
      singularName: names.singular ?? '',
      namespaced,
      kind: gvk,
      verbs: terminating ? terminatingVerbs : verbs,
      shortNames: [...(names.shortNames ?? [])],
      categories: [...(names.categories ?? [])],
    },
    kind,
    subresources,
    strategy: customStrategy({
      version,
      versions: spec.versions ?? [],
      apiVersion,
      namespaced,
      schema,
      codec,
      toServed: conversion === undefined ? fromStorage : (object) => object,
    }),
    storage: { group, version: stored.name, resource: names.plural },
    ...(conversion === undefined
      ? {
          toStorage: (object: Frozen) => ({ ...(object as ApiObject), apiVersion: storedVersion }),
          fromStorage,
          paced,
        }
      : { conversion }),
    custom: {
      kinds,
      ...(schema === undefined ? {} : { schema }),
      ...(edition === undefined ? {} : { edition }),
      ...(terminating ? { terminating: true } : {}),
      ...(spec.preserveUnknownFields === true ? { preserveUnknownFields: true } : {}),
      ...(fields.length === 0 ? {} : { selectableFields: fields }),
    },
    ...(deprecated === true ? { deprecationWarning: deprecationWarning ?? deprecationText(gvk, spec.versions ?? []) } : {}),
  }
}
