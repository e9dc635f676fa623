import { type Features, type GroupVersionKind, type GroupVersionResource, type NamingProfile, stockProfile } from '@krmkit/meta'
import { createTypeSource, type FactsSource, type TypeSource } from '@krmkit/schema'
import { compareGroups, compareVersions, stockGroup } from '../groups.ts'
import type { KindInfo, ResourceDefinition } from '../interfaces.ts'
import { KindsError } from '../kinds-error.ts'
import { type FolderVersion, type Sources, versionDefinitions } from './definitions.ts'
import type { EmulatedRelease } from './emulated-release.ts'
import { type CatalogFacts, factsOf, readStockFacts } from './facts.ts'
import { createKindIndex } from './kind-infos.ts'
import { modelTexts } from './model-texts.ts'
import { parseRuntimeConfig, type RuntimeConfig } from './runtime-config.ts'

/** The catalog of served resources, by resource and by kind. */

export interface CatalogOptions {
  /** Text or pairs of `--runtime-config`, or the parsed form. Default: what kube-apiserver enables by default. */
  readonly runtimeConfig?: string | Readonly<Record<string, boolean | string>> | RuntimeConfig
  /** Leaves out what was introduced after, or removed by, the release. Default: everything of the newest release. */
  readonly features?: Features
  /**
   * Serves what another release does: `emulateRelease` of `@krmkit/kinds/releases`, with the types of the release. Default: nothing that 1.33
   * does not have.
   */
  readonly emulated?: EmulatedRelease
  /** Source of the types. Default: `builtInTypes(profile)`. */
  readonly types?: TypeSource
  /** Spelling of groups and annotations. Default: the stock names. */
  readonly profile?: NamingProfile
}

/** A served group, with its versions from the most to the least preferred. */
export interface CatalogGroup {
  readonly group: string
  readonly versions: readonly string[]
}

export interface Catalog {
  readonly types: TypeSource
  /** In discovery order: by group, version, then plural. */
  readonly definitions: readonly ResourceDefinition[]
  /** In discovery order; the core group is sorted in by its priority. */
  readonly groups: readonly CatalogGroup[]
  /** The definition of a plural; undefined if it is not served. */
  resource(gvr: GroupVersionResource): ResourceDefinition | undefined
  /** The definition that serves objects of a kind; undefined if none does. */
  serving(gvk: GroupVersionKind): ResourceDefinition | undefined
  /** Any known kind, served or not: bodies of sub-resources, options, Status, Table. */
  kind(gvk: GroupVersionKind): KindInfo | undefined
}

/**
 * Returns the types of all built-in kinds. Cheap: a group is parsed on the first use of one of its types.
 *
 * @param profile spelling of the groups. Default: the stock names.
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * const configMap = builtInTypes().struct('core/v1.ConfigMap')
 * configMap.fields.map(({ json }) => json) // [ 'kind', 'apiVersion', 'metadata', 'immutable', 'data', 'binaryData' ]
 */
export function builtInTypes(profile: NamingProfile = stockProfile): FactsSource {
  return createTypeSource(modelTexts(profile))
}

/**
 * Returns the resources that kube-apiserver serves by default, each with its strategy. Parses no type.
 *
 * @example
 * import { z } from 'zod'
 * import { createApiServer } from '@krmkit/apiserver'
 * import { builtInKinds, defineResource } from '@krmkit/kinds'
 * import { memoryStorage } from '@krmkit/storage'
 * const schema = z.object({ spec: z.object({ size: z.number() }) })
 * const Widget = defineResource({ group: 'shop.example.com', kind: 'Widget', versions: { v1: { schema } } })
 * const server = await createApiServer({ storage: memoryStorage(), kinds: [...builtInKinds(), Widget] })
 */
export function builtInKinds(options: CatalogOptions = {}): readonly ResourceDefinition[] {
  return createCatalog(options).definitions
}

