import type { AdmissionPlugin, AdmissionTarget } from './interfaces.ts'

/** The plugins that look at one kind of request, in execution order. */
export interface ChosenPlugins {
  readonly mutating: readonly AdmissionPlugin[]
  readonly validating: readonly AdmissionPlugin[]
}

/** Targets are few, but custom resources come and go. */
const maxTargets = 4096

interface Row extends ChosenPlugins {
  readonly operation: AdmissionTarget['operation']
  readonly group: string
  readonly version: string
  readonly subresource: string
}

/** Which plugins look at which requests, worked out when a target is seen for the first time. */
export class PluginTable {
  readonly #plugins: readonly AdmissionPlugin[]
  /** By resource, whose few operations and sub-resources are looked through. */
  readonly #rows = new Map<string, Row[]>()
  #count = 0

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins
  }

  of(target: AdmissionTarget): ChosenPlugins {
    const { operation, resource, subresource = '' } = target
    const rows = this.#rows.get(resource.resource)
    if (rows !== undefined) {
      for (const row of rows) {
        if (
          row.operation === operation &&
          row.subresource === subresource &&
          row.group === resource.group &&
          row.version === resource.version
        )
          return row
      }
    }
    return this.#add(target)
  }

  #add(target: AdmissionTarget): ChosenPlugins {
    const { operation, resource, subresource = '' } = target
    const interested = this.#plugins.filter((plugin) => plugin.handles(target))
    const row = {
      operation,
      group: resource.group,
      version: resource.version,
      subresource,
      mutating: interested.filter(({ check, admit }) => check !== undefined || (admit !== undefined && operation !== 'DELETE')),
      validating: interested.filter(({ validate }) => validate !== undefined),
    }
    if (++this.#count > maxTargets) {
      this.#rows.clear()
      this.#count = 1
    }
    const rows = this.#rows.get(resource.resource)
    if (rows === undefined) this.#rows.set(resource.resource, [row])
    else rows.push(row)
    return row
  }
}
