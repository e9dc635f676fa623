import { type ApiObject, type DeepReadonly, type Features, formatApiVersion, type NamingProfile } from '@krmkit/meta'
import { type Convert, conversionBetween } from '../conversions/index.ts'
import { compareVersions, profileGroup } from '../groups.ts'
import type { KindInfo, Printer, ResourceDefinition, ResourceInfo, Strategy } from '../interfaces.ts'
import type { RuledKind } from '../marker-rules/group-rules.ts'
import { strategies } from '../strategies/index.ts'
import type { EmulatedRelease } from './emulated-release.ts'
import type { CatalogFacts, VersionFacts } from './facts.ts'
import type { KindIndex } from './kind-infos.ts'
import { builtInPrinter, mappedPrinter } from './load-printer.ts'
import { resourceGateEnabled } from './resource-gates.ts'
import { resourceInfos, subresourceRelease } from './resources.ts'
import type { RuntimeConfig } from './runtime-config.ts'
import { type StorageLocation, storageLocation } from './storage.ts'

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
  /** Of the served release. */
  readonly facts: CatalogFacts
  /** Of the release that is served by default, which determines how objects are stored. */
  readonly newest: CatalogFacts
  readonly kinds: KindIndex
  readonly config: RuntimeConfig
  readonly profile: NamingProfile
  readonly features?: Features
  readonly emulated?: EmulatedRelease
  /** Definitions of storage versions that are not served, by `group/resource`. */
  readonly hubs: Map<string, ResourceDefinition>
}

/** The served definitions, by plural. */
export function versionDefinitions(at: FolderVersion, sources: Sources): ResourceDefinition[] {
  const { facts } = sources
  const version = facts[at.folder]!.versions[at.version]!
  const infos = resourceInfos(facts, at, version)
  return infos
    .filter(({ name }) => !name.includes('/') && isServed(at, name, sources))
    .map((resource) => definition(at, { resource, infos, sources }))
}

/** Whether a resource is in the release and enabled. */
function isServed({ group, version, folder, stock }: FolderVersion, name: string, sources: Sources): boolean {
  const { facts, kinds, config, features } = sources
  const own = facts[folder]?.versions[version]
  const resource = own !== undefined && Object.hasOwn(own.resources, name) ? own.resources[name] : undefined
  if (own === undefined || resource === undefined || resource.gone === true) return false
  if (resource.later === true) return isServedEarly({ group, version, folder, stock }, name, sources)
  if (!config.enabled(group, version, name, resource.enabled ?? own.enabled ?? false)) return false
  if (features !== undefined && !resourceGateEnabled(stock, name, features)) return false
  return existsIn(kinds.find({ group, version, kind: resource.kind }), features)
}

