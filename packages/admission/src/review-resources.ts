import type { NamingProfile } from '@krmkit/meta'

/**
 * Reviews of authentication and authorization, as `group/resource`. They store nothing; a policy or webhook that refused them could shut
 * administrators out.
 */
export function reviewResources({ apiDomain }: NamingProfile): readonly string[] {
  const of = (group: string, ...resources: readonly string[]) => resources.map((resource) => `${group}.${apiDomain}/${resource}`)
  return [
    ...of('authentication', 'tokenreviews', 'selfsubjectreviews'),
    ...of(
      'authorization',
      'subjectaccessreviews',
      'localsubjectaccessreviews',
      'selfsubjectaccessreviews',
      'selfsubjectrulesreviews',
    ),
  ]
}
