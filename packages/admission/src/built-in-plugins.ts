import { gateEnabled } from '@krmkit/meta/feature-gates'
import { AdmissionError } from './admission-error.ts'
import type { AdmissionEnvironment } from './environment.ts'
import { parseImagePolicyConfiguration } from './image-policy/configuration.ts'
import type { AdmissionPlugin } from './interfaces.ts'
import { staticObjectsOf } from './manifests/configuration.ts'
import type { StaticObjects } from './manifests/static-objects.ts'
import { alwaysAdmit, alwaysDeny } from './plugins/always.ts'
import { alwaysPullImages } from './plugins/always-pull-images.ts'
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
} from './plugins/certificates.ts'
import { defaultIngressClass } from './plugins/default-ingress-class.ts'
import { defaultStorageClass } from './plugins/default-storage-class.ts'
import { defaultTolerationSeconds } from './plugins/default-toleration-seconds.ts'
import { denyServiceExternalIPs } from './plugins/deny-service-external-ips.ts'
import { extendedResourceToleration } from './plugins/extended-resource-toleration.ts'
import { imagePolicyWebhook } from './plugins/image-policy-webhook.ts'
import { limitPodHardAntiAffinityTopology } from './plugins/limit-pod-hard-anti-affinity-topology.ts'
import { limitRanger } from './plugins/limit-ranger.ts'
import { namespaceAutoProvision } from './plugins/namespace-auto-provision.ts'
import { namespaceExists } from './plugins/namespace-exists.ts'
import { namespaceLifecycle } from './plugins/namespace-lifecycle.ts'
import { nodeDeclaredFeatureValidator } from './plugins/node-declared-feature-validator.ts'
import { nodeRestriction } from './plugins/node-restriction.ts'
import { ownerReferencesPermissionEnforcement } from './plugins/owner-references.ts'
import { persistentVolumeClaimResize } from './plugins/persistent-volume-claim-resize.ts'
import { jobValidation, podGroupProtection, podGroupWorkloadExists } from './plugins/pod-groups.ts'
import { parseNodeSelectors, podNodeSelector } from './plugins/pod-node-selector.ts'
import { podResizeValidator } from './plugins/pod-resize-validator.ts'
import { podSecurity } from './plugins/pod-security.ts'
import { podSecurityPolicy } from './plugins/pod-security-policy.ts'
import { parseClusterTolerations, podTolerationRestriction } from './plugins/pod-toleration-restriction.ts'
import { podTopologyLabels } from './plugins/pod-topology-labels.ts'
import { priority } from './plugins/priority.ts'
import { resourceQuota } from './plugins/resource-quota.ts'
import { runtimeClass } from './plugins/runtime-class.ts'
import { serviceAccount } from './plugins/service-account.ts'
import { storageObjectInUseProtection } from './plugins/storage-object-in-use-protection.ts'
import { taintNodesByCondition } from './plugins/taint-nodes-by-condition.ts'
import { parsePodSecurityConfiguration } from './pod-security/configuration.ts'
import { celMatchConditions } from './policy/match-conditions.ts'
import { mutatingPolicies } from './policy/mutating-policies.ts'
import { validatingPolicies } from './policy/validating-policies.ts'
import { parseLimitedResources } from './quota/limited.ts'
import { mutatingWebhooks } from './webhook/mutating.ts'
import { type WebhookEnvironment, webhookOptions } from './webhook/options.ts'
import { validatingWebhooks } from './webhook/validating.ts'

/** A plugin that can be enabled by name. */
export interface PluginDefinition {
  /** Name in `--enable-admission-plugins`. */
  readonly name: string
  /** Whether the plugin runs unless it is disabled. */
  readonly enabledByDefault: boolean
  /** First release with the plugin. Default: every release. */
  readonly since?: string
  /** First release without the plugin. Default: none. */
  readonly removed?: string
  /**
   * @param configuration the plugin's part of the configuration file, or undefined.
   * @throws AdmissionError `InvalidConfiguration`
   */
  create(environment: AdmissionEnvironment, configuration: unknown): AdmissionPlugin
}

