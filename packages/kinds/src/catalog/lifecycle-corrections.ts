/**
 * Corrections of recorded lifecycles, from the release notes: kinds without announcements, and kinds that a release removed without
 * announcing it in the type. Key: `group/version/kind`.
 */
export interface LifecycleCorrection {
  readonly introduced?: string
  readonly deprecated?: string
  readonly removed?: string
  /** `group,version,kind` */
  readonly replacement?: string
}

const rbac = 'rbac.authorization.k8s.io'
const flowControl = 'flowcontrol.apiserver.k8s.io'

function all(keys: readonly string[], correction: LifecycleCorrection): Record<string, LifecycleCorrection> {
  return Object.fromEntries(keys.map((key) => [key, correction]))
}

/** The same name in the stable version of the group. */
function replacedByV1(group: string, kinds: readonly string[], own: LifecycleCorrection): Record<string, LifecycleCorrection> {
  return Object.fromEntries(kinds.map((kind) => [`${group}/v1alpha1/${kind}`, { ...own, replacement: `${group},v1,${kind}` }]))
}

export const lifecycleCorrections: Readonly<Record<string, LifecycleCorrection>> = {
  ...replacedByV1(rbac, ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'], {
    introduced: '1.5',
    deprecated: '1.20',
    removed: '1.23',
  }),
  ...replacedByV1('scheduling.k8s.io', ['PriorityClass'], { introduced: '1.8', deprecated: '1.20', removed: '1.23' }),
  ...replacedByV1('node.k8s.io', ['RuntimeClass'], { introduced: '1.12', deprecated: '1.20', removed: '1.24' }),
  ...replacedByV1('discovery.k8s.io', ['EndpointSlice'], { introduced: '1.16', deprecated: '1.20', removed: '1.21' }),
  'batch/v2alpha1/CronJob': { introduced: '1.4', deprecated: '1.20', removed: '1.21', replacement: 'batch,v1,CronJob' },
  'auditregistration.k8s.io/v1alpha1/AuditSink': { introduced: '1.13', deprecated: '1.18', removed: '1.19' },
  'settings.k8s.io/v1alpha1/PodPreset': { introduced: '1.6', deprecated: '1.19', removed: '1.20' },
  // Served later, or for less long, than announced.
  'certificates.k8s.io/v1alpha1/ClusterTrustBundle': { introduced: '1.27' },
  'networking.k8s.io/v1alpha1/IPAddress': { removed: '1.31' },
  'networking.k8s.io/v1alpha1/ServiceCIDR': { introduced: '1.29', removed: '1.31' },
  'storage.k8s.io/v1alpha1/VolumeAttachment': { removed: '1.23' },
  'internal.apiserver.k8s.io/v1alpha1/StorageVersion': { introduced: '1.20' },
  'coordination.k8s.io/v1alpha1/LeaseCandidate': {
    introduced: '1.31',
    deprecated: '1.32',
    removed: '1.32',
    replacement: 'coordination.k8s.io,v1alpha2,LeaseCandidate',
  },
  'networking.k8s.io/v1alpha1/ClusterCIDR': { introduced: '1.25', deprecated: '1.28', removed: '1.29' },
  // The recorded announcement of this replacement names the list.
  'networking.k8s.io/v1beta1/IngressClass': { replacement: 'networking.k8s.io,v1,IngressClass' },
  ...all(
    [`${flowControl}/v1alpha1/FlowSchema`, `${flowControl}/v1alpha1/PriorityLevelConfiguration`],
    // Served behind a flag for as long as the next version was beta.
    { introduced: '1.17' },
  ),
  ...all(
    ['PodScheduling', 'ResourceClaim', 'ResourceClaimTemplate', 'ResourceClass'].map(
      (kind) => `resource.k8s.io/v1alpha1/${kind}`,
    ),
    { introduced: '1.26', removed: '1.27' },
  ),
  ...all(
    ['ResourceClaimParameters', 'ResourceClassParameters', 'ResourceSlice'].map((kind) => `resource.k8s.io/v1alpha2/${kind}`),
    { introduced: '1.30', removed: '1.31' },
  ),
  ...all(
    ['PodSchedulingContext', 'ResourceClaim', 'ResourceClaimTemplate', 'ResourceClass'].map(
      (kind) => `resource.k8s.io/v1alpha2/${kind}`,
    ),
    { introduced: '1.27', removed: '1.31' },
  ),
  'resource.k8s.io/v1alpha3/PodSchedulingContext': { introduced: '1.31', removed: '1.32' },
}
