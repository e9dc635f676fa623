import { type ApiObject, type DeepReadonly, type FieldError, field, type JsonObject, Path } from '@krmkit/meta'
import { compareVersions } from '../catalog/priorities.ts'
import { customDefinitions } from '../custom/custom-definitions.ts'
import type { ObjectConverter } from '../custom/object-converter.ts'
import { KindsError } from '../errors.ts'
import type { KindPolicy, PolicyContext, ResourceDefinition } from '../interfaces.ts'
import {
  CustomResourceDefinition,
  type CustomResourceDefinitionStatus,
  type CustomResourceDefinitionVersion,
} from '../types/apiextensions-v1.generated.ts'
import type { DefinedKind, MemberSchema, ResourceOptions, ResourceStrategy, VersionOptions, VersionTable } from './interfaces.ts'
import { structuralSchema } from './structural-schema.ts'

/**
 * A resource from zod schemas: storage, validation, defaults, OpenAPI, explanations, columns and the type that the client infers.
 *
 *     const Widget = defineResource({
 *       group: 'shop.example.com',
 *       kind: 'Widget',
 *       versions: { v1: { schema: z.object({ spec: z.object({ size: z.number().int().min(1) }) }) } },
 *     })
 *
 * @throws KindsError `InvalidDefinition` for what a server would refuse in a CustomResourceDefinition, or what JSON cannot hold.
 */
export function defineResource<const V extends VersionTable, S extends keyof V & string = keyof V & string>(
  options: ResourceOptions<V, S>,
): DefinedKind<V, S> {
  const { group, kind, namespaced = true } = options
  const storageVersion = options.storageVersion ?? Object.keys(options.versions).sort(compareVersions)[0]
  if (storageVersion === undefined || options.versions[storageVersion] === undefined)
    throw new KindsError('InvalidDefinition', `${kind} has no version ${storageVersion ?? ''}`)
  const manifest = manifestOf(options, storageVersion)
  // Rules are compiled for the first object.
  const errors = CustomResourceDefinition.validate(withoutRules(manifest) as CustomResourceDefinition)
  if (errors.length > 0) {
    const told = errors.map((error) => `${error.field}: ${error.message}`).join('; ')
    throw new KindsError('InvalidDefinition', `${kind} cannot be defined: ${told}`)
  }
  const resource = manifest.spec.names.plural
  const handle = (version: string) => ({ group, version, resource, kind, namespaced })
  const converter = converterOf(options as unknown as ResourceOptions<VersionTable>, storageVersion)
  return {
    ...handle(storageVersion),
    at: (version) => handle(version),
    toManifest: () => structuredClone(manifest),
    resources: (types) =>
      customDefinitions(accepted(manifest), {
        objectMeta: types.struct('meta/v1.ObjectMeta'),
        ...(converter === undefined ? {} : { converter }),
      }).map((each) => governed(each, options as unknown as ResourceOptions<VersionTable>)),
  }
}

function manifestOf<V extends VersionTable>(options: ResourceOptions<V>, storageVersion: string): CustomResourceDefinition {
  const { group, kind, shortNames, categories, namespaced = true } = options
  const plural = options.plural ?? `${kind.toLowerCase()}s`
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
    schema: { openAPIV3Schema: published(name, schema) as never },
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

/** The status is written by a sub-resource of its own: no object needs one from the start. */
function published(version: string, schema: MemberSchema): JsonObject {
  let written: JsonObject
  try {
    written = structuralSchema(schema)
  } catch (error) {
    throw new KindsError('InvalidDefinition', `${version}: ${error instanceof Error ? error.message : String(error)}`)
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

/** As a server has it when its names are settled. */
function accepted(manifest: CustomResourceDefinition): CustomResourceDefinition {
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
      const shown = known.get(apiVersion)?.fromStorage(from as DeepReadonly<ApiObject>) ?? from
      return { ...shown, apiVersion, kind: object.kind } as ApiObject
    })
}

/** The resource with the rules of its zod schema and of its strategy. */
function governed(definition: ResourceDefinition, options: ResourceOptions<VersionTable>): ResourceDefinition {
  const { policy, version } = definition
  const { schema } = options.versions[version] as VersionOptions
  const strategy = (options.strategy ?? {}) as ResourceStrategy
  const also = (object: DeepReadonly<ApiObject>, old: DeepReadonly<ApiObject> | undefined, context: PolicyContext) => [
    ...(strategy.validate?.(object, old, context) ?? []),
  ]
  const checked = (errors: FieldError[], object: DeepReadonly<ApiObject>): FieldError[] =>
    errors.length > 0 ? errors : zodErrors(schema, object)
  const status = policy.subresources?.status
  const next: KindPolicy = {
    ...policy,
    prepareForCreate(object, context) {
      policy.prepareForCreate?.(object, context)
      strategy.prepareForCreate?.(object, context)
    },
    prepareForUpdate(object, old, context) {
      strategy.prepareForUpdate?.(object, old, context)
      policy.prepareForUpdate?.(object, old, context)
    },
    validate: (object, context) => {
      const errors = checked(policy.validate?.(object, context) ?? [], object)
      return [...errors, ...also(object, undefined, context)]
    },
    validateUpdate: (object, old, context) => {
      const errors = checked(policy.validateUpdate?.(object, old, context) ?? [], object)
      return [...errors, ...also(object, old, context)]
    },
    ...(strategy.warnings === undefined
      ? {}
      : { warnings: (object, old, context) => [...(strategy.warnings?.(object, old, context) ?? [])] }),
    ...(status === undefined
      ? {}
      : {
          subresources: {
            ...policy.subresources,
            status: {
              ...status,
              validateUpdate: (object, old, context) => checked(status.validateUpdate(object, old, context), object),
            },
          },
        }),
  }
  return { ...definition, policy: next, definedInCode: true }
}

/** What only the zod schema knows. An object without status has not been looked after yet. */
function zodErrors(schema: MemberSchema, object: DeepReadonly<ApiObject>): FieldError[] {
  const members = object as unknown as Readonly<Record<string, unknown>>
  const given: Record<string, unknown> = {}
  for (const name of Object.keys(schema.shape)) if (Object.hasOwn(members, name)) given[name] = members[name]
  const { error } = schema.safeParse(given)
  if (error === undefined) return []
  return error.issues
    .filter(({ path: [first] }) => first !== 'status' || given.status !== undefined)
    .map(({ path, message }) => {
      const value = valueAt(given, path)
      return value === undefined ? field.required(placeOf(path), message) : field.invalid(placeOf(path), value, message)
    })
}

function placeOf([first, ...rest]: readonly PropertyKey[]): Path | undefined {
  if (first === undefined) return undefined
  return rest.reduce<Path>(
    (at, step) => (typeof step === 'number' ? at.index(step) : at.child(String(step))),
    Path.of(String(first)),
  )
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value
  for (const step of path) at = typeof at === 'object' && at !== null ? (at as Record<PropertyKey, unknown>)[step] : undefined
  return at
}