/** Plugins that not all releases have. */
const releases: Readonly<Record<string, Pick<PluginDefinition, 'since' | 'removed'>>> = {
  PodSecurityPolicy: { removed: '1.25' },
  PodSecurity: { since: '1.22' },
  ValidatingAdmissionPolicy: { since: '1.26' },
  ClusterTrustBundleAttest: { since: '1.27' },
  MutatingAdmissionPolicy: { since: '1.32' },
  PodTopologyLabels: { since: '1.33' },
  NodeDeclaredFeatureValidator: { since: '1.35' },
  PodGroupProtection: { since: '1.36' },
  PodGroupWorkloadExists: { since: '1.36', removed: '1.37' },
  JobValidation: { since: '1.36', removed: '1.37' },
  PodResizeValidator: { since: '1.36' },
}

function plugin(name: string, enabledByDefault: boolean, create: PluginDefinition['create']): PluginDefinition {
  return { name, enabledByDefault, ...releases[name], create }
}

/** Match conditions are evaluated as CEL unless the embedder brings an evaluator. */
function webhookEnvironmentOf({ webhooks, authorizer }: AdmissionEnvironment): WebhookEnvironment {
  return { conditions: celMatchConditions({ authorizer }), ...webhooks }
}

/** A plugin that runs where one of its feature gates is on. */
function gatedPlugin(name: string, gates: readonly string[], create: PluginDefinition['create']): PluginDefinition {
  return plugin(name, true, (environment, given) =>
    gates.some((gate) => gateEnabled(gate, environment.features)) ? create(environment, given) : disabled(name),
  )
}

/** The environment with the objects of the folder that the configuration of a plugin names. */
function withManifests(
  plugin: string,
  environment: AdmissionEnvironment,
  configuration: unknown,
): AdmissionEnvironment & { readonly manifests: StaticObjects | undefined } {
  return { ...environment, manifests: staticObjectsOf(plugin, configuration, environment) }
}

/** A plugin whose feature gate is off. */
function disabled(name: string): AdmissionPlugin {
  return { name, handles: () => false }
}

function unreachable(name: string): AdmissionError {
  return new AdmissionError({
    code: 'InvalidConfiguration',
    message: `admission plugin ${name} calls a remote service, but no connection is configured`,
  })
}

/**
 * The built-in plugins in execution order, which no flag changes. Webhooks and policies come after the compiled-in plugins, and
 * quotas after them, so that a refused request is never charged.
 *
 * @see API protocol specification, 5.10
 */
