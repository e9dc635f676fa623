import type { GroupVersion, GroupVersionKind } from '@krmkit/meta'

/** `apps/v1`, or `v1` for the core group. */
export function apiVersionOf({ group, version }: GroupVersion): string {
  return group === '' ? version : `${group}/${version}`
}

/** Reads `group,version,kind`. */
export function parseReplacement(text: string): GroupVersionKind {
  const [group = '', version = '', kind = ''] = text.split(',')
  return { group, version, kind }
}
