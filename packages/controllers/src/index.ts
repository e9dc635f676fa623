export { builtInControllers } from './built-in.ts'
export { ControllersError, type ControllersErrorCode } from './controllers-error.ts'
export { signingController } from './csr-signing/signing-controller.ts'
export type { MetricQuery, MetricsProvider, PodQuantities } from './horizontal-pod-autoscaler/metrics.ts'
export type {
  CertificateSigning,
  Controller,
  ControllerContext,
  ControllersOptions,
  QueueOptions,
  RunningControllers,
} from './interfaces.ts'
export { type ClusterControllers, clusterControllers } from './node-simulation/cluster-controllers.ts'
export type {
  BehaviorMatch,
  ContainerBehavior,
  ContainerContext,
  ExecContext,
  MatchedBehavior,
  NodeSimulationOptions,
  NodeTemplate,
} from './node-simulation/interfaces.ts'
export { type SimulatedServerOptions, simulatedServerOptions } from './node-simulation/server-options.ts'
export { NodeSimulation } from './node-simulation/simulation.ts'
export { parseSimulation } from './node-simulation/simulation-file.ts'
export { chooseControllers, runControllers } from './run.ts'
export { scheduler } from './scheduler/scheduler.ts'
export type { ServerFacts } from './server-objects/interfaces.ts'
export { serverControllers } from './server-objects/server-controllers.ts'
export { serviceAccountController } from './service-account.ts'
export type { LegacyTokenIssuer, LegacyTokenRequest } from './service-account-tokens/token-secrets.ts'
export { type MigrationOptions, type MigrationProgress, migrateResource } from './storage-migration/migrate-resource.ts'
export { workloadControllers } from './workload-controllers.ts'