export const builtInPlugins: readonly PluginDefinition[] = [
  plugin('AlwaysAdmit', false, () => alwaysAdmit()),
  plugin('NamespaceAutoProvision', false, () => namespaceAutoProvision()),
  plugin('NamespaceLifecycle', true, ({ profile }) => namespaceLifecycle(profile)),
  plugin('NamespaceExists', false, () => namespaceExists()),
  plugin('LimitPodHardAntiAffinityTopology', false, ({ profile }) => limitPodHardAntiAffinityTopology(profile)),
  plugin('LimitRanger', true, ({ profile }) => limitRanger(profile)),
  plugin('ServiceAccount', true, ({ profile, random, clock, mountedTokenSeconds: tokenSeconds, defaultAccountWaitMs: ms = 0 }) =>
    serviceAccount({
      ...{ profile, random },
      ...(tokenSeconds === undefined ? {} : { tokenSeconds }),
      ...(ms === 0 ? {} : { defaultAccountWait: { clock, timeoutMs: ms } }),
    }),
  ),
  plugin('NodeRestriction', false, ({ profile, features, authorizer }) =>
    nodeRestriction({
      profile,
      authorizer,
      checkAudiences: gateEnabled('ServiceAccountNodeAudienceRestriction', features),
      anyCertificateSubject: gateEnabled('AllowInsecureKubeletCertificateSigningRequests', features),
      recoverExpansion: gateEnabled('RecoverVolumeExpansionFailure', features),
    }),
  ),
  plugin('TaintNodesByCondition', true, ({ profile }) => taintNodesByCondition(profile)),
  plugin('AlwaysPullImages', false, () => alwaysPullImages()),
  plugin('ImagePolicyWebhook', false, ({ profile, features, clock, connect }, given) => {
    const configuration = parseImagePolicyConfiguration(given)
    if (connect === undefined) throw unreachable('ImagePolicyWebhook')
    return imagePolicyWebhook({ profile, features, clock, configuration, post: connect(configuration.kubeConfigFile) })
  }),
  plugin('PodSecurity', true, ({ profile, features }, given) =>
    podSecurity({
      profile,
      configuration: parsePodSecurityConfiguration(given, profile.apiDomain),
      relaxForUserNamespaces: features.enabled('UserNamespacesPodSecurityStandards'),
      features,
    }),
  ),
  plugin('PodSecurityPolicy', false, ({ profile, authorizer }) => podSecurityPolicy({ profile, authorizer })),
  plugin('PodNodeSelector', false, ({ profile }, given) => podNodeSelector(profile, parseNodeSelectors(given))),
  plugin('Priority', true, ({ profile }) => priority(profile)),
  plugin('DefaultTolerationSeconds', true, ({ profile, tolerationSeconds }) =>
    defaultTolerationSeconds(profile, tolerationSeconds),
  ),
  plugin('PodTolerationRestriction', false, ({ profile }, given) =>
    podTolerationRestriction(profile, parseClusterTolerations(given, profile.apiDomain)),
  ),
  plugin('ExtendedResourceToleration', false, ({ profile }) => extendedResourceToleration(profile)),
  plugin('DefaultStorageClass', true, ({ profile }) => defaultStorageClass(profile)),
  plugin('StorageObjectInUseProtection', true, ({ profile }) => storageObjectInUseProtection(profile)),
  gatedPlugin('PodGroupProtection', ['GenericWorkload'], ({ profile }) => podGroupProtection(profile)),
  plugin('OwnerReferencesPermissionEnforcement', false, ({ authorizer }) => ownerReferencesPermissionEnforcement(authorizer)),
  plugin('PersistentVolumeClaimResize', true, ({ profile }) => persistentVolumeClaimResize(profile)),
  plugin('RuntimeClass', true, ({ profile }) => runtimeClass(profile)),
  plugin('CertificateApproval', true, certificateApproval),
  plugin('CertificateSigning', true, certificateSigning),
  plugin('ClusterTrustBundleAttest', true, clusterTrustBundleAttest),
  plugin('CertificateSubjectRestriction', true, ({ profile }) => certificateSubjectRestriction(profile)),
  plugin('DefaultIngressClass', true, ({ profile }) => defaultIngressClass(profile)),
  plugin('DenyServiceExternalIPs', false, () => denyServiceExternalIPs()),
  gatedPlugin('PodTopologyLabels', ['PodTopologyLabelsAdmission'], ({ profile }) => podTopologyLabels(profile)),
  gatedPlugin('PodGroupWorkloadExists', ['GenericWorkload'], ({ profile }) => podGroupWorkloadExists(profile)),
  gatedPlugin('NodeDeclaredFeatureValidator', ['NodeDeclaredFeatures'], ({ profile, features }) =>
    nodeDeclaredFeatureValidator(profile, features),
  ),
  gatedPlugin('JobValidation', ['GenericWorkload', 'WorkloadWithJob'], ({ profile }) => jobValidation(profile)),
  gatedPlugin('PodResizeValidator', ['InPlacePodVerticalScaling'], ({ profile }) => podResizeValidator(profile)),
  gatedPlugin('MutatingAdmissionPolicy', ['MutatingAdmissionPolicy'], (environment, given) =>
    mutatingPolicies(withManifests('MutatingAdmissionPolicy', environment, given)),
  ),
  plugin('MutatingAdmissionWebhook', true, (environment, given) => {
    const options = withManifests('MutatingAdmissionWebhook', environment, given)
    return mutatingWebhooks(webhookOptions(options, webhookEnvironmentOf(environment), given))
  }),
  plugin('ValidatingAdmissionPolicy', true, (environment, given) =>
    validatingPolicies(withManifests('ValidatingAdmissionPolicy', environment, given)),
  ),
  plugin('ValidatingAdmissionWebhook', true, (environment, given) => {
    const options = withManifests('ValidatingAdmissionWebhook', environment, given)
    return validatingWebhooks(webhookOptions(options, webhookEnvironmentOf(environment), given))
  }),
  plugin('ResourceQuota', true, ({ profile, clock, features }, given) =>
    resourceQuota({
      profile,
      clock,
      limited: parseLimitedResources(given, profile.apiDomain),
      chargeAllocatedStorage: gateEnabled('RecoverVolumeExpansionFailure', features),
    }),
  ),
  plugin('AlwaysDeny', false, () => alwaysDeny()),
]
