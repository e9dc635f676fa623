import { KindsError } from '../errors.ts'
import type { ResourceOptions, VersionOptions, VersionTable } from './interfaces.ts'

/** Misspelt options would be ignored silently in JavaScript. */

type Kind = 'text' | 'texts' | 'flag' | 'object' | 'any'
type Members<T> = Readonly<Record<keyof T, Kind>>

const accepts: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string' && value !== '',
  texts: (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
  flag: (value) => typeof value === 'boolean',
  object: isObject,
  any: () => true,
}

const described = { text: 'a text', texts: 'a list of texts', flag: 'true or false', object: 'an object', any: '' } as const

const resourceMembers: Members<ResourceOptions<VersionTable>> = {
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

const versionMembers: Members<VersionOptions> = {
  schema: 'any',
  columns: 'any',
  subresources: 'object',
  selectableFields: 'texts',
  served: 'flag',
  deprecated: 'any',
}

/** @throws KindsError `InvalidDefinition` */
export function checkDefinition(options: unknown): void {
  if (!isObject(options)) throw invalid('defineResource needs { group, kind, versions }')
  checkMembers('defineResource', options, resourceMembers)
  for (const name of ['group', 'kind', 'versions'])
    if (options[name] === undefined) throw invalid(`defineResource needs \`${name}\`, ${needed[name]}`)
  const { kind, versions, storageVersion } = options as Partial<ResourceOptions<VersionTable>>
  const names = Object.keys(versions ?? {})
  if (names.length === 0) throw invalid(`${kind} needs a version: versions: { v1: { schema: z.object({ ... }) } }`)
  if (storageVersion !== undefined) requireVersion(kind ?? '', storageVersion, names)
  for (const name of names) checkVersion(`versions.${name}`, versions?.[name])
}

/** @throws KindsError `InvalidDefinition` */
export function requireVersion(kind: string, version: string, names: readonly string[]): void {
  if (!names.includes(version)) throw invalid(`${kind} has no version ${JSON.stringify(version)}; versions: ${names.join(', ')}`)
}

const needed: Readonly<Record<string, string>> = {
  group: 'a DNS name such as "shop.example.com"',
  kind: 'a name such as "Widget"',
  versions: 'such as { v1: { schema: z.object({ ... }) } }',
}

function checkVersion(at: string, version: unknown): void {
  if (!isObject(version)) throw invalid(`${at} is an object with a schema`)
  checkMembers(at, version, versionMembers)
  const { schema } = version
  if (isObject(schema) && '_zod' in schema && isObject(schema['shape'])) return
  const given = schema === undefined ? 'none' : isObject(schema) && '_zod' in schema ? 'another zod schema' : 'no zod schema'
  throw invalid(`${at}.schema is a zod object, z.object({ spec: z.object({ ... }) }); given: ${given}`)
}

function checkMembers(at: string, given: Readonly<Record<string, unknown>>, members: Readonly<Record<string, Kind>>): void {
  for (const [name, value] of Object.entries(given)) {
    const kind = Object.hasOwn(members, name) ? members[name] : undefined
    if (kind === undefined) throw invalid(`${at} has no ${JSON.stringify(name)}; known: ${Object.keys(members).join(', ')}`)
    if (value !== undefined && !accepts[kind](value)) throw invalid(`${at}: ${name} is ${described[kind]}`)
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(message: string): KindsError {
  return new KindsError({ code: 'InvalidDefinition', message })
}
