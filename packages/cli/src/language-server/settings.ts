import { defaultRelease, isJsonObject } from '@krmkit/meta'
import { parseRuleSettings, type RuleSettings } from 'krmkit/validate'

/** The settings of an editor: `initializationOptions`. */
export interface LanguageServerSettings {
  readonly kubernetesVersion: string
  /** Files and folders with definitions besides those of the workspace; relative to its first folder. */
  readonly definitions: readonly string[]
  readonly rules: RuleSettings
}

/**
 * Reads settings, over those of the command line.
 *
 * @throws Error with a sentence for the user
 */
export function readSettings(options: unknown, before: LanguageServerSettings = defaultSettings): LanguageServerSettings {
  if (options === undefined || options === null) return before
  if (!isJsonObject(options)) throw new Error('initializationOptions must be an object')
  const { kubernetesVersion = before.kubernetesVersion, definitions = before.definitions, rules = {} } = options
  if (typeof kubernetesVersion !== 'string' || !/^v?\d{1,2}\.\d{1,3}/.test(kubernetesVersion)) {
    throw new Error('kubernetesVersion must be a release, such as "1.33"')
  }
  if (!Array.isArray(definitions) || definitions.some((each) => typeof each !== 'string')) {
    throw new Error('definitions must be a list of paths')
  }
  if (!isJsonObject(rules)) throw new Error('rules must be an object, such as {"unknown-field": "warning"}')
  return {
    kubernetesVersion: /\d+\.\d+/.exec(kubernetesVersion)?.[0] ?? defaultRelease,
    definitions: definitions as readonly string[],
    rules: { ...before.rules, ...parseRuleSettings(rules) },
  }
}

export const defaultSettings: LanguageServerSettings = { kubernetesVersion: defaultRelease, definitions: [], rules: {} }
