import type { Dice } from '../../attacks/harness/dice.ts'
import type { Scenario } from '../scenario.ts'
import { generateBodies } from './bodies.ts'

/** Makes random scenarios of one area. */
export interface Generator {
  readonly area: string
  /** What its scenarios compare, for the report. */
  readonly compares: string
  generate(dice: Dice): Scenario
}

export const generators: readonly Generator[] = [
  {
    area: 'bodies',
    compares: 'creations of valid and damaged objects of every kind: causes, defaults, warnings',
    generate: generateBodies,
  },
]
