/**
 * What the names of a kind may look like.
 */

import { isDns1035Label, isDns1123Label, isDns1123Subdomain, isPathSegmentName, isPathSegmentPrefix } from './name-formats.ts'

/**
 * Says what is wrong with a name; an empty list means that it is fine.
 *
 * With `prefix` the text is a `generateName`, to which characters will be added, so that a dash at its end is fine.
 */
export type NameRule = (name: string, prefix: boolean) => string[]

/** The rules that kinds choose from. */
export type NameRuleName = 'dns1123Label' | 'dns1123Subdomain' | 'dns1035Label' | 'pathSegment' | 'any'

/** The rules by name; `any` refuses nothing. */
export const nameRules: Readonly<Record<NameRuleName, NameRule>> = {
  dns1123Label: (name, prefix) => isDns1123Label(prefix ? maskTrailingDash(name) : name),
  dns1123Subdomain: (name, prefix) => isDns1123Subdomain(prefix ? maskTrailingDash(name) : name),
  dns1035Label: (name, prefix) => isDns1035Label(prefix ? maskTrailingDash(name) : name),
  pathSegment: (name, prefix) => (prefix ? isPathSegmentPrefix(name) : isPathSegmentName(name)),
  any: () => [],
}

/** A dash at the end becomes a letter, because a generated name goes on after it. */
function maskTrailingDash(name: string): string {
  return name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name
}
