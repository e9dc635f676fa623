/** The recordings of ../shared/wire. */
import { join } from 'node:path'
import { readJson, root } from '../lib/workspace.ts'

export const shared: string = join(root, '../shared/wire')

/** What the replay reads of a recorded step. */
export interface Step {
  readonly id: string
  /** Default: GET. */
  readonly method?: string
  readonly path: string
  readonly sleepMs?: number
  readonly watch?: { readonly timeoutMs?: number }
  readonly [member: string]: unknown
}

/** What the replay reads of a recorded response. */
export interface RecordedResponse {
  readonly status?: number
  readonly body?: unknown
}

export interface ScenarioFile {
  /** Flags of the server. */
  readonly flags?: readonly string[]
  /** What the scenario needs besides a server: `webhook-server`, `compaction`. */
  readonly needs?: readonly string[]
  readonly steps: readonly Step[]
  /** By id of the step. */
  readonly expected?: Readonly<Record<string, RecordedResponse>>
}

export function readScenario(file: string): ScenarioFile {
  return readJson<ScenarioFile>(file)
}
