import {
  AdmissionError,
  type AdmissionPlugin,
  builtInPlugins,
  createAdmissionPlugins,
  type EnvironmentOptions,
} from '@krmkit/admission'
import { CliError } from './cli-error.ts'

export interface AdmissionFlags {
  readonly enable: readonly string[]
  readonly disable: readonly string[]
  /** Whether the controller runs that makes the accounts which the plugin ServiceAccount asks for. */
  readonly hasServiceAccounts: boolean
}

/** The server runs it in any case. */
const always = 'NamespaceLifecycle'

/** The plugins that run unless they are switched off, in their order. */
export const recommendedPlugins = builtInPlugins.filter(({ isDefault }) => isDefault).map(({ name }) => name)

/**
 * The plugins to run, in their order, made when the server is.
 *
 * @throws CliError `InvalidFlag` for a plugin that is unknown or cannot be switched off.
 */
export function chooseAdmissionPlugins(
  flags: AdmissionFlags,
): (environment: EnvironmentOptions) => readonly AdmissionPlugin[] {
  const { enable, disable, hasServiceAccounts } = flags
  if (disable.includes(always)) {
    throw new CliError({ code: 'InvalidFlag', message: `the admission plugin ${always} cannot be switched off` })
  }
  const unknown = [...enable, ...disable].find((name) => !builtInPlugins.some((plugin) => plugin.name === name))
  if (unknown !== undefined) {
    const known = builtInPlugins.map(({ name }) => name).join(', ')
    const message = `${JSON.stringify(unknown)} is no admission plugin that krmkit has; it has ${known}`
    throw new CliError({ code: 'InvalidFlag', message })
  }
  const withoutAccounts = !hasServiceAccounts && !enable.includes('ServiceAccount')
  return (environment) => {
    try {
      return createAdmissionPlugins(environment, {
        enable,
        disable: withoutAccounts ? [...disable, 'ServiceAccount'] : disable,
      })
    } catch (error) {
      if (error instanceof AdmissionError) throw new CliError({ code: 'InvalidFlag', message: error.message, cause: error })
      throw error
    }
  }
}
