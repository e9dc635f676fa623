import { type ApiObject, type DeepReadonly, type Features, formatApiVersion, type NamingProfile } from '@krmkit/meta'
import { type Convert, conversionBetween } from '../conversions/index.ts'
import type { KindInfo, Printer, ResourceDefinition, ResourceInfo, Strategy } from '../interfaces.ts'
import { printers } from '../printers/index.ts'
import { strategies } from '../strategies/index.ts'
import type { CatalogFacts, VersionFacts } from './facts.ts'
import { profileGroup } from './groups.ts'
import type { KindIndex } from './kind-infos.ts'
import { resourceInfos, subresourceRelease } from './resources.ts'
import type { RuntimeConfig } from './runtime-config.ts'
import { storageLocation } from './storage.ts'

/** Resource definitions: one for each plural of a group version, with its facts, strategy, storage location and conversions. */

/** A group version and the folder of its facts. */
export interface FolderVersion {
  readonly group: string
  readonly version: string
  readonly folder: string
  /** The stock name of the group. */
  readonly stock: string
}

/** The inputs of definitions. */
export interface Sources {
  readonly facts: CatalogFacts
  readonly kinds: KindIndex
  readonly config: RuntimeConfig
  readonly profile: NamingProfile
  readonly features?: Features
}

/** The served definitions, by plural. */
export function versionDefinitions(at: FolderVersion, sources: Sources): ResourceDefinition[] {
  const { facts, config } = sources
  const version = facts[at.folder]!.versions[at.version]!
  const infos = resourceInfos(facts, at, version)
  return infos
    .filter(({ name }) => !name.includes('/') && config.enabled(at.group, at.version, name, version.enabled ?? false))
    .filter(({ kind }) => existsIn(sources.kinds.find(kind), sources.features))
    .map((resource) => definition(at, { resource, infos, sources }))
}

function existsIn(kind: KindInfo | undefined, features: Features | undefined): boolean {
  if (kind === undefined) return false
  if (features === undefined) return true
  const introduced = kind.introduced === undefined || features.release.atLeast(kind.introduced)
  return introduced && (kind.removed === undefined || !features.release.atLeast(kind.removed))
}

interface DefinitionParts {
  readonly resource: ResourceInfo
  /** All resources of the group version. */
  readonly infos: readonly ResourceInfo[]
  readonly sources: Sources
}

function definition(at: FolderVersion, { resource, infos, sources }: DefinitionParts): ResourceDefinition {
  const { facts, kinds, features, profile } = sources
  const subresources = infos.filter(({ name }) => {
    const release = subresourceRelease({ ...at, group: at.stock }, name)
    return (
      name.startsWith(`${resource.name}/`) &&
      (release === undefined || features === undefined || features.release.atLeast(release))
    )
  })
  const location = storageLocation(at.stock, resource.name, versionsWith(facts[at.folder]!.versions, resource.name))
  const storage = { ...location, group: profileGroup(location.group, profile), prefix: profileGroup(location.prefix, profile) }
  const kind = kinds.find(resource.kind)!
  const own = { group: at.group, version: at.version, kind: kind.kind }
  const stored = { group: storage.group, version: storage.version, kind: kind.kind }
  const strategy = strategyOf(kind.kind, at.stock, location.group)
  const common = { group: at.group, version: at.version, resource, kind, subresources, storage }
  if (storage.group === at.group && storage.version === at.version) return { ...common, strategy }
  const toStorage = conversionBetween(own, stored, profile)
  const fromStorage = conversionBetween(stored, own, profile)
  const printer = strategy.printer && printerForVersions(strategy.printer, { apiVersion: formatApiVersion(own), toStorage })
  return { ...common, strategy: printer === undefined ? strategy : { ...strategy, printer }, toStorage, fromStorage }
}

interface OwnVersion {
  readonly apiVersion: string
  readonly toStorage: Convert
}

/** Prints objects of the served version as well: they are converted to the storage version, which printers take. */
function printerForVersions({ columns, cells, conditions, compare }: Printer, { apiVersion, toStorage }: OwnVersion): Printer {
  const toStored = (object: DeepReadonly<ApiObject>) => {
    return object.apiVersion === apiVersion ? (toStorage(object) as DeepReadonly<ApiObject>) : object
  }
  return {
    columns,
    cells: (object, options) => cells(toStored(object), options),
    ...(conditions === undefined ? {} : { conditions: (object) => conditions(toStored(object)) }),
    ...(compare === undefined ? {} : { compare: (a, b) => compare(toStored(a), toStored(b)) }),
  }
}

function versionsWith(versions: Readonly<Record<string, VersionFacts>>, resource: string): string[] {
  return Object.entries(versions)
    .filter(([, { resources }]) => Object.hasOwn(resources, resource) && !resources[resource]!.gone)
    .map(([version]) => version)
}

/** A group that serves the objects of another group may have a strategy for them; both see the storage version. */
function strategyOf(kind: string, group: string, storageGroup: string): Strategy {
  const strategy = strategies[`${group}/${kind}`] ?? strategies[`${storageGroup}/${kind}`] ?? {}
  const printer = printers[`${storageGroup}/${kind}`]
  return printer === undefined ? strategy : { printer, ...strategy }
}
