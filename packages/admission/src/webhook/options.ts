import type { Clock, Features, NamingProfile, Random } from '@krmkit/meta'
import { AdmissionError } from '../admission-error.ts'
import type { StaticObjects } from '../manifests/static-objects.ts'
import type { WebhookDispatcherOptions } from './dispatcher.ts'
import type { CredentialsResolver, MatchConditions } from './interfaces.ts'

/** Options of the mutating and the validating webhook plugin. */
export interface WebhookOptions extends WebhookDispatcherOptions {
  /** Evaluates match conditions. Absent: conditions fail to evaluate, and the failure policy applies. */
  readonly conditions?: MatchConditions | undefined
  /** The release whose rules for patches and exclusions apply. Default: 1.33. */
  readonly features?: Features | undefined
  /** Configurations of files, whose webhooks are called before those of the API. */
  readonly manifests?: StaticObjects | undefined
}

/** How a server calls webhooks: transport, resolvers, in-process webhooks and credentials. */
export interface WebhookEnvironment
  extends Omit<WebhookOptions, 'clock' | 'random' | 'profile' | 'features' | 'manifests' | 'resolveCredentials'> {
  /** Reads the kubeconfig that the plugin configuration names. Absent: calls carry no credentials. */
  readonly credentials?: ((kubeconfigPath: string) => CredentialsResolver) | undefined
}

/**
 * Makes the options of a webhook plugin from the environment and its part of the configuration file.
 *
 * @param configuration a `WebhookAdmissionConfiguration`, or undefined.
 * @throws AdmissionError `InvalidConfiguration`
 */
export function webhookOptions(
  environment: Pick<WebhookOptions, 'features' | 'manifests'> & {
    readonly clock: Clock
    readonly random: Random
    readonly profile: NamingProfile
  },
  { credentials, ...rest }: WebhookEnvironment,
  configuration: unknown,
): WebhookOptions {
  const { clock, random, profile, features, manifests } = environment
  const path = kubeconfigOf(configuration, profile)
  const options = { clock, random, profile, features, manifests, ...rest }
  if (path === undefined) return options
  if (credentials === undefined) throw invalid('kubeConfigFile is not supported: no reader of kubeconfigs is configured')
  return { ...options, resolveCredentials: credentials(path) }
}

function kubeconfigOf(configuration: unknown, { apiDomain }: NamingProfile): string | undefined {
  if (configuration === undefined || configuration === null) return undefined
  const { apiVersion, kind, kubeConfigFile } = configuration as Record<string, unknown>
  const known =
    (apiVersion === `apiserver.config.${apiDomain}/v1` && kind === 'WebhookAdmissionConfiguration') ||
    (apiVersion === `apiserver.config.${apiDomain}/v1alpha1` && kind === 'WebhookAdmission')
  if (!known)
    throw invalid(`the configuration of webhooks must be a WebhookAdmissionConfiguration of apiserver.config.${apiDomain}/v1`)
  if (kubeConfigFile === undefined || kubeConfigFile === '') return undefined
  if (typeof kubeConfigFile === 'string') return kubeConfigFile
  throw invalid('kubeConfigFile must be a path')
}

function invalid(message: string): AdmissionError {
  return new AdmissionError({ code: 'InvalidConfiguration', message })
}
