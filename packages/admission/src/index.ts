export { type AdmissionChain, admissionChain } from './chain.ts'
export type { AdmissionAttributes, AdmissionContext, AdmissionPlugin, ObjectReader } from './interfaces.ts'
export { namespaceLifecycle } from './namespace-lifecycle.ts'
export { type ServiceAccountOptions, serviceAccount } from './service-account.ts'
