import { AdmissionError } from './admission-error.ts'
import type { AdmissionEnvironment } from './environment.ts'
import { parseImagePolicyConfiguration } from './image-policy/configuration.ts'
import type { AdmissionPlugin } from './interfaces.ts'
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
import { nodeRestriction } from './plugins/node-restriction.ts'
import { ownerReferencesPermissionEnforcement } from './plugins/owner-references.ts'
import { persistentVolumeClaimResize } from './plugins/persistent-volume-claim-resize.ts'
import { parseNodeSelectors, podNodeSelector } from './plugins/pod-node-selector.ts'
import { podSecurity } from './plugins/pod-security.ts'
import { parseClusterTolerations, podTolerationRestriction } from './plugins/pod-toleration-restriction.ts'
import { priority } from './plugins/priority.ts'
import { resourceQuota } from './plugins/resource-quota.ts'
import { runtimeClass } from './plugins/runtime-class.ts'
import { serviceAccount } from './plugins/service-account.ts'
import { storageObjectInUseProtection } from './plugins/storage-object-in-use-protection.ts'
import { taintNodesByCondition } from './plugins/taint-nodes-by-condition.ts'
import { parsePodSecurityConfiguration } from './pod-security/configuration.ts'
import { matchConditions } from './policy/match-conditions.ts'
import { validatingPolicies } from './policy/validating-policies.ts'
import { parseLimitedResources } from './quota/limited.ts'
import { mutatingWebhooks } from './webhook/mutating.ts'
import { type WebhookReach, webhookOptions } from './webhook/options.ts'
import { validatingWebhooks } from './webhook/validating.ts'

/** A plugin that can be switched on, before it is made. */
export interface PluginKind {
  /** As `--enable-admission-plugins` names it. */
  readonly name: string
  /** Runs unless it is switched off. */
  readonly isDefault: boolean
  /**
   * @param configuration what the configuration file says about the plugin; undefined when it says nothing.
   * @throws AdmissionError `InvalidConfiguration`
   */
  make(environment: AdmissionEnvironment, configuration: unknown): AdmissionPlugin
}

function plugin(name: string, isDefault: boolean, make: PluginKind['make']): PluginKind {
  return { name, isDefault, make }
}

/** Conditions of webhooks are evaluated here unless somebody else does it. */
function reachOf({ webhooks, authorizer }: AdmissionEnvironment): WebhookReach {
  return { conditions: matchConditions({ authorizer }), ...webhooks }
}

function unreachable(name: string): AdmissionError {
  return new AdmissionError({
    code: 'InvalidConfiguration',
    message: `admission plugin ${name} needs a service outside, and nothing here can reach one`,
  })
}

/**
 * Every plugin of this package in the order in which they run, which no flag changes. Those that are called for every kind of
 * object by rules of their own come last, quotas after them, so that nothing is charged for what another one refuses.
 *
 * @see API protocol specification, 5.10
 */
export const builtInPlugins: readonly PluginKind[] = [
  plugin('AlwaysAdmit', false, () => alwaysAdmit()),
  plugin('NamespaceAutoProvision', false, () => namespaceAutoProvision()),
  plugin('NamespaceLifecycle', true, ({ profile }) => namespaceLifecycle(profile)),
  plugin('NamespaceExists', false, () => namespaceExists()),
  plugin('LimitPodHardAntiAffinityTopology', false, ({ profile }) => limitPodHardAntiAffinityTopology(profile)),
  plugin('LimitRanger', true, ({ profile }) => limitRanger(profile)),
  plugin(
    'ServiceAccount',
    true,
    ({ profile, random, clock, mountedTokenSeconds: tokenSeconds, defaultAccountPatienceMs: ms = 0 }) =>
      serviceAccount({
        ...{ profile, random },
        ...(tokenSeconds === undefined ? {} : { tokenSeconds }),
        ...(ms === 0 ? {} : { patience: { clock, ms } }),
      }),
  ),
  plugin('NodeRestriction', false, ({ profile, features, authorizer }) =>
    nodeRestriction({
      profile,
      authorizer,
      checkAudiences: features.enabled('ServiceAccountNodeAudienceRestriction', features.release.atLeast('1.32')),
    }),
  ),
  plugin('TaintNodesByCondition', true, ({ profile }) => taintNodesByCondition(profile)),
  plugin('AlwaysPullImages', false, () => alwaysPullImages()),
  plugin('ImagePolicyWebhook', false, ({ profile, clock, connect }, given) => {
    const configuration = parseImagePolicyConfiguration(given)
    if (connect === undefined) throw unreachable('ImagePolicyWebhook')
    return imagePolicyWebhook({ profile, clock, configuration, post: connect(configuration.kubeConfigFile) })
  }),
  plugin('PodSecurity', true, ({ profile, features }, given) =>
    podSecurity({
      profile,
      configuration: parsePodSecurityConfiguration(given, profile.apiDomain),
      relaxedForOwnUsers: features.enabled('UserNamespacesPodSecurityStandards'),
    }),
  ),
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
  plugin('OwnerReferencesPermissionEnforcement', false, ({ authorizer }) => ownerReferencesPermissionEnforcement(authorizer)),
  plugin('PersistentVolumeClaimResize', true, ({ profile }) => persistentVolumeClaimResize(profile)),
  plugin('RuntimeClass', true, ({ profile }) => runtimeClass(profile)),
  plugin('CertificateApproval', true, certificateApproval),
  plugin('CertificateSigning', true, certificateSigning),
  plugin('ClusterTrustBundleAttest', true, clusterTrustBundleAttest),
  // Differs: the stock server has it on; the specification leaves the subject of this signer free.
  plugin('CertificateSubjectRestriction', false, ({ profile }) => certificateSubjectRestriction(profile)),
  plugin('DefaultIngressClass', true, ({ profile }) => defaultIngressClass(profile)),
  plugin('DenyServiceExternalIPs', false, () => denyServiceExternalIPs()),
  plugin('MutatingAdmissionWebhook', true, (environment, configuration) =>
    mutatingWebhooks(webhookOptions(environment, reachOf(environment), configuration)),
  ),
  plugin('ValidatingAdmissionPolicy', true, validatingPolicies),
  plugin('ValidatingAdmissionWebhook', true, (environment, configuration) =>
    validatingWebhooks(webhookOptions(environment, reachOf(environment), configuration)),
  ),
  plugin('ResourceQuota', true, ({ profile, clock }, given) =>
    resourceQuota({ profile, clock, limited: parseLimitedResources(given, profile.apiDomain) }),
  ),
  plugin('AlwaysDeny', false, () => alwaysDeny()),
]
