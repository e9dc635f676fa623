import { isJsonObject } from '@krmkit/meta'
import { AdmissionError } from './admission-error.ts'

/** Reads typed members of a plugin's configuration. Error messages name the plugin and the path. */
export class ConfigurationReader {
  readonly #plugin: string
  readonly #path: string
  readonly #members: ReadonlyMap<string, unknown>

  /** @throws AdmissionError `InvalidConfiguration` for anything but an object. */
  constructor(plugin: string, value: unknown, path = '') {
    this.#plugin = plugin
    this.#path = path
    if (!isJsonObject(value)) throw this.error('', 'must be an object')
    this.#members = new Map(Object.entries(value))
  }

  /** Makes the error for a member; an empty name stands for the whole configuration. */
  error(name: string, what: string): AdmissionError {
    const place = [this.#path, name].filter((part) => part !== '').join('.')
    const message = `configuration of admission plugin ${this.#plugin}: ${place === '' ? '' : `${place} `}${what}`
    return new AdmissionError({ code: 'InvalidConfiguration', message })
  }

  expectKind(apiVersions: readonly string[], kind: string): void {
    if (this.text('kind') !== kind) throw this.error('kind', `must be ${kind}`)
    if (!apiVersions.includes(this.text('apiVersion') ?? ''))
      throw this.error('apiVersion', `must be ${apiVersions.join(' or ')}`)
  }

  has(name: string): boolean {
    const value = this.#members.get(name)
    return value !== undefined && value !== null
  }

  names(): string[] {
    return [...this.#members.keys()]
  }

  value(name: string): unknown {
    return this.#members.get(name)
  }

  text(name: string): string | undefined {
    return this.#member(name, 'a string', (value): value is string => typeof value === 'string')
  }

  number(name: string): number | undefined {
    return this.#member(name, 'an integer', (value): value is number => Number.isSafeInteger(value))
  }

  flag(name: string): boolean | undefined {
    return this.#member(name, 'true or false', (value): value is boolean => typeof value === 'boolean')
  }

  texts(name: string): readonly string[] {
    const isList = (value: unknown): value is string[] => Array.isArray(value) && value.every((each) => typeof each === 'string')
    return this.#member(name, 'a list of strings', isList) ?? []
  }

  /** A reader of an empty object when the member is absent. */
  object(name: string): ConfigurationReader {
    return new ConfigurationReader(this.#plugin, this.has(name) ? this.#members.get(name) : {}, this.#pathOf(name))
  }

  objects(name: string): readonly ConfigurationReader[] {
    const list = this.#member(name, 'a list', (value): value is unknown[] => Array.isArray(value)) ?? []
    return list.map((each, i) => new ConfigurationReader(this.#plugin, each, `${this.#pathOf(name)}[${i}]`))
  }

  #pathOf(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`
  }

  #member<T>(name: string, what: string, is: (value: unknown) => value is T): T | undefined {
    const value = this.#members.get(name)
    if (value === undefined || value === null) return undefined
    if (!is(value)) throw this.error(name, `must be ${what}`)
    return value
  }
}
