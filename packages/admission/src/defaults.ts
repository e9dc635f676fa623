import { AdmissionError } from './admission-error.ts'
import { builtInPlugins, type PluginKind } from './built-in.ts'
import { admissionEnvironment, type EnvironmentOptions } from './environment.ts'
import type { AdmissionPlugin } from './interfaces.ts'

/** Which plugins run. */
export interface PluginChoice {
  /** Names of plugins to run beside those that are on by default. */
  readonly enable?: readonly string[]
  /** Counts more than `enable`. */
  readonly disable?: readonly string[]
  /** What `parseAdmissionConfiguration` read, by the name of the plugin. */
  readonly configuration?: ReadonlyMap<string, unknown>
  /** What can run, in execution order. Default: `builtInPlugins`. */
  readonly available?: readonly PluginKind[]
}

/**
 * Makes the plugins of a server, in execution order.
 *
 * @throws AdmissionError `UnknownPlugin`, `InvalidConfiguration`
 */
export function createAdmissionPlugins(options: EnvironmentOptions, choice: PluginChoice = {}): readonly AdmissionPlugin[] {
  const { enable = [], disable = [], configuration, available = builtInPlugins } = choice
  for (const name of [...enable, ...disable, ...(configuration?.keys() ?? [])]) {
    if (available.some((each) => each.name === name)) continue
    const known = available.map((each) => each.name).join(', ')
    const message = `${JSON.stringify(name)} is no admission plugin that krmkit has; it has ${known}`
    throw new AdmissionError({ code: 'UnknownPlugin', message })
  }
  const environment = admissionEnvironment(options)
  return available
    .filter(({ name, isDefault }) => !disable.includes(name) && (isDefault || enable.includes(name)))
    .map(({ name, make }) => make(environment, configuration?.get(name)))
}

/** The plugins that run where nobody says otherwise. */
export function defaultAdmissionPlugins(options: EnvironmentOptions): readonly AdmissionPlugin[] {
  return createAdmissionPlugins(options)
}
