/** What stands for a specification that was left out. */
import type { PodTemplateSpec } from '../../types/core-v1.generated.ts'

/** A specification with nothing in it: no selector, an empty template. A new one for each call. */
export function emptyWorkloadSpec(): { selector: null; template: PodTemplateSpec } {
  return { selector: null, template: {} }
}
