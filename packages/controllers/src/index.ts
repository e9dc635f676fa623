export { bootstrapSigner } from './bootstrap-signer/bootstrap-signer.ts'
export { tokenCleaner } from './bootstrap-token-cleaner/token-cleaner.ts'
export { builtInControllers } from './built-in.ts'
export { clusterRoleAggregationController } from './cluster-role-aggregation/aggregation-controller.ts'
export { ControllersError, type ControllersErrorCode } from './controllers-error.ts'
export { approvingController } from './csr-approval/approving-controller.ts'
export { requestCleaner } from './csr-cleaner/cleaner-controller.ts'
export { signingController } from './csr-signing/signing-controller.ts'
export { trustBundlePublisher } from './csr-signing/trust-bundle-publisher.ts'
export { deploymentController } from './deployment/deployment-controller.ts'
export { disruptionController } from './disruption/disruption-controller.ts'
export { type Discovered, type DiscoveredResource, discover } from './framework/discovery.ts'
export type { Informers } from './framework/informers.ts'
export { metadataClient } from './framework/metadata-client.ts'
export type { MonitorHandlers, Monitors } from './framework/monitors.ts'
export { ignoreNotFound, unlessUnwanted } from './framework/outcomes.ts'
export type { RequeueAfter, WorkQueue, WorkQueueOptions } from './framework/work-queue.ts'
export { garbageCollector } from './garbage-collector/garbage-collector.ts'
export type {
  CertificateSigning,
  Controller,
  ControllerContext,
  ControllersOptions,
  QueueOptions,
  RunningControllers,
} from './interfaces.ts'
export { type Namespace, namespaceController, namespaces } from './namespace/namespace-controller.ts'
export { rootCAPublisher } from './root-ca.ts'
export { chooseControllers, runControllers } from './run.ts'
export type { ServerFacts } from './server-objects/interfaces.ts'
export { serverControllers } from './server-objects/server-controllers.ts'
export { serviceAccountController } from './service-account.ts'
export { legacyTokenCleaner } from './service-account-tokens/legacy-cleaner.ts'
export type { LegacyTokenIssuer, LegacyTokenRequest } from './service-account-tokens/token-secrets.ts'
export { serviceAccountTokensController } from './service-account-tokens/tokens-controller.ts'
export { volumeBinder } from './volume/binder-controller.ts'
export { ephemeralVolumeController } from './volume/ephemeral-controller.ts'
export { claimProtectionController, volumeProtectionController } from './volume/protection.ts'
