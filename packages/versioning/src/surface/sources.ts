import { createCatalog, type KindLifecycle, type ResourceDefinition } from '@krmkit/kinds'
import { formerConversion } from '@krmkit/kinds/former-versions'
import { emulateRelease, typesAt } from '@krmkit/kinds/releases'
import { type ApiObject, createFeatures, isJsonObject, type JsonObject } from '@krmkit/meta'
import { kindStateAt } from '../kind-lifecycle.ts'
import { keyOf, lifecycleTable } from '../lifecycle-table.ts'
import { compareReleases } from '../release.ts'
import { isGone, newestRelease } from '../replacements.ts'
import type { ApiSurface, SurfaceKind } from './interfaces.ts'
import { type Resolve, schemaOfOpenApi, schemaOfType } from './schemas.ts'

/** Creates surfaces of releases, OpenAPI documents, custom resource definitions and control planes. */

/**
 * Returns the kinds that a release of Kubernetes serves, with their deprecations. From 1.21 on the fields of resources are
 * included.
 *
 * @throws VersioningError `InvalidRelease`
 * @example
 * import { surfaceOfRelease } from '@krmkit/versioning/surface'
 * surfaceOfRelease('1.24').kinds.some(({ kind }) => kind === 'PodSecurityPolicy') // true
 */
export function surfaceOfRelease(release: string): ApiSurface {
  const resources = resourcesOfRelease(release)
  const kinds = lifecycleTable().all.flatMap((lifecycle): SurfaceKind[] => {
    const { phase } = kindStateAt(lifecycle, release)
    if (isGone(lifecycle, release) || (phase === 'future' && !hasType(lifecycle, release))) return []
    const { group, version, kind, introduced, list } = lifecycle
    // Kinds of request bodies without a recorded lifecycle.
    if (introduced === null && list === null) return []
    return [{ group, version, kind, ...deprecationAt(lifecycle, release), ...resources.get(keyOf(lifecycle)) }]
  })
  return { name: `release:${release}`, release, kinds }
}

/** First release whose fields are recorded. */
const firstWithFields = '1.21'

/** Schemas and storage versions of the resources of a release, by key. */
function resourcesOfRelease(release: string): ReadonlyMap<string, Pick<SurfaceKind, 'schema' | 'storage'>> {
  const isRecorded = compareReleases(release, firstWithFields) >= 0 && compareReleases(release, newestRelease) <= 0
  if (!isRecorded) return new Map()
  const features = createFeatures(release)
  const emulated = emulateRelease(features)
  const catalog = createCatalog({ features, types: typesAt(release), emulated, runtimeConfig: 'api/all=true' })
  return new Map(
    surfaceOfDefinitions(catalog.definitions, release).kinds.map(({ schema, storage, ...gvk }) => [
      keyOf(gvk),
      { ...(schema === undefined ? {} : { schema }), ...(storage === undefined ? {} : { storage }) },
    ]),
  )
}

function hasType({ typesFirst }: KindLifecycle, release: string): boolean {
  return typesFirst !== null && compareReleases(typesFirst, release) <= 0
}

function deprecationAt({ deprecated, replacement, group }: KindLifecycle, release: string): Partial<SurfaceKind> {
  const since = deprecated !== null && compareReleases(deprecated, release) <= 0 ? deprecated : undefined
  const [inGroup, version] = replacement?.split(',') ?? []
  return {
    ...(since === undefined ? {} : { deprecated: true, deprecatedSince: since }),
    ...(version === undefined || inGroup !== group ? {} : { replacement: version }),
  }
}

/**
 * Returns the kinds of an OpenAPI document of version 2 or 3. Documents of Kubernetes contain their release, for which the
 * recorded deprecations are added.
 *
 * @example
 * import { surfaceOfOpenApi } from '@krmkit/versioning/surface'
 * const gvk = [{ group: 'example.com', version: 'v1', kind: 'Widget' }]
 * const Widget = { type: 'object', properties: { size: { type: 'integer' } }, 'x-kubernetes-group-version-kind': gvk }
 * surfaceOfOpenApi({ swagger: '2.0', definitions: { Widget } }, 'api.json').kinds.length // 1
 */
export function surfaceOfOpenApi(document: JsonObject, name: string): ApiSurface {
  const { components, definitions, info } = document
  const inComponents = isJsonObject(components) ? components['schemas'] : undefined
  const schemas = isJsonObject(definitions) ? definitions : isJsonObject(inComponents) ? inComponents : {}
  const resolve: Resolve = (reference) => {
    const target = schemas[reference.slice(reference.lastIndexOf('/') + 1)]
    return isJsonObject(target) ? target : undefined
  }
  const release = isJsonObject(info) && info['title'] === 'Kubernetes' ? releaseOf(info['version']) : undefined
  const kinds = Object.entries(schemas).flatMap(([key, schema]): SurfaceKind[] => {
    const gvks = isJsonObject(schema) ? schema['x-kubernetes-group-version-kind'] : undefined
    const [only] = Array.isArray(gvks) && gvks.length === 1 ? gvks : []
    if (!isJsonObject(only) || isList(schema)) return []
    const [group, version, kind] = [only['group'], only['version'], only['kind']].map((each) => String(each ?? ''))
    if (group === undefined || version === undefined || kind === undefined) return []
    const lifecycle = lifecycleTable().find({ group, version, kind })
    const facts = lifecycle === undefined || release === undefined ? {} : deprecationAt(lifecycle, release)
    return [{ group, version, kind, ...facts, schema: { ...schemaOfOpenApi(schema, resolve), name: key } }]
  })
  return { name, kinds, ...(release === undefined ? {} : { release }) }
}

