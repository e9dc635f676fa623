export { endpointServices } from './endpoint-services.ts'
export type { Aggregation, ProxyIdentity } from './interfaces.ts'
