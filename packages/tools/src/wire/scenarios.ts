/** Which recorded scenarios are replayed, and with which servers. */
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readScenario, type Step, shared } from './recording.ts'
import { controllersOf } from './replay.ts'

export interface Scenario {
  readonly folder: string
  readonly file: string
  /** `folder/name`. */
  readonly name: string
  readonly flags: string
  readonly needs: string
  /** The flag for the controllers; empty for the default ones. */
  readonly controllers: string
  /** How long its steps wait at most. */
  readonly waitMs: number
  /** Number of this replay; absent for the first. */
  readonly attempt?: number
}

/** Scenarios that share servers. */
export interface ScenarioGroup {
  readonly flags: string
  readonly needs: string
  readonly controllers: string
  readonly scenarios: Scenario[]
}

export interface Selection {
  /** The release of the recordings; undefined: 1.33. */
  readonly release: string | undefined
  /** Undefined: all. */
  readonly folders: readonly string[] | undefined
  /** Parts of names; undefined: all. */
  readonly scenarios: readonly string[] | undefined
}

/** The selected scenarios, by folder. */
export function chosenScenarios({ release = '1.33', folders, scenarios }: Selection): Scenario[] {
  const all = join(shared, release === '1.33' ? 'scenarios' : `scenarios-${release}`)
  return readdirSync(all)
    .sort()
    .filter((folder) => folders === undefined || folders.includes(folder))
    .flatMap((folder) =>
      readdirSync(join(all, folder))
        .sort()
        .filter((name) => name.endsWith('.json'))
        .filter((name) => scenarios === undefined || scenarios.some((text) => basename(name, '.json').includes(text)))
        .map((name) => scenarioOf(folder, join(all, folder, name))),
    )
}

function scenarioOf(folder: string, file: string): Scenario {
  const name = `${folder}/${basename(file, '.json')}`
  const scenario = readScenario(file)
  const { flags = [], needs = [], steps } = scenario
  const controllers = controllersOf(name, scenario)
  return { folder, file, name, flags: flags.join(' '), needs: needs.join(','), controllers, waitMs: waitOf(steps) }
}

/** How long the steps wait at most, in ms. A watch that names no limit ends after four seconds. */
function waitOf(steps: readonly Step[]): number {
  return steps.reduce((sum, { sleepMs = 0, watch }) => sum + sleepMs + (watch === undefined ? 0 : (watch.timeoutMs ?? 4000)), 0)
}

/** One group for each set of flags, requirements and controllers. */
export function groupScenarios(scenarios: readonly Scenario[]): ScenarioGroup[] {
  const groups = new Map<string, ScenarioGroup>()
  for (const scenario of scenarios) {
    const { flags, needs, controllers } = scenario
    const key = `${flags}|${needs}|${controllers}`
    const group = groups.get(key) ?? { flags, needs, controllers, scenarios: [] }
    groups.set(key, group)
    group.scenarios.push(scenario)
  }
  return [...groups.values()]
}
