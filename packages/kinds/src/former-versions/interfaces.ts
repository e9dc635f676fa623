import type { Step } from './shape.ts'

/** Kinds of one group whose former versions are not served any more. */

export interface FormerKind {
  /** Stock name of the group of the hub. */
  readonly group: string
  readonly kind: string
  /** The version that the others are converted to and from. */
  readonly hub: string
  /** Former versions; the key is `version`, or `group/version` for another group. An empty list: same shape. */
  readonly versions: Readonly<Record<string, readonly Step[]>>
}
