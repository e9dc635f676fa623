export { certificationScenarios, certify } from './certify.ts'
export { formatCertification } from './format.ts'
export type {
  Awaitable,
  CachedObject,
  CertificationListOptions,
  CertificationOptions,
  CertificationPatch,
  CertificationReport,
  CertificationResult,
  CertificationScenario,
  CertificationServer,
  CertificationSubject,
  ClientAdapter,
  ConnectedClient,
  InformerAdapter,
  InformerEvent,
  InformerFeatures,
  InformerStart,
  RunningInformer,
} from './interfaces.ts'
export { type ProcessSubject, type ProcessSubjectOptions, startProcessSubject } from './process-subject.ts'
export { type ServeSubjectStreams, serveSubject } from './serve-subject.ts'
