export { type AdmissionChain, admissionChain } from './chain.ts'
export { changesBetween } from './changes.ts'
export { defaultAdmissionPlugins } from './defaults.ts'
export type {
  AdmissionAttributes,
  AdmissionContext,
  AdmissionDecision,
  AdmissionPlugin,
  AdmissionTarget,
  Admitted,
  DecisionSink,
  Judged,
  ObjectChange,
  ObjectReader,
  ObjectWriter,
  Rounds,
  ServedKind,
  Undo,
} from './interfaces.ts'
export { pluginUser } from './interfaces.ts'
export { namespaceLifecycle } from './namespace-lifecycle.ts'
export { priority } from './priority.ts'
export { type ServiceAccountOptions, serviceAccount } from './service-account.ts'
export { defaultTolerationSeconds, taintNodesByCondition } from './tolerations.ts'
