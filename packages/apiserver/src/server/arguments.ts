import { functionsProblem, type OptionKinds, optionsProblem, shown } from '@krmkit/base/arguments'
import type { ResourceDefinition } from '@krmkit/kinds'
import { checkAuthorizer } from '../access/authorizer-check.ts'
import { failWith } from '../api-server-error.ts'
import type { ApiServerOptions, ServerLimits } from './options.ts'

/**
 * Checks the options of a server, because a misspelled and therefore ignored option could leave the server without its storage, kinds or
 * authorizer.
 */

const optionKinds: OptionKinds<ApiServerOptions> = {
  storage: 'any',
  kinds: 'list',
  emulate: 'text',
  types: 'object',
  authenticator: 'any',
  authorizer: 'any',
  bootstrapRoles: 'any',
  serviceNetwork: 'object',
  allowPrivileged: 'flag',
  requestSignatureError: 'function',
  serviceAccountIssuer: 'object',
  issuerDocuments: 'object',
  proxyHeaders: 'object',
  admission: 'any',
  aggregation: 'object',
  proxy: 'object',
  conversion: 'object',
  clock: 'object',
  random: 'object',
  profile: 'object',
  features: 'any',
  limits: 'object',
  yamlTranslator: 'any',
  corsAllowedOrigins: 'list',
  strictTransportSecurity: 'texts',
  flowControl: 'flag',
  audit: 'any',
  onError: 'function',
  tracer: 'any',
  readiness: 'list',
  flags: 'object',
  serverAddress: 'text',
  replica: 'flag',
}
const limitKinds: OptionKinds<ServerLimits> = {
  bodyBytes: 'number',
  objectBytes: 'number',
  readOnlyInFlight: 'number',
  mutatingInFlight: 'number',
  requestTimeoutMs: 'number',
  watchMs: 'number',
}

/** @throws ApiServerError `InvalidOption` */
export function checkServerOptions(options: ApiServerOptions): void {
  failWith(optionsProblem(options, { what: 'createApiServer', kinds: optionKinds, example: '{ storage: memoryStorage() }' }))
  const { storage, kinds, authenticator, authorizer, bootstrapRoles = false, admission, features, limits, tracer } = options
  if (storage === undefined || typeof storage === 'string')
    failWith(`\`storage\` is a store such as memoryStorage(), not ${shown(storage)}`)
  failWith(functionsProblem('`storage`', storage, ['get', 'list', 'put', 'watch']))
  for (const [index, kind] of (kinds ?? []).entries()) failWith(kindProblem(`\`kinds[${index}]\``, kind))
  if (authenticator !== undefined) failWith(functionsProblem('`authenticator`', authenticator, ['authenticate']))
  if (authorizer !== undefined && typeof authorizer !== 'function') checkAuthorizer('`authorizer`', authorizer)
  if (typeof bootstrapRoles !== 'boolean' && bootstrapRoles !== 'afterwards')
    failWith(`\`bootstrapRoles\` is true, false or "afterwards", not ${shown(bootstrapRoles)}`)
  if (admission !== undefined && typeof admission !== 'function') checkPlugins('`admission`', admission)
  if (features !== undefined) failWith(functionsProblem('`features`', features, ['enabled']))
  if (limits !== undefined)
    failWith(optionsProblem(limits, { what: '`limits`', kinds: limitKinds, example: '{ bodyBytes: 3145728 }' }))
  if (tracer !== undefined) failWith(functionsProblem('`tracer`', tracer, ['startSpan']))
}

/** @throws ApiServerError `InvalidOption` unless the plugins, configured or returned by a factory, are a list of plugins */
export function checkPlugins(what: string, plugins: unknown): void {
  if (!Array.isArray(plugins)) failWith(`${what} is a list of plugins or defaultAdmissionPlugins, not ${shown(plugins)}`)
  for (const [index, plugin] of (plugins as unknown[]).entries()) {
    const hint = typeof plugin === 'string' ? '; createAdmissionPlugins() has plugins by name' : ''
    const problem = functionsProblem(`plugin ${index} of ${what}`, plugin, ['handles'])
    if (problem !== undefined) failWith(`${problem}${hint}`)
  }
}

/** @throws ApiServerError `InvalidOption` for a resource that is defined twice */
export function checkDistinct(definitions: readonly ResourceDefinition[]): void {
  const seen = new Set<string>()
  for (const { group, version, resource } of definitions) {
    const name = `${resource.name} of ${group === '' ? version : `${group}/${version}`}`
    if (seen.size === seen.add(name).size) failWith(`\`kinds\` defines ${name} twice`)
  }
}

function kindProblem(what: string, kind: unknown): string | undefined {
  const { resources, resource, strategy, kind: name } = Object(kind) as Readonly<Record<string, unknown>>
  if (typeof resources === 'function' || (typeof resource === 'object' && typeof strategy === 'object')) return undefined
  if (Array.isArray(kind)) return `${what} is a list; spread it: [...builtInKinds(), Widget]`
  const isHandle = typeof resource === 'string' && typeof name === 'string'
  const found = isHandle ? `the handle ${name}, which is for clients` : shown(kind)
  return `${what} is a definition of builtInKinds() or defineResource(), not ${found}`
}
