export type { Attributes, Authorizer, Decision } from './interfaces.ts'
export { alwaysAllow, alwaysDeny, systemMasters, unionAuthorizer } from './simple.ts'
