import type { ClientRun } from './client-run.ts'
import type { InformerRun } from './informer-run.ts'
import type { CertificationScenario, InformerFeatures } from './interfaces.ts'

/** A scenario of informers. Every one ends with `InformerRun.finish`. */
export interface InformerScenario extends Omit<CertificationScenario, 'part'> {
  /** Does not apply without this feature. */
  readonly needs?: keyof InformerFeatures
  /** How far the clock of the server is ahead, in milliseconds. Default 0. */
  readonly aheadMs?: number
  run(run: InformerRun): Promise<void>
}

/** A scenario of clients. */
export interface ClientScenario extends Omit<CertificationScenario, 'part'> {
  run(run: ClientRun): Promise<void>
}
