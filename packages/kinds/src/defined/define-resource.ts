import type { ApiObject, DeepReadonly, JsonObject } from '@krmkit/meta'
import { customDefinitions } from '../custom/custom-definitions.ts'
import type { ObjectConverter } from '../custom/object-converter.ts'
import {
  CustomResourceDefinition,
  type CustomResourceDefinitionStatus,
  type CustomResourceDefinitionVersion,
} from '../group-versions/apiextensions-v1.generated.ts'
import { compareVersions } from '../groups.ts'
import { KindsError } from '../kinds-error.ts'
import { checkDefinition, requireVersion } from './check-definition.ts'
import { withZodRules } from './defined-strategy.ts'
import type { DefinedKind, MemberSchema, ResourceOptions, StableVersion, VersionOptions, VersionTable } from './interfaces.ts'
import { structuralSchema } from './structural-schema.ts'

/**
 * Defines a resource by zod schemas: storage, validation, defaults, OpenAPI, `kubectl explain`, columns and the types of the
 * client.
 *
 * @throws KindsError `InvalidDefinition` for what a server would reject in a CustomResourceDefinition, or what JSON cannot
 * hold.
 * @example
 * import { z } from 'zod'
 * import { defineResource } from '@krmkit/kinds'
 * const Widget = defineResource({
 *   group: 'shop.example.com',
 *   kind: 'Widget',
 *   versions: { v1: { schema: z.object({ spec: z.object({ size: z.number().int().min(1) }) }) } },
 * })
 * Widget.resource // 'widgets'
 */
export function defineResource<const V extends VersionTable, S extends keyof V & string = StableVersion<V>>(
  options: ResourceOptions<V, S>,
): DefinedKind<V, S> {
  checkDefinition(options)
  const { group, kind, namespaced = true } = options
  const storageVersion = options.storageVersion ?? (Object.keys(options.versions).sort(compareVersions)[0] as string)
  const general = options as unknown as ResourceOptions<VersionTable>
  const manifest = manifestOf(general, storageVersion)
  // Rules are compiled for the first object.
  const errors = CustomResourceDefinition.validate(withoutRules(manifest) as CustomResourceDefinition)
  if (errors.length > 0) {
    const details = errors.map((error) => `${error.field}: ${error.message}`).join('; ')
    throw new KindsError({ code: 'InvalidDefinition', message: `invalid definition of ${kind}: ${details}` })
  }
  const resource = manifest.spec.names.plural
  const handle = (version: string) => ({ group, version, resource, kind, namespaced })
  const converter = converterOf(general, storageVersion)
  return {
    ...handle(storageVersion),
    at(version) {
      requireVersion(kind, version, Object.keys(options.versions))
      return handle(version)
    },
    toManifest: () => structuredClone(manifest),
    resources: (types) =>
      customDefinitions(withAcceptedNames(manifest), {
        objectMeta: types.struct('meta/v1.ObjectMeta'),
        ...(converter === undefined ? {} : { converter }),
      }).map((each) => withZodRules(each, general, storageVersion)),
  }
}

function manifestOf(options: ResourceOptions<VersionTable>, storageVersion: string): CustomResourceDefinition {
  const { group, kind, shortNames, categories, namespaced = true } = options
  const plural = options.plural ?? pluralOf(kind.toLowerCase())
  return CustomResourceDefinition.default(
    CustomResourceDefinition.create({
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: namespaced ? 'Namespaced' : 'Cluster',
        names: {
          plural,
          kind,
          singular: options.singular ?? kind.toLowerCase(),
          listKind: options.listKind ?? `${kind}List`,
          ...(shortNames === undefined ? {} : { shortNames: [...shortNames] }),
          ...(categories === undefined ? {} : { categories: [...categories] }),
        },
        versions: Object.entries(options.versions).map(([name, version]) => versionOf(name, version, name === storageVersion)),
      },
    } as unknown as Omit<CustomResourceDefinition, 'apiVersion' | 'kind'>) as DeepReadonly<CustomResourceDefinition>,
  )
}

function pluralOf(name: string): string {
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`
  return /(?:s|x|z|ch|sh)$/.test(name) ? `${name}es` : `${name}s`
}

function versionOf(name: string, options: VersionOptions, storage: boolean): CustomResourceDefinitionVersion {
  const { schema, columns, selectableFields, served = true, deprecated = false } = options
  const { scale, status = Object.hasOwn(schema.shape, 'status') } = options.subresources ?? {}
  const subresources = { ...(status ? { status: {} } : {}), ...(scale === undefined ? {} : { scale: { ...scale } }) }
  return {
    name,
    served,
    storage,
    ...(deprecated === false ? {} : { deprecated: true }),
    ...(typeof deprecated === 'string' ? { deprecationWarning: deprecated } : {}),
    schema: { openAPIV3Schema: publishedSchema(name, schema) as never },
    ...(Object.keys(subresources).length === 0 ? {} : { subresources }),
    ...(columns === undefined ? {} : { additionalPrinterColumns: columns.map((column) => ({ ...column })) }),
    ...(selectableFields === undefined ? {} : { selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })) }),
  }
}

function withoutRules(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutRules)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([name]) => name !== 'x-kubernetes-validations')
  return Object.fromEntries(members.map(([name, each]) => [name, withoutRules(each)]))
}

/** The status is written by its sub-resource, so objects never require one. */
function publishedSchema(version: string, schema: MemberSchema): JsonObject {
  let written: JsonObject
  try {
    written = structuralSchema(schema)
  } catch (error) {
    throw new KindsError({
      code: 'InvalidDefinition',
      message: `${version}: ${error instanceof Error ? error.message : String(error)}`,
    })
  }
  const { required, properties, ...rest } = written
  const needed = ((required as string[] | undefined) ?? []).filter((name) => name !== 'status')
  return {
    ...rest,
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      ...((properties as JsonObject | undefined) ?? {}),
    },
    ...(needed.length === 0 ? {} : { required: needed }),
  }
}

/** The definition with accepted names, as a server has it after naming. */
function withAcceptedNames(manifest: CustomResourceDefinition): CustomResourceDefinition {
  const status: CustomResourceDefinitionStatus = {
    acceptedNames: manifest.spec.names,
    conditions: [{ type: 'Established', status: 'True' }],
    storedVersions: [],
  }
  return { ...manifest, status }
}

function converterOf({ conversions = {}, group }: ResourceOptions<VersionTable>, storage: string): ObjectConverter | undefined {
  const known = new Map(Object.entries(conversions).map(([name, each]) => [`${group}/${name}`, each]))
  if (known.size === 0) return undefined
  const hub = `${group}/${storage}`
  return async (objects, apiVersion) =>
    objects.map((object) => {
      const stored = known.get(object.apiVersion)?.toStorage(object) ?? object
      const from = { ...stored, apiVersion: hub, kind: object.kind } as ApiObject
      if (apiVersion === hub) return from
      const converted = known.get(apiVersion)?.fromStorage(from as DeepReadonly<ApiObject>) ?? from
      return { ...converted, apiVersion, kind: object.kind } as ApiObject
    })
}