/**
 * Creates the catalog of the resources to serve.
 *
 * @throws KindsError `InvalidRuntimeConfig` when the configuration cannot be parsed or names an unknown group version.
 * @example
 * import { createCatalog } from '@krmkit/kinds'
 * const catalog = createCatalog({ runtimeConfig: 'batch/v1/cronjobs=false' })
 * catalog.resource({ group: '', version: 'v1', resource: 'pods' })?.storage.prefix // 'pods'
 * catalog.resource({ group: 'batch', version: 'v1', resource: 'cronjobs' }) // undefined
 */
export function createCatalog(options: CatalogOptions = {}): Catalog {
  const profile = options.profile ?? stockProfile
  const stock = readStockFacts()
  const newest = factsOf(stock, profile)
  const facts = options.emulated === undefined ? newest : factsOf(options.emulated.facts(stock), profile)
  const types = options.types ?? builtInTypes(profile)
  const kinds = createKindIndex(facts, { types, profile })
  const config = runtimeConfigOf(options.runtimeConfig ?? {})
  assertKnownVersions(facts, config)
  const { features, emulated } = options
  const sources: Sources = {
    ...{ facts, newest, kinds, config, profile, hubs: new Map() },
    ...(features === undefined ? {} : { features }),
    ...(emulated === undefined ? {} : { emulated }),
  }
  const definitions = allVersions(facts, profile).flatMap((at) => versionDefinitions(at, sources))
  const byResource = new Map(definitions.map((each) => [`${each.group}/${each.version}/${each.resource.name}`, each]))
  const byKind = new Map(definitions.map((each) => [gvkKey(each.kind), each]))
  return {
    types,
    definitions,
    groups: groupsOf(definitions),
    resource: ({ group, version, resource }) => byResource.get(`${group}/${version}/${resource}`),
    serving: (gvk) => byKind.get(gvkKey(gvk)),
    kind: (gvk) => kinds.find(gvk),
  }
}

function runtimeConfigOf(config: NonNullable<CatalogOptions['runtimeConfig']>): RuntimeConfig {
  return typeof config === 'object' && 'enabled' in config && typeof config.enabled === 'function'
    ? (config as RuntimeConfig)
    : parseRuntimeConfig(config as string | Readonly<Record<string, boolean | string>>)
}

function assertKnownVersions(facts: CatalogFacts, config: RuntimeConfig): void {
  const known = new Map(Object.values(facts).map(({ group, versions }) => [group, new Set(Object.keys(versions))]))
  const named = config.named.map((name) => name.split('/') as [string, string])
  const unknown = [...new Set(named.map(([group]) => group).filter((group) => !known.has(group)))]
  if (unknown.length > 0) {
    throw new KindsError({ code: 'InvalidRuntimeConfig', message: `unknown api groups ${unknown.sort().join(',')}` })
  }
  const missing = named.find(([group, version]) => known.get(group)?.has(version) !== true)
  if (missing !== undefined) {
    const [group, version] = missing
    const name = group === '' ? version : `${group}/${version}`
    throw new KindsError({ code: 'InvalidRuntimeConfig', message: `group version ${name} that has not been registered` })
  }
}

/** All known group versions, in discovery order. */
function allVersions(facts: CatalogFacts, profile: NamingProfile): FolderVersion[] {
  return Object.entries(facts)
    .flatMap(([folder, { group, versions }]) => {
      const stock = stockGroup(group, profile)
      return Object.keys(versions).map((version) => ({ group, version, folder, stock }))
    })
    .sort((a, b) => compareGroups(a.stock, b.stock) || compareVersions(a.version, b.version, a.stock))
}

function groupsOf(definitions: readonly ResourceDefinition[]): CatalogGroup[] {
  const groups = new Map<string, string[]>()
  for (const { group, version } of definitions) {
    const versions = groups.get(group) ?? []
    if (!versions.includes(version)) versions.push(version)
    groups.set(group, versions)
  }
  return [...groups].map(([group, versions]) => ({ group, versions }))
}

function gvkKey({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}/${kind}`
}
