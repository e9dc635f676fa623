import { type NamingProfile, stockProfile } from '@krmkit/meta'
import { modelFiles } from '../data/index.generated.ts'
import { profileGroup } from './groups.ts'

/** JSON text of the facts of each group folder, with the groups of a profile. */
export function modelTexts(profile: NamingProfile): Readonly<Record<string, string>> {
  return profile.apiDomain === stockProfile.apiDomain ? modelFiles : modelTextsFor(profile)
}

/** Replaces the group at the head of each file's text. */
function modelTextsFor(profile: NamingProfile): Record<string, string> {
  const head = /^\{"group":"([^"]*)"/
  return Object.fromEntries(
    Object.entries(modelFiles).map(([folder, text]) => {
      return [folder, text.replace(head, (_, group: string) => `{"group":"${profileGroup(group, profile)}"`)]
    }),
  )
}
