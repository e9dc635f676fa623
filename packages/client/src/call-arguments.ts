import { isObject, shown, unknownName } from '@krmkit/base/arguments'
import type { ApiObject } from '@krmkit/meta'
import { ClientError } from './client-error.ts'
import type {
  ApplyOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  PatchOptions,
  RawRequest,
  WatchOptions,
  WriteOptions,
} from './interfaces.ts'

/**
 * Checks the arguments of calls. A name or namespace that is dropped by mistake would make a call affect more objects than
 * intended. The checks run for every request, so messages are built only for failures.
 */

type OptionName = keyof (GetOptions & ListOptions & WatchOptions & WriteOptions & ApplyOptions & DeleteOptions & PatchOptions)

/** The `typeof` of each call option. Includes the options of all methods, so that calls can share option objects. */
const optionTypes: Readonly<Record<OptionName, 'string' | 'number' | 'boolean' | 'object'>> = {
  signal: 'object',
  namespace: 'string',
  subresource: 'string',
  labelSelector: 'string',
  fieldSelector: 'string',
  limit: 'number',
  continue: 'string',
  resourceVersion: 'string',
  resourceVersionMatch: 'string',
  bookmarks: 'boolean',
  resume: 'boolean',
  shared: 'boolean',
  dryRun: 'boolean',
  fieldManager: 'string',
  fieldValidation: 'string',
  force: 'boolean',
  type: 'string',
  patch: 'object',
  gracePeriodSeconds: 'number',
  propagationPolicy: 'string',
  preconditions: 'object',
}
const typeNames = { string: 'a string', number: 'a number', boolean: 'true or false', object: 'an object' }
const typesByName: Readonly<Record<string, string>> = optionTypes

/** @throws ClientError `InvalidRequest` */
export function checkOptions(method: string, options: object): void {
  if (typeof options !== 'object' || options === null) throw notOptions(method, options)
  for (const name in options) {
    const type = typesByName[name]
    const value = (options as Readonly<Record<string, unknown>>)[name]
    if (type === undefined || (value !== undefined && (typeof value !== type || value === null)))
      throw invalidOption(method, name, value)
  }
}

/** @throws ClientError `InvalidRequest` */
export function checkName(method: string, name: unknown): asserts name is string {
  if (typeof name === 'string') return
  const hint = isObject(name) && 'metadata' in name ? '; pass its metadata.name' : ''
  throw invalidRequest(`${method}: name is a string, not ${shown(name)}${hint}`)
}

/** @throws ClientError `InvalidRequest` */
export function checkObject(method: string, object: Pick<ApiObject, 'metadata'>): void {
  const metadata: unknown = object?.metadata
  if (typeof metadata === 'object' && metadata !== null) return
  const problem = isObject(object) ? `metadata of the object is an object, not ${shown(metadata)}` : undefined
  throw invalidRequest(`${method}: ${problem ?? `the object is { metadata, … }, not ${shown(object)}`}`)
}

/** @throws ClientError `InvalidRequest` */
export function checkApply(options: ApplyOptions): void {
  if (typeof options?.fieldManager !== 'string')
    throw invalidRequest('apply needs options with fieldManager, such as { fieldManager: "app" }')
  checkOptions('apply', options)
}

/** @throws ClientError `InvalidRequest` */
export function checkPatch(options: PatchOptions, types: object): void {
  const { type, patch } = options ?? {}
  if (typeof type !== 'string' || !Object.hasOwn(types, type)) throw invalidPatch(type)
  checkOptions('patch', options)
  if (patch === undefined || Array.isArray(patch) !== (type === 'json'))
    throw invalidRequest(
      `patch: a ${type} patch is ${type === 'json' ? 'a list of operations' : 'an object'}, not ${shown(patch)}`,
    )
}

/** @throws ClientError `InvalidRequest` */
export function checkRequest(request: RawRequest): void {
  const path: unknown = request?.path
  if (typeof path === 'string' && path.startsWith('/')) {
    for (const name in request)
      if (!requestMembers.includes(name)) throw invalidRequest(unknownName('request', name, requestMembers))
    return
  }
  throw invalidRequest(
    isObject(request)
      ? `request: path is a string that begins with "/", not ${shown(path)}`
      : `request needs an object such as { path: "/version" }, not ${shown(request)}`,
  )
}

const requestMembers: readonly string[] = ['method', 'path', 'headers', 'body', 'signal'] satisfies (keyof RawRequest)[]

export function invalidRequest(message: string): ClientError {
  return new ClientError({ code: 'InvalidRequest', message })
}

function notOptions(method: string, options: unknown): ClientError {
  const example = typeof options === 'string' ? ` such as { namespace: ${shown(options)} }` : ''
  return invalidRequest(`${method} needs its options as an object${example}, not ${shown(options)}`)
}

function invalidOption(method: string, name: string, value: unknown): ClientError {
  if (!Object.hasOwn(optionTypes, name)) return invalidRequest(unknownName(method, name, Object.keys(optionTypes)))
  const hint = name.endsWith('Selector') && isObject(value) ? ', such as "app=web"' : ''
  return invalidRequest(`${method}: ${name} is ${typeNames[optionTypes[name as OptionName]]}${hint}, not ${shown(value)}`)
}

function invalidPatch(type: unknown): ClientError {
  const hint = type === 'apply' ? '; use apply()' : ''
  return invalidRequest(`patch needs options { type, patch }: type is "merge", "strategic" or "json", not ${shown(type)}${hint}`)
}
