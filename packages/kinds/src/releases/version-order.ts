import type { GroupVersion } from '@krmkit/meta'
import { compareVersions } from '../catalog/groups.ts'

/** Versions that stock servers do not order by their names. Key: `group/version`; higher values come first. */
const priorities: Readonly<Record<string, number>> = {
  'autoscaling/v2': 30,
  'autoscaling/v1': 15,
  'autoscaling/v2beta1': 9,
  'autoscaling/v2beta2': 1,
}

/** Orders versions of one group from the most to the least preferred, in any release. */
export function compareVersionsAt(a: GroupVersion, b: GroupVersion): number {
  const [one, two] = [priorities[`${a.group}/${a.version}`], priorities[`${b.group}/${b.version}`]]
  if (one !== undefined && two !== undefined) return two - one
  return compareVersions(a.version, b.version)
}
