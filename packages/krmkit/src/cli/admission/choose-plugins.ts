import {
  type AdmissionEnvironmentOptions,
  AdmissionError,
  type AdmissionPlugin,
  builtInPlugins,
  createAdmissionPlugins,
} from '@krmkit/admission'
import { CliError } from '../cli-error.ts'
import { readConfiguration } from './configuration-file.ts'
import type { AdmissionOptions } from './options.ts'
import { type OutsideServices, outsideServices } from './outside-services.ts'

/** The plugins that the flags ask for. */
export interface ChosenPlugins extends AsyncDisposable {
  /** Makes them, in their order. @throws CliError `InvalidFlag` for a configuration that a plugin cannot use. */
  make(environment: AdmissionEnvironmentOptions): readonly AdmissionPlugin[]
  /** Resolves when what they need outside can be reached. @throws CliError `FileFailed` */
  ready(): Promise<void>
}

/** The server runs it in any case. */
const always = 'NamespaceLifecycle'

/**
 * @param hasServiceAccounts whether the controller runs that makes the accounts which the plugin ServiceAccount asks for.
 * @throws CliError `InvalidFlag` for a plugin that is unknown or cannot be switched off, `FileFailed` for a file that cannot be read.
 */
export async function chooseAdmissionPlugins(
  options: AdmissionOptions,
  {
    hasServiceAccounts,
    offline = false,
  }: { readonly hasServiceAccounts: boolean /** Nobody outside is asked. */; readonly offline?: boolean },
): Promise<ChosenPlugins> {
  const { enableAdmissionPlugins: enable, disableAdmissionPlugins: disable, admissionControlConfigFile: file } = options
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
  const choice = {
    enable,
    disable: withoutAccounts ? [...disable, 'ServiceAccount'] : disable,
    ...(file === undefined ? {} : { configuration: await readConfiguration(file) }),
  }
  const { defaultNotReadyTolerationSeconds: notReady = 300, defaultUnreachableTolerationSeconds: unreachableFor = 300 } = options
  // Controllers in another process may take their time.
  const patience = offline ? {} : { defaultAccountWaitMs: 1500 }
  const tolerations = { tolerationSeconds: { notReady, unreachable: unreachableFor } }
  const outside: OutsideServices = outsideServices()
  return {
    make(environment) {
      try {
        return createAdmissionPlugins(
          { ...environment, ...tolerations, ...patience, connect: offline ? () => unreachable : outside.connect },
          choice,
        )
      } catch (error) {
        if (error instanceof AdmissionError) throw new CliError({ code: 'InvalidFlag', message: error.message, cause: error })
        throw error
      }
    },
    ready: outside.ready,
    [Symbol.asyncDispose]: () => outside[Symbol.asyncDispose](),
  }
}

async function unreachable(): Promise<never> {
  throw new Error('services outside are not asked here')
}
