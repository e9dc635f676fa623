import type { Authorizer } from '../interfaces.ts'

/** An authorizer behind which another can be put while it is in use. */
export interface ReplaceableAuthorizer extends Authorizer {
  /** Whoever asks from now on is answered by this one; answers under way stay with the one before. */
  replace(next: Authorizer): void
}

export function createReplaceableAuthorizer(first: Authorizer): ReplaceableAuthorizer {
  let current = first
  return {
    authorize: (attributes) => current.authorize(attributes),
    async rulesFor(user, namespace) {
      const none = { resourceRules: [], nonResourceRules: [], incomplete: false, errors: [] }
      return (await current.rulesFor?.(user, namespace)) ?? none
    },
    replace(next) {
      current = next
    },
  }
}
