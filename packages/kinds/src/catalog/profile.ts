import { type NamingProfile, stockProfile } from '@krmkit/meta'

/** Translates group names between the stock names, which the facts use, and those of a naming profile. */

/** `storage.k8s.io` -> `storage.<apiDomain>`; groups outside the domain are unchanged. */
export function profileGroup(group: string, { apiDomain }: NamingProfile): string {
  return replaceDomain(group, stockProfile.apiDomain, apiDomain)
}

/** `storage.<apiDomain>` -> `storage.k8s.io`. */
export function stockGroup(group: string, { apiDomain }: NamingProfile): string {
  return replaceDomain(group, apiDomain, stockProfile.apiDomain)
}

function replaceDomain(group: string, from: string, to: string): string {
  return from !== to && group.endsWith(`.${from}`) ? `${group.slice(0, -from.length)}${to}` : group
}
