import type { AdmissionPlugin, AdmissionTarget } from './interfaces.ts'

/** The plugins that look at one kind of request, in execution order. */
export interface ChosenPlugins {
  readonly mutating: readonly AdmissionPlugin[]
  readonly validating: readonly AdmissionPlugin[]
}

/** Targets are few, but custom resources come and go. */
const maxTargets = 4096

/** Which plugins look at which requests, worked out when a target is seen for the first time. */
export class PluginTable {
  readonly #plugins: readonly AdmissionPlugin[]
  readonly #chosen = new Map<string, ChosenPlugins>()

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins
  }

  of(target: AdmissionTarget): ChosenPlugins {
    const { operation, resource, subresource = '' } = target
    const key = `${operation} ${resource.group}/${resource.version}/${resource.resource}/${subresource}`
    const known = this.#chosen.get(key)
    if (known !== undefined) return known
    const interested = this.#plugins.filter((plugin) => plugin.handles(target))
    const chosen = {
      mutating: interested.filter(({ check, admit }) => check !== undefined || (admit !== undefined && operation !== 'DELETE')),
      validating: interested.filter(({ validate }) => validate !== undefined),
    }
    if (this.#chosen.size >= maxTargets) this.#chosen.clear()
    this.#chosen.set(key, chosen)
    return chosen
  }
}
