/**
 * Where bodies must name the `lun` of an iscsi volume. `Differs:` the stock server reads a missing one as 0.
 *
 * @see Configuration and storage specification, 2.3
 */
export function lunsOfPods(...place: readonly string[]): readonly (readonly string[])[] {
  const asked = [...place, 'spec', 'volumes'].flatMap((member) => [member, '?'])
  return [[...asked, '*', 'iscsi', '?', 'lun']]
}

export const lunOfVolume: readonly string[] = ['spec', '?', 'iscsi', '?', 'lun']
