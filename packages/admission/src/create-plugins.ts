import { type OptionKinds, optionsProblem } from '@krmkit/base/arguments'
import { AdmissionError } from './admission-error.ts'
import { builtInPlugins, type PluginDefinition } from './built-in-plugins.ts'
import { type AdmissionEnvironment, type AdmissionEnvironmentOptions, createAdmissionEnvironment } from './environment.ts'
import type { AdmissionPlugin } from './interfaces.ts'

/** Enables, disables and configures plugins. */
export interface AdmissionPluginOptions {
  /** Plugins to run in addition to the default ones. */
  readonly enable?: readonly string[]
  /** Takes precedence over `enable`. */
  readonly disable?: readonly string[]
  /** The result of `parseAdmissionConfiguration`. */
  readonly configuration?: ReadonlyMap<string, unknown>
  /** Available plugins in execution order. Default: `builtInPlugins`. */
  readonly available?: readonly PluginDefinition[]
}

const optionKinds: OptionKinds<AdmissionPluginOptions> = {
  enable: 'texts',
  disable: 'texts',
  configuration: 'object',
  available: 'list',
}

/**
 * Creates the plugins of a server, in execution order: those of the release of the features.
 *
 * @throws AdmissionError `UnknownPlugin` for a name that the release does not have, `InvalidConfiguration`, `InvalidArgument`
 * @example
 * ```ts
 * import { createAdmissionPlugins } from '@krmkit/admission'
 * import { systemRandom } from '@krmkit/meta'
 *
 * const plugins = createAdmissionPlugins({ random: systemRandom }, { enable: ['NodeRestriction'], disable: ['ServiceAccount'] })
 * plugins.slice(0, 3).map(({ name }) => name) // ['NamespaceLifecycle', 'LimitRanger', 'NodeRestriction']
 * ```
 */
export function createAdmissionPlugins(
  environmentOptions: AdmissionEnvironmentOptions,
  options: AdmissionPluginOptions = {},
): readonly AdmissionPlugin[] {
  const problem = optionsProblem(options, { what: 'createAdmissionPlugins', kinds: optionKinds, example: '{ disable: [] }' })
  if (problem !== undefined) throw new AdmissionError({ code: 'InvalidArgument', message: problem })
  const { enable = [], disable = [], configuration, available = builtInPlugins } = options
  for (const name of [...enable, ...disable, ...(configuration?.keys() ?? [])]) {
    if (available.some((each) => each.name === name)) continue
    const known = available.map((each) => each.name).join(', ')
    const message = `unknown admission plugin ${JSON.stringify(name)}; available: ${known}`
    throw new AdmissionError({ code: 'UnknownPlugin', message })
  }
  const environment = createAdmissionEnvironment(environmentOptions)
  const { release } = environment.features
  const named = new Set([...enable, ...disable, ...(configuration?.keys() ?? [])])
  const missing = available.filter(({ name }) => named.has(name)).find((plugin) => !existsIn(plugin, release))
  if (missing !== undefined) throw new AdmissionError({ code: 'UnknownPlugin', message: absence(missing, release) })
  return available
    .filter((plugin) => existsIn(plugin, release))
    .filter(({ name, enabledByDefault }) => !disable.includes(name) && (enabledByDefault || enable.includes(name)))
    .map(({ name, create }) => create(environment, configuration?.get(name)))
}

/**
 * Creates the plugins that are enabled by default.
 *
 * @example
 * ```ts
 * import { defaultAdmissionPlugins } from '@krmkit/admission'
 * import { createApiServer } from '@krmkit/apiserver'
 * import { memoryStorage } from '@krmkit/storage'
 *
 * await using server = await createApiServer({ storage: memoryStorage(), admission: defaultAdmissionPlugins })
 * ```
 */
export function defaultAdmissionPlugins(options: AdmissionEnvironmentOptions): readonly AdmissionPlugin[] {
  return createAdmissionPlugins(options)
}

type Release = AdmissionEnvironment['features']['release']

/** Whether a release has a plugin. */
function existsIn({ since, removed }: PluginDefinition, release: Release): boolean {
  return (since === undefined || release.atLeast(since)) && (removed === undefined || !release.atLeast(removed))
}

function absence({ name, since, removed }: PluginDefinition, { version, atLeast }: Release): string {
  const isPast = removed !== undefined && atLeast(removed)
  const change = isPast ? `was removed in Kubernetes ${removed}` : `was added in Kubernetes ${since}`
  return `admission plugin ${name} ${change}, and the release is ${version}`
}
