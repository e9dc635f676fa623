import { type Authorizer, alwaysAllow, alwaysDeny, systemMasters, unionAuthorizer } from '@krmkit/authorization'
import type { AuthorizationMode } from './serve-options.ts'

const authorizers: Readonly<Record<AuthorizationMode, Authorizer>> = {
  AlwaysAllow: alwaysAllow,
  AlwaysDeny: alwaysDeny,
  SystemMasters: systemMasters,
}

/** The authorizers of the modes, asked in their order. */
export function authorizerOf(modes: readonly AuthorizationMode[]): Authorizer {
  const chosen = modes.map((mode) => authorizers[mode])
  return chosen.length === 1 ? chosen[0]! : unionAuthorizer(chosen)
}