function releaseOf(version: unknown): string | undefined {
  return typeof version === 'string' ? /^v?(\d+\.\d+)/.exec(version)?.[1] : undefined
}

function isList(schema: unknown): boolean {
  const properties = isJsonObject(schema) ? schema['properties'] : undefined
  return isJsonObject(properties) && 'items' in properties && 'metadata' in properties && !('spec' in properties)
}

/**
 * Returns the kinds that CustomResourceDefinitions serve, `v1` or `v1beta1`. Other objects are ignored.
 *
 * @param objects parsed manifests.
 * @example
 * import { surfaceOfCustomResources } from '@krmkit/versioning/surface'
 * const names = { kind: 'Widget', plural: 'widgets' }
 * const versions = [{ name: 'v1', served: true, storage: true }]
 * const definition = {
 *   apiVersion: 'apiextensions.k8s.io/v1',
 *   kind: 'CustomResourceDefinition',
 *   spec: { group: 'example.com', names, versions },
 * }
 * surfaceOfCustomResources([definition], 'crds/').kinds.map(({ version }) => version) // [ 'v1' ]
 */
export function surfaceOfCustomResources(objects: readonly unknown[], name: string): ApiSurface {
  return { name, kinds: objects.flatMap(kindsOfDefinition) }
}

function kindsOfDefinition(object: unknown): SurfaceKind[] {
  if (!isJsonObject(object) || object['kind'] !== 'CustomResourceDefinition') return []
  const spec = currentDefinition(object)['spec']
  if (!isJsonObject(spec)) return []
  const { group, names, versions, conversion } = spec
  const kind = isJsonObject(names) ? names['kind'] : undefined
  if (typeof group !== 'string' || typeof kind !== 'string' || !Array.isArray(versions)) return []
  const strategy = isJsonObject(conversion) ? conversion['strategy'] : undefined
  const keepsAll = spec['preserveUnknownFields'] === true
  return versions.filter(isJsonObject).flatMap((version): SurfaceKind[] => {
    if (version['served'] === false || typeof version['name'] !== 'string') return []
    const given = version['schema']
    const schema = schemaOfOpenApi(isJsonObject(given) ? given['openAPIV3Schema'] : undefined, () => undefined)
    return [
      {
        group,
        version: version['name'],
        kind,
        storage: version['storage'] === true,
        deprecated: version['deprecated'] === true,
        convertedByName: strategy !== 'Webhook',
        schema: keepsAll ? { ...schema, open: true } : schema,
      },
    ]
  })
}

function currentDefinition(object: JsonObject): JsonObject {
  const gvk = (version: string) => ({ group: 'apiextensions.k8s.io', version, kind: 'CustomResourceDefinition' })
  if (object['apiVersion'] !== 'apiextensions.k8s.io/v1beta1') return object
  const convert = formerConversion(gvk('v1beta1'), gvk('v1'))
  return convert === undefined ? object : (convert(object as unknown as ApiObject) as unknown as JsonObject)
}

/**
 * Returns the kinds that a control plane serves, from its resource definitions.
 *
 * @example
 * import { createCatalog } from '@krmkit/kinds'
 * import { surfaceOfDefinitions } from '@krmkit/versioning/surface'
 * surfaceOfDefinitions(createCatalog().definitions, 'own').kinds.some(({ kind }) => kind === 'Pod') // true
 */
export function surfaceOfDefinitions(definitions: readonly ResourceDefinition[], name: string): ApiSurface {
  const kinds = definitions.map((definition): SurfaceKind => {
    const { group, version, kind, storage, custom } = definition
    const schema =
      custom === undefined
        ? schemaOfType(kind.type())
        : { ...schemaOfOpenApi(custom.schema, () => undefined), ...(custom.preserveUnknownFields === true ? { open: true } : {}) }
    return {
      group,
      version,
      kind: kind.kind,
      storage: storage.group === group && storage.version === version,
      ...(kind.deprecated === undefined && definition.deprecationWarning === undefined ? {} : { deprecated: true }),
      ...(kind.deprecated === undefined ? {} : { deprecatedSince: kind.deprecated }),
      ...(kind.replacement?.group === group ? { replacement: kind.replacement.version } : {}),
      schema,
    }
  })
  return { name, kinds }
}

/**
 * Joins surfaces, for example of the documents of a folder. A kind of a later surface replaces the same kind of an earlier
 * one.
 *
 * @example
 * import { joinSurfaces, surfaceOfRelease } from '@krmkit/versioning/surface'
 * joinSurfaces([surfaceOfRelease('1.32'), surfaceOfRelease('1.33')], 'both').release // undefined
 */
export function joinSurfaces(surfaces: readonly ApiSurface[], name: string): ApiSurface {
  const kinds = new Map(
    surfaces.flatMap((surface) => surface.kinds.map((kind) => [`${kind.group}/${kind.version} ${kind.kind}`, kind])),
  )
  const elements = surfaces.flatMap((surface) => surface.elements ?? [])
  const releases = new Set(surfaces.flatMap(({ release }) => (release === undefined ? [] : [release])))
  const [release] = releases
  return {
    name,
    kinds: [...kinds.values()],
    ...(elements.length === 0 ? {} : { elements }),
    ...(releases.size === 1 && release !== undefined ? { release } : {}),
  }
}