/** Whether an emulated release serves a resource that is younger than itself. */
function isServedEarly(at: FolderVersion, name: string, sources: Sources): boolean {
  const { facts, config, emulated, features } = sources
  const { group, version, folder, stock } = at
  if (features !== undefined && !resourceGateEnabled(stock, name, features)) return false
  const isNamed = config.named.some((key) => key === `${group}/${version}` || key === `${group}/${version}/${name}`)
  if (isNamed && !config.enabled(group, version, name, false)) return false
  if (isNamed && emulated?.runtimeConfigForwardCompatible === true) return true
  if (emulated?.forwardCompatible !== true) return false
  return Object.keys(facts[folder]?.versions ?? {}).some((lower) => {
    if (compareVersions(version, lower, stock) >= 0 || /alpha\d+$/.test(lower)) return false
    const resource = facts[folder]?.versions[lower]?.resources[name]
    return resource !== undefined && resource.later !== true && isServed({ ...at, version: lower }, name, sources)
  })
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
  const { kinds, features, profile, emulated } = sources
  const subresources = infos.filter(({ name }) => {
    if (!name.startsWith(`${resource.name}/`)) return false
    if (features === undefined) return true
    const release = subresourceRelease({ ...at, group: at.stock }, name)
    return (release === undefined || features.release.atLeast(release)) && resourceGateEnabled(at.stock, name, features)
  })
  const location = locationOf(at, resource.name, sources)
  const announced = emulated?.storageVersion(at.stock, resource.name)
  const storage = {
    ...location,
    group: profileGroup(location.group, profile),
    prefix: profileGroup(location.prefix, profile),
    ...(announced === undefined || announced === location.version ? {} : { announced }),
  }
  const kind = kinds.find(resource.kind)!
  const own = { group: at.group, version: at.version, kind: kind.kind }
  const stored = { group: storage.group, version: storage.version, kind: kind.kind }
  const general = strategyOf(kind.kind, at.stock, location.group)
  const storedType = () => (kinds.find(stored) ?? kind).type()
  const strategy = emulated === undefined ? general : emulated.strategy(general, { kind: own, stored: storedType, profile })
  const ruled = { folder: at.folder, version: at.version, kind: kind.kind }
  const release = emulated === undefined ? {} : { release: emulated.release, ...rulesOf(ruled, emulated) }
  const common = { group: at.group, version: at.version, resource, kind, subresources, storage, ...release }
  if (storage.group === at.group && storage.version === at.version) return { ...common, strategy }
  const toStorage = emulated?.conversion(own, stored, profile) ?? conversionBetween(own, stored, profile)
  const fromStorage = emulated?.conversion(stored, own, profile) ?? conversionBetween(stored, own, profile)
  const apiVersion = formatApiVersion(own)
  const printer =
    strategy.printer && mappedPrinter(strategy.printer, (each) => printerForVersions(each, { apiVersion, toStorage }))
  const storedAs = hubOf(at, { ...common, strategy }, sources)
  return {
    ...{ ...common, toStorage, fromStorage },
    strategy: printer === undefined ? strategy : { ...strategy, printer },
    ...(storedAs === undefined ? {} : { storedAs }),
  }
}

function rulesOf(kind: RuledKind, emulated: EmulatedRelease): Pick<ResourceDefinition, 'markerRules'> {
  const markerRules = emulated.markerRules?.(kind)
  return markerRules === undefined ? {} : { markerRules }
}

/** The release that is served by default determines where objects are stored; kinds that it lacks are stored as their best version. */
function locationOf({ folder, stock }: FolderVersion, resource: string, { facts, newest }: Sources): StorageLocation {
  const versions = versionsWith(newest[folder]?.versions ?? {}, resource)
  return storageLocation(stock, resource, versions.length > 0 ? versions : versionsWith(facts[folder]!.versions, resource))
}

/** The definition of the storage version, if it is not served itself: the server reads and writes stored objects through it. */
function hubOf(at: FolderVersion, served: ResourceDefinition, sources: Sources): ResourceDefinition | undefined {
  const { kinds, hubs, profile, emulated } = sources
  const { group, version } = served.storage
  const name = served.resource.name
  if (group !== at.group || isServed({ ...at, version }, name, sources)) return undefined
  const key = `${group}/${name}`
  const known = hubs.get(key)
  if (known !== undefined) return known
  const kind = kinds.find({ group, version, kind: served.kind.kind })
  if (kind === undefined) return undefined
  const general = strategyOf(kind.kind, at.stock, at.stock)
  const hub: ResourceDefinition = {
    group,
    version,
    kind,
    storage: served.storage,
    ...(served.release === undefined ? {} : { release: served.release }),
    resource: { ...served.resource, kind: { group, version, kind: kind.kind } },
    subresources: served.subresources.map((each) => {
      return each.kind.kind === kind.kind ? { ...each, kind: { group, version, kind: kind.kind } } : each
    }),
    strategy: emulated === undefined ? general : emulated.strategy(general, { kind, stored: kind.type, profile }),
  }
  hubs.set(key, hub)
  return hub
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
  return { printer: builtInPrinter(`${storageGroup}/${kind}`), ...strategy }
}
