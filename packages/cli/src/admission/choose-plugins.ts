import {
  type AdmissionEnvironmentOptions,
  AdmissionError,
  type AdmissionPlugin,
  builtInPlugins,
  createAdmissionPlugins,
} from '@krmkit/admission'
import { CliError } from '../cli-error.ts'
import { readAdmissionConfiguration } from './admission-configuration.ts'
import type { AdmissionOptions } from './options.ts'
import { readStaticManifests, type StaticManifestsOptions } from './static-manifests.ts'
import { createWebhookConnections, type WebhookConnections } from './webhook-connections.ts'

/** The admission plugins that the flags select. */
export interface ChosenPlugins extends AsyncDisposable {
  /** Creates the plugins in execution order. @throws CliError `InvalidFlag` for an invalid plugin configuration. */
  make(environment: AdmissionEnvironmentOptions): readonly AdmissionPlugin[]
  /** Resolves when the kubeconfig files of the plugins have been read. @throws CliError `FileFailed` */
  ready(): Promise<void>
}

export interface ChooseAdmissionPluginsOptions {
  /** Whether the controller runs that creates the default service accounts, which plugin ServiceAccount requires. */
  readonly hasServiceAccounts: boolean
  /** Whether webhooks are unreachable. Default false. */
  readonly offline?: boolean
  /** How folders of webhook configurations and policies are read. Absent: no configuration may name one. */
  readonly manifests?: StaticManifestsOptions
}

/**
 * Selects the admission plugins.
 *
 * @throws CliError `InvalidFlag` for an unknown plugin, `FileFailed` for a file that cannot be read.
 */
export async function chooseAdmissionPlugins(
  options: AdmissionOptions,
  { hasServiceAccounts, offline = false, manifests: reading }: ChooseAdmissionPluginsOptions,
): Promise<ChosenPlugins> {
  const { enableAdmissionPlugins: enable, disableAdmissionPlugins: disable, admissionControlConfigFile: file } = options
  const unknown = [...enable, ...disable].find((name) => !builtInPlugins.some((plugin) => plugin.name === name))
  if (unknown !== undefined) {
    const known = builtInPlugins.map(({ name }) => name).join(', ')
    const message = `unknown admission plugin ${JSON.stringify(unknown)}; available: ${known}`
    throw new CliError({ code: 'InvalidFlag', message })
  }
  const withoutAccounts = !hasServiceAccounts && !enable.includes('ServiceAccount')
  const configuration = file === undefined ? undefined : await readAdmissionConfiguration(file)
  const choice = {
    enable,
    disable: withoutAccounts ? [...disable, 'ServiceAccount'] : disable,
    ...(configuration === undefined ? {} : { configuration }),
  }
  const manifests =
    configuration === undefined || reading === undefined ? undefined : await readStaticManifests(configuration, reading)
  const opening = manifests === undefined ? {} : { openStaticObjects: manifests.open }
  const { defaultNotReadyTolerationSeconds: notReady = 300, defaultUnreachableTolerationSeconds: unreachableFor = 300 } = options
  // The controller that creates the default service accounts may run in another process.
  const wait = offline ? {} : { defaultAccountWaitMs: 1500 }
  const tolerations = { tolerationSeconds: { notReady, unreachable: unreachableFor } }
  const connections: WebhookConnections = createWebhookConnections()
  return {
    make(environment) {
      try {
        return createAdmissionPlugins(
          { ...environment, ...tolerations, ...wait, ...opening, connect: offline ? () => unreachable : connections.connect },
          choice,
        )
      } catch (error) {
        if (error instanceof AdmissionError) throw new CliError({ code: 'InvalidFlag', message: error.message, cause: error })
        throw error
      }
    },
    ready: connections.ready,
    async [Symbol.asyncDispose]() {
      manifests?.[Symbol.dispose]()
      await connections[Symbol.asyncDispose]()
    },
  }
}

async function unreachable(): Promise<never> {
  throw new Error('webhooks are not called offline')
}
