import { isObject, type OptionKinds, optionsProblem } from '@krmkit/base/arguments'
import { KindsError } from '../kinds-error.ts'
import type { ResourceOptions, VersionOptions, VersionTable } from './interfaces.ts'

/** Misspelt options would be ignored silently in JavaScript. */

const resourceKinds: OptionKinds<ResourceOptions<VersionTable>> = {
  group: 'text',
  kind: 'text',
  versions: 'object',
  storageVersion: 'text',
  plural: 'text',
  singular: 'text',
  listKind: 'text',
  shortNames: 'texts',
  categories: 'texts',
  namespaced: 'flag',
  conversions: 'object',
  strategy: 'object',
}

const versionKinds: OptionKinds<VersionOptions> = {
  schema: 'any',
  columns: 'any',
  subresources: 'object',
  selectableFields: 'texts',
  served: 'flag',
  deprecated: 'any',
}

/** @throws KindsError `InvalidDefinition` */
export function checkDefinition(options: unknown): void {
  failWith(optionsProblem(options, { what: 'defineResource', kinds: resourceKinds, example: '{ group, kind, versions }' }))
  const given = options as Partial<ResourceOptions<VersionTable>>
  for (const name of ['group', 'kind', 'versions'] as const)
    if (!given[name]) throw invalid(`defineResource needs \`${name}\`, ${needed[name]}`)
  const { kind, versions, storageVersion } = given
  const names = Object.keys(versions ?? {})
  if (names.length === 0) throw invalid(`${kind} needs a version: versions: { v1: { schema: z.object({ ... }) } }`)
  if (storageVersion !== undefined) requireVersion(kind ?? '', storageVersion, names)
  for (const name of names) checkVersion(`versions.${name}`, versions?.[name])
}

/** @throws KindsError `InvalidDefinition` */
export function requireVersion(kind: string, version: string, names: readonly string[]): void {
  if (!names.includes(version)) throw invalid(`${kind} has no version ${JSON.stringify(version)}; versions: ${names.join(', ')}`)
}

const needed = {
  group: 'a DNS name such as "shop.example.com"',
  kind: 'a name such as "Widget"',
  versions: 'such as { v1: { schema: z.object({ ... }) } }',
}

function checkVersion(at: string, version: unknown): void {
  failWith(optionsProblem(version, { what: at, kinds: versionKinds, example: '{ schema }' }))
  const { schema } = version as { readonly schema?: { readonly _zod?: unknown; readonly shape?: unknown } }
  const isZod = isObject(schema) && '_zod' in schema
  if (isZod && isObject(schema.shape)) return
  const given = schema === undefined ? 'none' : isZod ? 'another zod schema' : 'no zod schema'
  throw invalid(`${at}.schema is a zod object, z.object({ spec: z.object({ ... }) }); given: ${given}`)
}

function failWith(problem: string | undefined): void {
  if (problem !== undefined) throw invalid(problem)
}

function invalid(message: string): KindsError {
  return new KindsError({ code: 'InvalidDefinition', message })
}
