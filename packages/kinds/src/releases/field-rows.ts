/**
 * One row a field: `name introduced [enabled by default] [gate] [-removed]`. Facts from the release notes and the list of feature gates.
 * Gates that 1.33 still has bring their own release; another gate without a second release is on by default from the start.
 */

const container = ['resizePolicy 1.27 InPlacePodVerticalScaling', 'restartPolicy 1.28 SidecarContainers']

const statefulSetSpec = [
  'minReadySeconds 1.22 1.23 StatefulSetMinReadySeconds',
  'persistentVolumeClaimRetentionPolicy 1.23 StatefulSetAutoDeletePVC',
  'ordinals 1.26 StatefulSetStartOrdinal',
]

const flowLevel = ['lendablePercent 1.26', 'borrowingLimitPercent 1.26']

const webhook = ['matchConditions 1.27 1.28 AdmissionWebhookMatchConditions']

const endpoint = ['hints 1.21 TopologyAwareHints']

const endpointConditions = ['serving 1.20', 'terminating 1.20']

export const fieldRows: Readonly<Record<string, readonly string[]>> = {
  'admissionregistration/v1.MutatingWebhook': webhook,
  'admissionregistration/v1.ValidatingWebhook': webhook,
  'apiextensions/v1.CustomResourceDefinitionVersion': ['selectableFields 1.30 CustomResourceFieldSelectors'],
  'apiextensions/v1.JSONSchemaProps': ['x-kubernetes-validations 1.23 1.25 CustomResourceValidationExpressions'],
  'apiextensions/v1.ValidationRule': [
    'messageExpression 1.27',
    'reason 1.27',
    'fieldPath 1.28',
    'optionalOldSelf 1.29 CRDValidationRatcheting',
  ],
  'apps/v1.RollingUpdateDaemonSet': ['maxSurge 1.21 1.22 DaemonSetUpdateSurge'],
  'apps/v1.DeploymentStatus': ['terminatingReplicas 1.33 DeploymentReplicaSetTerminatingReplicas'],
  'apps/v1.ReplicaSetStatus': ['terminatingReplicas 1.33 DeploymentReplicaSetTerminatingReplicas'],
  'apps/v1.RollingUpdateStatefulSetStrategy': ['maxUnavailable 1.24 MaxUnavailableStatefulSet'],
  'apps/v1.StatefulSetSpec': statefulSetSpec,
  'apps/v1.StatefulSetStatus': ['availableReplicas 1.22'],
  'authorization/v1.ResourceAttributes': [
    'fieldSelector 1.31 AuthorizeWithSelectors',
    'labelSelector 1.31 AuthorizeWithSelectors',
  ],
  'autoscaling/v2.HPAScalingRules': ['tolerance 1.33 HPAConfigurableTolerance'],
  'autoscaling/v2.MetricSpec': ['containerResource 1.20 1.27 HPAContainerMetrics'],
  'autoscaling/v2.MetricStatus': ['containerResource 1.20 1.27 HPAContainerMetrics'],
  'batch/v1.CronJobSpec': ['timeZone 1.24 1.25 CronJobTimeZone'],
  'batch/v1.CronJobStatus': ['lastSuccessfulTime 1.21'],
  'batch/v1.JobSpec': [
    'suspend 1.21 1.22 SuspendJob',
    'completionMode 1.21 1.22 IndexedJob',
    'podFailurePolicy 1.25 1.26 JobPodFailurePolicy',
    'backoffLimitPerIndex 1.28 JobBackoffLimitPerIndex',
    'maxFailedIndexes 1.28 JobBackoffLimitPerIndex',
    'podReplacementPolicy 1.28 JobPodReplacementPolicy',
    'successPolicy 1.30 JobSuccessPolicy',
    'managedBy 1.30 JobManagedBy',
  ],
  'batch/v1.JobStatus': [
    'completedIndexes 1.21',
    'uncountedTerminatedPods 1.22',
    'ready 1.22 1.24 JobReadyPods',
    'terminating 1.28 JobPodReplacementPolicy',
    'failedIndexes 1.28 JobBackoffLimitPerIndex',
  ],
  'certificates/v1.CertificateSigningRequestSpec': ['expirationSeconds 1.22'],
  'coordination/v1.LeaseSpec': ['strategy 1.31 CoordinatedLeaderElection', 'preferredHolder 1.31 CoordinatedLeaderElection'],
  'core/v1.CSIPersistentVolumeSource': [
    'nodeExpandSecretRef 1.25 1.27 CSINodeExpandSecret',
    'controllerExpandSecretRef 1.14 1.16 ExpandCSIVolumes',
  ],
  'core/v1.Container': container,
  'core/v1.EphemeralContainerCommon': container,
  'core/v1.ContainerStatus': [
    'allocatedResources 1.27 InPlacePodVerticalScaling',
    'resources 1.27 InPlacePodVerticalScaling',
    'volumeMounts 1.30 RecursiveReadOnlyMounts',
    'user 1.31 SupplementalGroupsPolicy',
    'allocatedResourcesStatus 1.31 ResourceHealthStatus',
    'stopSignal 1.33 ContainerStopSignals',
  ],
  'core/v1.EndpointPort': ['appProtocol 1.19'],
  'core/v1.Lifecycle': ['stopSignal 1.33 ContainerStopSignals'],
  'core/v1.LifecycleHandler': ['sleep 1.29 PodLifecycleSleepAction'],
  'core/v1.LoadBalancerIngress': ['ports 1.20', 'ipMode 1.29 LoadBalancerIPMode'],
  'core/v1.NodeStatus': ['runtimeHandlers 1.30 RecursiveReadOnlyMounts', 'features 1.31 SupplementalGroupsPolicy'],
  'core/v1.NodeSystemInfo': ['swap 1.33'],
  'core/v1.PersistentVolumeClaimSpec': [
    'dataSourceRef 1.22 AnyVolumeDataSource',
    'volumeAttributesClassName 1.29 VolumeAttributesClass',
  ],
  'core/v1.PersistentVolumeClaimStatus': [
    'allocatedResources 1.23 RecoverVolumeExpansionFailure',
    'resizeStatus 1.23 RecoverVolumeExpansionFailure -1.28',
    'allocatedResourceStatuses 1.28 RecoverVolumeExpansionFailure',
    'currentVolumeAttributesClassName 1.29 VolumeAttributesClass',
    'modifyVolumeStatus 1.29 VolumeAttributesClass',
  ],
  'core/v1.PersistentVolumeSpec': ['volumeAttributesClassName 1.29 VolumeAttributesClass'],
  'core/v1.PersistentVolumeStatus': ['lastPhaseTransitionTime 1.28 1.29 PersistentVolumeLastPhaseTransitionTime'],
  'core/v1.PodAffinityTerm': [
    'namespaceSelector 1.21 1.22 PodAffinityNamespaceSelector',
    'matchLabelKeys 1.29 MatchLabelKeysInPodAffinity',
    'mismatchLabelKeys 1.29 MatchLabelKeysInPodAffinity',
  ],
  'core/v1.PodCondition': ['observedGeneration 1.33 PodObservedGenerationTracking'],
  'core/v1.PodSecurityContext': [
    'seccompProfile 1.19',
    'fsGroupChangePolicy 1.18 1.20 ConfigurableFSGroupPolicy',
    'appArmorProfile 1.30 AppArmorFields',
    'supplementalGroupsPolicy 1.31 SupplementalGroupsPolicy',
    'seLinuxChangePolicy 1.32 SELinuxChangePolicy',
  ],
  'core/v1.PodSpec': [
    'setHostnameAsFQDN 1.19 1.20 SetHostnameAsFQDN',
    'os 1.23 1.24 IdentifyPodOS',
    'hostUsers 1.25 UserNamespacesSupport',
    'schedulingGates 1.26 PodSchedulingReadiness',
    'resourceClaims 1.26 DynamicResourceAllocation',
    'resources 1.32 PodLevelResources',
  ],
  'core/v1.PodStatus': [
    'ephemeralContainerStatuses 1.16 1.23 EphemeralContainers',
    'hostIPs 1.28 1.29 PodHostIPs',
    'resize 1.27 InPlacePodVerticalScaling',
    'resourceClaimStatuses 1.28 DynamicResourceAllocation',
    'observedGeneration 1.33 PodObservedGenerationTracking',
  ],
  'core/v1.Probe': ['terminationGracePeriodSeconds 1.21 1.22 ProbeTerminationGracePeriod'],
  'core/v1.ProbeHandler': ['grpc 1.23 1.24 GRPCContainerProbe'],
  'core/v1.ResourceRequirements': ['claims 1.26 DynamicResourceAllocation'],
  'core/v1.SecurityContext': ['seccompProfile 1.19', 'appArmorProfile 1.30 AppArmorFields'],
  'core/v1.ServicePort': ['appProtocol 1.18 1.19 ServiceAppProtocol'],
  'core/v1.ServiceSpec': [
    'clusterIPs 1.20',
    'ipFamilies 1.20 1.21 IPv6DualStack',
    'ipFamilyPolicy 1.20 1.21 IPv6DualStack',
    'allocateLoadBalancerNodePorts 1.20 1.22 ServiceLBNodePortControl',
    'internalTrafficPolicy 1.21 1.22 ServiceInternalTrafficPolicy',
    'loadBalancerClass 1.21 1.22 ServiceLoadBalancerClass',
    'trafficDistribution 1.30 ServiceTrafficDistribution',
  ],
  'core/v1.ServiceStatus': ['conditions 1.20'],
  'core/v1.TopologySpreadConstraint': [
    'minDomains 1.24 1.25 MinDomainsInPodTopologySpread',
    'nodeAffinityPolicy 1.25 NodeInclusionPolicyInPodTopologySpread',
    'nodeTaintsPolicy 1.25 NodeInclusionPolicyInPodTopologySpread',
    'matchLabelKeys 1.25 MatchLabelKeysInPodTopologySpread',
  ],
  'core/v1.VolumeMount': ['recursiveReadOnly 1.30 RecursiveReadOnlyMounts'],
  'core/v1.VolumeProjection': ['clusterTrustBundle 1.29 ClusterTrustBundleProjection'],
  'core/v1.VolumeSource': ['ephemeral 1.19 1.21 GenericEphemeralVolume', 'image 1.31 ImageVolume'],
  'core/v1.WindowsSecurityContextOptions': ['hostProcess 1.22 1.23 WindowsHostProcessContainers'],
  'discovery/v1.Endpoint': endpoint,
  'discovery/v1.EndpointConditions': endpointConditions,
  'discovery/v1.EndpointHints': ['forNodes 1.33 PreferSameTrafficDistribution'],
  'flowcontrol/v1.LimitedPriorityLevelConfiguration': flowLevel,
  'flowcontrol/v1.PriorityLevelConfigurationSpec': ['exempt 1.28'],
  'core/v1.PodLogOptions': ['stream 1.32 PodLogsQuerySplitStreams'],
  'meta/v1.DeleteOptions': ['ignoreStoreReadErrorWithClusterBreakingPotential 1.32 AllowUnsafeMalformedObjectDeletion'],
  'networking/v1.IngressClassParametersReference': [
    'scope 1.21 1.22 IngressClassNamespacedParams',
    'namespace 1.21 1.22 IngressClassNamespacedParams',
  ],
  'networking/v1.NetworkPolicyPort': ['endPort 1.21 1.22 NetworkPolicyEndPort'],
  'policy/v1.PodDisruptionBudgetSpec': ['unhealthyPodEvictionPolicy 1.26 1.27 PDBUnhealthyPodEvictionPolicy'],
  'storage/v1.CSIDriverSpec': [
    'fsGroupPolicy 1.19 1.20 CSIVolumeFSGroupPolicy',
    'tokenRequests 1.20 1.21 CSIServiceAccountToken',
    'requiresRepublish 1.20 1.21 CSIServiceAccountToken',
    'storageCapacity 1.19 1.21 CSIStorageCapacity',
    'seLinuxMount 1.25 SELinuxMountReadWriteOncePod',
    'nodeAllocatableUpdatePeriodSeconds 1.33 MutableCSINodeAllocatableCount',
  ],
  'storage/v1.CSIStorageCapacity': ['maximumVolumeSize 1.21'],
  'storage/v1.VolumeError': ['errorCode 1.33 MutableCSINodeAllocatableCount'],
}
