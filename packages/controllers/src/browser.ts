/**
 * Browser entry point of the package: everything that runs in every runtime. Connections into simulated pods need Node and
 * are not exported.
 */

export { builtInControllers } from './built-in.ts'
export { ControllersError, type ControllersErrorCode } from './controllers-error.ts'
export { signingController } from './csr-signing/signing-controller.ts'
export type {
  CertificateSigning,
  Controller,
  ControllerContext,
  ControllerRun,
  ControllersOptions,
  DeferredHeartbeats,
  LegacyTokenIssuer,
  LegacyTokenRequest,
  QueueOptions,
  RunningControllers,
} from './interfaces.ts'
export { type LeaderElectionOptions, type LeaderElectionTimes, leaderElection } from './leader-election/leader-election.ts'
export type { MetricQuery, MetricsProvider, PodQuantities } from './metrics-provider.ts'
export { simulatedServerOptions } from './node-simulation/browser-server-options.ts'
export { type ClusterControllers, clusterControllers } from './node-simulation/cluster-controllers.ts'
export { httpProbe } from './node-simulation/http-probe.ts'
export type {
  BehaviorMatch,
  ContainerBehavior,
  ContainerContext,
  ContainerProbe,
  ExecContext,
  MatchedBehavior,
  NodeSimulationOptions,
  NodeTemplate,
  PortForwardContext,
  ProbeContext,
  ProbeType,
} from './node-simulation/interfaces.ts'
export type { SimulatedServerOptions } from './node-simulation/server-options.ts'
export { NodeSimulation } from './node-simulation/simulation.ts'
export { parseSimulation, type SimulationFileOptions } from './node-simulation/simulation-file.ts'
export { chooseControllers, runControllers } from './run.ts'
export { scheduler } from './scheduler/scheduler.ts'
export type { AllocationFinding, ServerAddresses, ServerFacts, SharedServerState } from './server-objects/interfaces.ts'
export { serverControllers } from './server-objects/server-controllers.ts'
export { serviceAccountController } from './service-account.ts'
export { type MigrationOptions, type MigrationProgress, migrateResource } from './storage-migration/migrate-resource.ts'
export { workloadControllers } from './workload-controllers.ts'
