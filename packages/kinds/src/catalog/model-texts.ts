import { type NamingProfile, stockProfile } from '@krmkit/meta'
import { modelFiles } from '../data/index.generated.ts'
import { profileGroup } from '../groups.ts'

/** Text of the types of each group folder, with the groups of a profile. */
export function modelTexts(profile: NamingProfile): Readonly<Record<string, string>> {
  return profile.apiDomain === stockProfile.apiDomain ? modelFiles : modelTextsFor(profile)
}

/** Replaces the group, which is the first line of each text. */
function modelTextsFor(profile: NamingProfile): Record<string, string> {
  return Object.fromEntries(
    Object.entries(modelFiles).map(([folder, text]) => {
      const end = text.indexOf('\n')
      return [folder, profileGroup(text.slice(0, end), profile) + text.slice(end)]
    }),
  )
}
