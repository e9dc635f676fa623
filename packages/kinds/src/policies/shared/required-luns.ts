/**
 * Where bodies must name the `lun` of an iscsi volume. `Differs:` the stock server reads a missing one as 0.
 *
 * @see Configuration and storage specification, 2.3
 */
export function lunsOfPods(...place: readonly string[]): readonly (readonly string[])[] {
  return [[...place, 'spec', 'volumes', '*', 'iscsi'].map((step) => (step === '*' ? step : `${step}?`)).concat('lun')]
}

export const lunOfVolume: readonly string[] = ['spec?', 'iscsi?', 'lun']
