export const lunOfSource: readonly string[] = ['iscsi', '?', '?targetPortal', '?iqn', 'lun']
export const lunOfVolume: readonly string[] = ['spec', '?', ...lunOfSource]

/**
 * Where bodies must name the `lun` of an iscsi volume. `Differs:` the stock server reads a missing one as 0. It is asked for when
 * what the stock server asks for is there.
 *
 * @see Configuration and storage specification, 2.3
 */
export function lunsOfPods(...place: readonly string[]): readonly (readonly string[])[] {
  const asked = [...place, 'spec', 'volumes'].flatMap((member) => [member, '?'])
  return [[...asked, '*', ...lunOfSource]]
}
