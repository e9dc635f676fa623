import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFeatures } from '@krmkit/meta'
import { builtInFeatureGates, gateEnabled } from '@krmkit/meta/feature-gates'
import { createFeatureGates } from '@krmkit/versioning'
import { describe, expect, it } from 'vitest'

/** Feature gates of the whole library: every gate that a package reads is in the registry, and its defaults agree with it. */

const root = new URL('..', import.meta.url).pathname
const sources = readdirSync(join(root, 'packages'))
  .flatMap((name) =>
    readdirSync(join(root, 'packages', name, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !/\.(?:test|generated)\.ts$/.test(file))
      .map((file) => join(root, 'packages', name, 'src', file)),
  )
  .map((file) => readFileSync(file, 'utf8'))

const known = new Set(builtInFeatureGates().map(({ name }) => name))

describe('gates that packages read', () => {
  const namesIn = (pattern: RegExp) => [
    ...new Set(sources.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name))),
  ]
  const alwaysOff = namesIn(/\bfeatures\.enabled\(\s*'(\w+)'/g)
  const byDefault = namesIn(/(?:\bgate: |\bgateEnabled\(\s*)'(\w+)'/g)

  it('are in the registry [P332]', () => {
    expect([alwaysOff.length > 0, byDefault.length > 35]).toEqual([true, true])
    expect([...alwaysOff, ...byDefault].filter((name) => !known.has(name))).toEqual([])
  })

  it('are off in every release where their default is not asked for [P332]', () => {
    for (const minor of [26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37]) {
      const { enabled } = createFeatureGates({ release: `1.${minor}` })
      expect(alwaysOff.filter((name) => enabled(name))).toEqual([])
    }
  })

  it('have the same defaults without a registry of gates [P332]', () => {
    for (const minor of [26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37]) {
      const [plain, full] = [createFeatures(`1.${minor}`), createFeatureGates({ release: `1.${minor}` })]
      expect([...known].filter((name) => gateEnabled(name, plain) !== full.enabled(name))).toEqual([])
    }
  })
})

/**
 * Gates that no package asks, with the reason. A gate whose feature krmkit gets must leave this table, and one that a package asks must not
 * be in it.
 */
const notAsked: Readonly<Record<string, string>> = {
  ...reasoned(
    'the kubelet decides',
    `CPUManagerPolicyAlphaOptions CPUManagerPolicyBetaOptions CPUManagerPolicyOptions ContainerCheckpoint CustomCPUCFSQuotaPeriod
    DevicePluginCDIDevices DisableCPUQuotaWithExclusiveCPUs DisableNodeKubeProxyVersion EventedPLEG
    ExecProbeTimeout GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority ImageMaximumGCAge
    InPlacePodVerticalScalingAllocatedStatus InPlacePodVerticalScalingExclusiveCPUs KubeletCgroupDriverFromCRI
    KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages KubeletInUserNamespace KubeletPSI
    KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletRegistrationGetOnExistsOnly KubeletSeparateDiskGC
    KubeletTracing LegacySidecarContainers LocalStorageCapacityIsolationFSQuotaMonitoring MemoryManager MemoryQoS NodeLogQuery
    NodeSwap PodAndContainerStatsFromCRI PodReadyToStartContainersCondition QOSReserved ReduceDefaultCrashLoopBackOffDecay
    ReloadKubeletServerCertificateFile RotateKubeletServerCertificate RuntimeClassInImageCriApi SizeMemoryBackedVolumes
    SystemdWatchdog TopologyManagerPolicyAlphaOptions TopologyManagerPolicyBetaOptions TopologyManagerPolicyOptions
    WindowsCPUAndMemoryAffinity WindowsGracefulNodeShutdown WindowsHostNetwork AllowDNSOnlyNodeCSR CRIListStreaming
    ChangeContainerStatusOnKubeletRestart DefaultPodSysctls ExtendWebSocketsToKubelet HugepageAwareEviction
    InPlacePodVerticalScalingExclusiveMemory KubeletAllocatedPodsEndpoint
    KubeletPodResourcesListUseActivePods PLEGOnDemandRelist PodLevelResourceManagers PodLevelResourcesFixKubeletQOSClass PodsAPI
    PreventStaticPodAPIReferences ReloadKubeletClientCAFile`,
  ),
  ...reasoned(
    'the proxy of nodes decides',
    `NFTablesProxyMode WinDSR WinOverlay AllowServiceExternalIPs KubeProxyIPVS KubeProxyNFTablesLocalhostNodePorts NFTablesNetlink`,
  ),
  ...reasoned(
    'the scheduler decides',
    `SchedulerAsyncPreemption SchedulerPopFromBackoffQ SchedulerQueueingHints StorageCapacityScoring DRADerivedAttributes
    DRAFractionalCapacityRange DRASchedulerFilterTimeout GangScheduling InterPodAffinityHostnameFastPath
    NominatedNodeNameForExpectation OpportunisticBatching SchedulerAsyncAPICalls SchedulerPreQueueingHints
    WorkloadAwarePreemption`,
  ),
  ...reasoned(
    'a controller that krmkit does not have decides',
    `CSIMigrationPortworx CloudControllerManagerWebhook CronJobsScheduledAnnotation HonorPVReclaimPolicy
    InTreePluginPortworxUnregister LogarithmicScaleDown PodIndexLabel SeparateTaintEvictionController
    CloudControllerManagerWatchBasedRoutesReconciliation DRAResourcePoolStatus HPAOptimizedSelectorStore
    NodeControllerLeaseCircuitBreaker NodeLifecycleConditions`,
  ),
  ...reasoned(
    'a client library in Go decides',
    `ClientsAllowCBOR ClientsPreferCBOR InOrderInformers InformerResourceVersion WatchListClient AtomicFIFO ClientsAllowCARotation
    ClientsAllowTLSCacheGC ControllerManagerReleaseLeaderElectionLockOnExit InOrderInformersBatchProcess
    UnlockWhileProcessingFIFO WebhookRoundTripLoadBalancing`,
  ),
  ...reasoned(
    'how kube-apiserver caches, encodes and stores, without effect on responses',
    `APIServingWithRoutine BtreeWatchCache ConcurrentWatchObjectDecode ConsistentListFromCache DeclarativeValidation
    DeclarativeValidationTakeover ListFromCacheSnapshot ResilientWatchCacheInitialization SeparateCacheWatchRPC
    StorageNamespaceIndex StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf
    WatchFromStorageWithoutResourceVersion ConsistentListFromCacheSkipTimeoutFallback DetectCacheInconsistency EtcdRangeStream
    SizeBasedListCostEstimate`,
  ),
  ...reasoned(
    'controllers read what they wrote without a cache',
    `StaleControllerConsistencyDaemonSet StaleControllerConsistencyHPA StaleControllerConsistencyJob
    StaleControllerConsistencyReplicaSet StaleControllerConsistencyStatefulSet`,
  ),
  ...reasoned(
    'off unless asked for, and krmkit does not have the feature',
    `APIServerWebhookAuthenticationToken DRADeviceCompatibilityGroups DRAListTypeAttributes DRAOptionalNodeOperations
    MutablePVNodeAffinity ShardedListAndWatch`,
  ),
  ...reasoned('the generated history of fields asks: no controller sets the fields', 'CRDObservedGenerationTracking'),
  ...reasoned(
    'metrics and connections of kube-apiserver that krmkit does not have',
    'NativeHistograms StructuredAuthenticationConfigurationEgressSelector StructuredAuthenticationConfigurationJWKSMetrics',
  ),
  ...reasoned('the code of Go programs logs', 'ContextualLogging LoggingAlphaOptions LoggingBetaOptions'),
  ...reasoned('krmkit has no encryption at rest', 'AllowUnsafeMalformedObjectDeletion KMSv1'),
  ...reasoned('krmkit signs tokens itself', 'ExternalServiceAccountTokenSigner'),
  ...reasoned(
    'krmkit behaves in every release as with the gate on',
    `AllowOverwriteTerminationGracePeriodSeconds CRDValidationRatcheting ComponentSLIs CustomResourceFieldSelectors ElasticIndexedJob
    OrderedNamespaceDeletion PodDisruptionConditions PodSchedulingReadiness PortForwardWebsockets StrictCostEnforcementForVAP
    StrictCostEnforcementForWebhooks TranslateStreamCloseWebsocketRequests`,
  ),
  ...reasoned(
    'limits of the listener bound the work for clients that are not authenticated',
    'UnauthenticatedHTTP2DOSMitigation',
  ),
}

function reasoned(reason: string, gates: string): Readonly<Record<string, string>> {
  return Object.fromEntries(gates.split(/\s+/).map((gate) => [gate, reason]))
}

it('every gate is asked by a package, or listed with the reason why not [P332]', () => {
  const asked = [...known].filter((gate) => sources.some((text) => text.includes(`'${gate}'`)))
  expect([...known].filter((gate) => !asked.includes(gate) && notAsked[gate] === undefined)).toEqual([])
  expect(asked.filter((gate) => notAsked[gate] !== undefined)).toEqual([])
  expect(Object.keys(notAsked).filter((gate) => !known.has(gate))).toEqual([])
})
