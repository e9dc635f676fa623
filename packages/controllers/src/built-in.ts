import { bootstrapSigner } from './bootstrap-signer/bootstrap-signer.ts'
import { tokenCleaner } from './bootstrap-token-cleaner/token-cleaner.ts'
import { clusterRoleAggregationController } from './cluster-role-aggregation/aggregation-controller.ts'
import { cronJobController } from './cron-job/cron-job-controller.ts'
import { approvingController } from './csr-approval/approving-controller.ts'
import { requestCleaner } from './csr-cleaner/cleaner-controller.ts'
import { signingController } from './csr-signing/signing-controller.ts'
import { trustBundlePublisher } from './csr-signing/trust-bundle-publisher.ts'
import { daemonSetController } from './daemon-set/daemon-set-controller.ts'
import { deploymentController } from './deployment/deployment-controller.ts'
import { disruptionController } from './disruption/disruption-controller.ts'
import { endpointSliceController } from './endpoint-slice/endpoint-slice-controller.ts'
import { endpointSliceMirroringController } from './endpoint-slice-mirroring/mirroring-controller.ts'
import { endpointsController } from './endpoints/endpoints-controller.ts'
import { garbageCollector } from './garbage-collector/garbage-collector.ts'
import { horizontalPodAutoscalerController } from './horizontal-pod-autoscaler/autoscaler-controller.ts'
import type { Controller } from './interfaces.ts'
import { jobController } from './job/job-controller.ts'
import { namespaceController } from './namespace/namespace-controller.ts'
import { nodeTaintsController } from './node-taints/node-taints-controller.ts'
import { nodeTtlController } from './node-ttl/node-ttl-controller.ts'
import { podGarbageCollector } from './pod-garbage-collector/pod-garbage-collector.ts'
import { policyStatusController } from './policy-status/policy-status-controller.ts'
import { quotaController } from './quota/quota-controller.ts'
import { replicaSetController, replicationController } from './replica-set/replica-set-controller.ts'
import { rootCAPublisher } from './root-ca.ts'
import { scheduler } from './scheduler/scheduler.ts'
import { serviceAccountController } from './service-account.ts'
import { legacyTokenCleaner } from './service-account-tokens/legacy-cleaner.ts'
import { serviceAccountTokensController } from './service-account-tokens/tokens-controller.ts'
import { statefulSetController } from './stateful-set/stateful-set-controller.ts'
import { storageVersionMigrator } from './storage-migration/migration-controller.ts'
import { taintEvictionController } from './taint-eviction/taint-eviction-controller.ts'
import { ttlAfterFinishedController } from './ttl-after-finished/ttl-controller.ts'
import { volumeBinder } from './volume/binder-controller.ts'
import { ephemeralVolumeController } from './volume/ephemeral-controller.ts'
import { claimProtectionController, volumeProtectionController } from './volume/protection.ts'
import { attachDetachController } from './volume-attachment/attach-detach-controller.ts'
import { volumeExpanderController } from './volume-expansion/expander-controller.ts'
import { volumeSimulator } from './volume-simulation/volume-simulator.ts'

/** The controllers of this package, in start order. */
export const builtInControllers: readonly Controller[] = [
  serviceAccountController,
  serviceAccountTokensController,
  legacyTokenCleaner,
  rootCAPublisher,
  namespaceController,
  clusterRoleAggregationController,
  garbageCollector,
  disruptionController,
  policyStatusController,
  quotaController,
  nodeTaintsController,
  volumeBinder,
  claimProtectionController,
  volumeProtectionController,
  ephemeralVolumeController,
  deploymentController,
  replicaSetController,
  replicationController,
  statefulSetController,
  daemonSetController,
  jobController,
  cronJobController,
  nodeTtlController,
  ttlAfterFinishedController,
  endpointsController,
  endpointSliceController,
  endpointSliceMirroringController,
  horizontalPodAutoscalerController,
  attachDetachController,
  volumeExpanderController,
  volumeSimulator,
  podGarbageCollector,
  taintEvictionController,
  approvingController,
  signingController,
  requestCleaner,
  trustBundlePublisher,
  bootstrapSigner,
  tokenCleaner,
  storageVersionMigrator,
  scheduler,
]
