/** Name rules of kinds. */

import {
  validateDns1035Label,
  validateDns1123Label,
  validateDns1123Subdomain,
  validatePathSegmentName,
  validatePathSegmentPrefix,
} from './name-formats.ts'

/**
 * Validates a name; an empty list means that it is valid.
 *
 * With `prefix`, the text is a `generateName`; a suffix will follow, so a trailing dash is valid.
 */
export type NameRule = (name: string, prefix: boolean) => string[]

/** Names of the available rules. */
export type NameRuleName = 'dns1123Label' | 'dns1123Subdomain' | 'dns1035Label' | 'pathSegment' | 'any'

/** The rules by name; `any` accepts every name. */
export const nameRules: Readonly<Record<NameRuleName, NameRule>> = {
  dns1123Label: (name, prefix) => validateDns1123Label(prefix ? maskTrailingDash(name) : name),
  dns1123Subdomain: (name, prefix) => validateDns1123Subdomain(prefix ? maskTrailingDash(name) : name),
  dns1035Label: (name, prefix) => validateDns1035Label(prefix ? maskTrailingDash(name) : name),
  pathSegment: (name, prefix) => (prefix ? validatePathSegmentPrefix(name) : validatePathSegmentName(name)),
  any: () => [],
}

/** Replaces a trailing dash by a letter, because a suffix follows. */
function maskTrailingDash(name: string): string {
  return name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name
}
