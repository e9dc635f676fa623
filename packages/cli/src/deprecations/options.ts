import type { DeprecationFinding } from '@krmkit/versioning'
import type { ReportedFinding } from '../offline/reported-finding.ts'
import type { ColorWhen } from '../offline/terminal.ts'

/** The flags of `krmkit deprecations`. */
export interface DeprecationsFlags {
  readonly release?: string
  readonly kubeconfig?: string
  readonly context?: string
  readonly output: 'text' | 'json' | 'sarif'
  readonly failOn: 'error' | 'warning' | 'note'
  readonly quiet: boolean
  readonly color: ColorWhen
}

/** A finding with the facts of the lifecycle. */
export type LocatedDeprecation = ReportedFinding & Pick<DeprecationFinding, 'deprecated' | 'removed' | 'replacement'>
