import { existsSync, readFileSync } from 'node:fs'
import type { JsonObject } from '@krmkit/meta'

/** Recorded responses of kube-apiserver, stored beside the repository; tests only. */
const folder = new URL('../../../../../shared/wire/scenarios/', import.meta.url)

export const scenariosMissing = existsSync(folder) ? undefined : 'skipped: ../shared/wire is absent'

export interface WireStep {
  readonly id: string
  readonly method?: string
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly sleepMs?: number
}

export interface Scenario {
  readonly steps: readonly WireStep[]
  readonly expected: Readonly<Record<string, JsonObject>>
}

export function readScenario(name: string): Scenario {
  return JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')) as Scenario
}
