import type { Features, NamingProfile } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { ConfigurationReader } from '../configuration-reader.ts'
import type { OpenStaticObjects, StaticObjects } from './static-objects.ts'

interface Environment {
  readonly profile: NamingProfile
  readonly features: Features
}

/** Kinds of the configurations of plugins that can read objects from files. */
const kinds: ReadonlyMap<string, string> = new Map([
  ['MutatingAdmissionWebhook', 'WebhookAdmissionConfiguration'],
  ['ValidatingAdmissionWebhook', 'WebhookAdmissionConfiguration'],
  ['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyConfiguration'],
  ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyConfiguration'],
])

/**
 * The folder with the objects of a plugin for webhooks or policies: `staticManifestsDir` of its configuration. Policies have a
 * configuration since 1.36.
 *
 * @param configuration the part of the plugin in the configuration file; undefined when there is none.
 * @returns undefined for another plugin, and where the configuration names no folder.
 * @throws AdmissionError `InvalidConfiguration` without the gate `ManifestBasedAdmissionControlConfig`, and for a relative path.
 * @example
 * import { staticManifestsDir } from '@krmkit/admission'
 * import { createFeatures, stockProfile } from '@krmkit/meta'
 * const kind = 'ValidatingAdmissionPolicyConfiguration'
 * const configuration = { apiVersion: 'apiserver.config.k8s.io/v1', kind, staticManifestsDir: '/etc/policies' }
 * const environment = { profile: stockProfile, features: createFeatures('1.37') }
 * staticManifestsDir('ValidatingAdmissionPolicy', configuration, environment) // '/etc/policies'
 */
export function staticManifestsDir(plugin: string, configuration: unknown, environment: Environment): string | undefined {
  const kind = kinds.get(plugin)
  const { features, profile } = environment
  if (kind === undefined || configuration === undefined || configuration === null) return undefined
  if (!features.release.atLeast('1.36')) return undefined
  const reader = new ConfigurationReader(plugin, configuration)
  // The plugins for webhooks check their kind themselves: it has an older version.
  if (kind !== 'WebhookAdmissionConfiguration') reader.expectKind([`apiserver.config.${profile.apiDomain}/v1`], kind)
  const folder = reader.text('staticManifestsDir') ?? ''
  if (folder === '') return undefined
  if (!gateEnabled('ManifestBasedAdmissionControlConfig', features))
    throw reader.error('staticManifestsDir', 'requires the feature gate ManifestBasedAdmissionControlConfig')
  if (!folder.startsWith('/')) throw reader.error('staticManifestsDir', 'must be an absolute file path')
  return folder
}

/** The objects of the folder that the configuration of a plugin names. @throws AdmissionError `InvalidConfiguration` */
export function staticObjectsOf(
  plugin: string,
  configuration: unknown,
  environment: Environment & { readonly openStaticObjects?: OpenStaticObjects },
): StaticObjects | undefined {
  const folder = staticManifestsDir(plugin, configuration, environment)
  if (folder === undefined) return undefined
  if (environment.openStaticObjects !== undefined) return environment.openStaticObjects(plugin, folder)
  const reader = new ConfigurationReader(plugin, configuration)
  throw reader.error('staticManifestsDir', 'is not supported: no reader of folders is configured')
}
