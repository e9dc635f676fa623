import type { UserInfo } from '@krmkit/meta'

const userPrefix = 'system:node:'
const nodesGroup = 'system:nodes'

/** The node that a caller is: its name, empty when it has none; undefined for callers that are no node. */
export function nodeNameOf({ username, groups }: UserInfo): string | undefined {
  return username.startsWith(userPrefix) && groups.includes(nodesGroup) ? username.slice(userPrefix.length) : undefined
}
