import type { UserInfo } from '@krmkit/meta'

/** The user of requests that the API server sends itself. */
export const apiServerUser: UserInfo = { username: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] }
