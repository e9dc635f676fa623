import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/**
 * Schemas of custom resources of well-known projects, from TypeScript packages that were generated from their definitions. The
 * packages contain the schema of each version, but not its context (names, columns, subresources) and no `x-kubernetes-*`
 * extensions. Definitions are rebuilt around the schemas; nothing is copied into this repository.
 */

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
type Members = { [key: string]: Json }

export const projects = [
  'argo-cd',
  'argo-rollouts',
  'cert-manager',
  'flux-cd',
  'gateway-api',
  'istio',
  'keda',
  'knative',
  'prometheus-operator',
  'sealed-secrets',
] as const

const clusterScoped = new Set([
  'AWSPCAClusterIssuer',
  'Bundle',
  'CertificateRequestPolicy',
  'ClusterAnalysisTemplate',
  'ClusterDomainClaim',
  'ClusterIssuer',
  'ClusterTriggerAuthentication',
  'GatewayClass',
])

export interface PackagedDefinition {
  readonly name: string
  readonly manifest: Members
  readonly group: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
  /** By version. */
  readonly schemas: ReadonlyMap<string, Members>
}

/** The definitions of one project; undefined when its package is not installed. */
export function packagedDefinitions(project: (typeof projects)[number]): PackagedDefinition[] | undefined {
  const folder = folderOf(`@kubernetes-models/${project}`)
  if (folder === undefined) return undefined
  const kinds = new Map<string, { group: string; kind: string; schemas: Map<string, Members> }>()
  for (const { group, version, kind, schema } of jsonSchemasIn(folder)) {
    const known = kinds.get(`${group}/${kind}`) ?? { group, kind, schemas: new Map<string, Members>() }
    known.schemas.set(version, root(JSON.parse(schema) as Members))
    kinds.set(`${group}/${kind}`, known)
  }
  return [...kinds.values()].map(definitionOf)
}

/** The JSON schemas of all projects in the layout of a catalog: texts by path. */
export function packagedCatalog(): ReadonlyMap<string, string> {
  const folders = projects.flatMap((project) => folderOf(`@kubernetes-models/${project}`) ?? [])
  return new Map(
    folders
      .flatMap(jsonSchemasIn)
      .map(({ group, version, kind, schema }) => [`${group}/${kind.toLowerCase()}_${version}.json`, schema]),
  )
}

function jsonSchemasIn(folder: string) {
  const versions = foldersIn(folder)
    .filter((name) => name.includes('.'))
    .flatMap((group) => foldersIn(join(folder, group)).map((version) => ({ group, version })))
  return versions.flatMap(({ group, version }) =>
    readdirSync(join(folder, group, version))
      .filter((name) => name.endsWith('.js'))
      .flatMap((file) => {
        const found = /const schema = (\{[\s\S]*?\n\});/.exec(readFileSync(join(folder, group, version, file), 'utf8'))
        return found === null ? [] : [{ group, version, kind: file.slice(0, -'.js'.length), schema: found[1] as string }]
      }),
  )
}

function folderOf(name: string): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
    return dirname(manifest)
  } catch {
    const folder = new URL(`../../node_modules/${name}`, import.meta.url).pathname
    return existsSync(folder) ? folder : undefined
  }
}

function foldersIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((each) => each.isDirectory())
    .map(({ name }) => name)
}

function definitionOf({
  group,
  kind,
  schemas,
}: {
  group: string
  kind: string
  schemas: Map<string, Members>
}): PackagedDefinition {
  const lower = kind.toLowerCase()
  const plural = lower.endsWith('s')
    ? `${lower}es`
    : lower.endsWith('y') && !lower.endsWith('ay')
      ? `${lower.slice(0, -1)}ies`
      : `${lower}s`
  const namespaced = !clusterScoped.has(kind)
  const name = `${plural}.${group}`
  const versions = [...schemas].map(([version, openAPIV3Schema], index) => ({
    name: version,
    served: true,
    storage: index === 0,
    schema: { openAPIV3Schema },
  }))
  const protectedGroup = group.endsWith('.k8s.io')
  const manifest = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name,
      ...(protectedGroup ? { annotations: { 'api-approved.kubernetes.io': 'https://example.com/approved' } } : {}),
    },
    spec: { group, scope: namespaced ? 'Namespaced' : 'Cluster', names: { plural, kind }, versions },
  } as unknown as Members
  return { name, manifest, group, kind, plural, namespaced, schemas }
}

/** Schemas do not cover `apiVersion` and `kind` of an object. */
function root(schema: Members): Members {
  const { properties, required, ...rest } = restored(schema)
  const own = {
    ...(properties as Members),
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
  }
  const needed = ((required as string[] | undefined) ?? []).filter((name) => !['apiVersion', 'kind', 'metadata'].includes(name))
  return { ...rest, type: 'object', properties: own, ...(needed.length === 0 ? {} : { required: needed }) }
}

/** Converts the generator's JSON schema to a structural schema. */
function restored(schema: Members): Members {
  const alternatives = schema.oneOf as Members[] | undefined
  if (alternatives?.length === 2 && alternatives[1]?.type === 'null') {
    return { ...restored(alternatives[0] as Members), nullable: true }
  }
  if (schema.$ref !== undefined) return { type: 'object' }
  const either = schema.anyOf as Members[] | undefined
  const types = either?.map(({ type }) => type).sort()
  if (types?.join() === 'integer,string') return { 'x-kubernetes-int-or-string': true, ...described(schema) }
  const out: Members = { ...schema }
  if (typeof out.properties === 'object') {
    out.properties = Object.fromEntries(
      Object.entries(out.properties as Members).map(([name, each]) => [name, restored(each as Members)]),
    )
  }
  if (typeof out.items === 'object') out.items = restored(out.items as Members)
  const more = out.additionalProperties
  if (typeof more === 'object' && more !== null) {
    if (Object.keys(more).length === 0) delete out.additionalProperties
    else out.additionalProperties = restored(more as Members)
  } else if (more !== undefined) delete out.additionalProperties
  const open =
    out.type === undefined || (out.type === 'object' && out.properties === undefined && out.additionalProperties === undefined)
  return open ? { ...out, 'x-kubernetes-preserve-unknown-fields': true } : out
}

function described({ description, pattern }: Members): Members {
  return { ...(description === undefined ? {} : { description }), ...(pattern === undefined ? {} : { pattern }) }
}

/** The smallest valid value of a schema: required members, shortest lists. */
export function smallest(schema: Members): Json {
  if (schema.default !== undefined) return schema.default
  if (Array.isArray(schema.enum)) return schema.enum[0] as Json
  if (schema['x-kubernetes-int-or-string'] === true) return 1
  if (schema.type === 'integer' || schema.type === 'number') return typeof schema.minimum === 'number' ? schema.minimum : 1
  if (schema.type === 'boolean') return true
  if (schema.type === 'array') {
    return Array.from({ length: Number(schema.minItems ?? 0) }, () => smallest((schema.items ?? {}) as Members))
  }
  if (schema.type !== 'string') {
    const properties = (schema.properties ?? {}) as { [name: string]: Members }
    return Object.fromEntries(((schema.required ?? []) as string[]).map((name) => [name, smallest(properties[name] ?? {})]))
  }
  if (schema.format === 'date-time') return '2025-01-01T00:00:00Z'
  if (schema.format === 'byte') return 'YQ=='
  return 'a'.repeat(Math.max(1, Number(schema.minLength ?? 1)))
}
