import { type NamingProfile, stockProfile } from '@krmkit/meta'

/** Groups in two spellings: as the facts have them, and as a naming profile does. */

/** `storage.k8s.io` -> `storage.<apiDomain>`; groups without the domain stay as they are. */
export function profileGroup(group: string, { apiDomain }: NamingProfile): string {
  return replaceDomain(group, stockProfile.apiDomain, apiDomain)
}

/** The way back. */
export function stockGroup(group: string, { apiDomain }: NamingProfile): string {
  return replaceDomain(group, apiDomain, stockProfile.apiDomain)
}

function replaceDomain(group: string, from: string, to: string): string {
  return from !== to && group.endsWith(`.${from}`) ? `${group.slice(0, -from.length)}${to}` : group
}
