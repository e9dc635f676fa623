export const lunOfSource: readonly string[] = ['iscsi', '?', '?targetPortal', '?iqn', 'lun']
export const lunOfVolume: readonly string[] = ['spec', '?', ...lunOfSource]

/**
 * Paths where bodies must set the `lun` of an iscsi volume. `Differs:` kube-apiserver reads a missing one as 0. Required
 * only if the members that kube-apiserver requires are present.
 *
 * @see Configuration and storage specification, 2.3
 */
export function lunsOfPods(...place: readonly string[]): readonly (readonly string[])[] {
  const asked = [...place, 'spec', 'volumes'].flatMap((member) => [member, '?'])
  return [[...asked, '*', ...lunOfSource]]
}
