import type { AdmissionPlugin, AdmissionTarget } from './interfaces.ts'

/** The plugins that handle one target, in execution order. */
export interface TargetPlugins {
  readonly mutating: readonly AdmissionPlugin[]
  readonly validating: readonly AdmissionPlugin[]
}

/** Bounds the cache: custom resources add targets without end. */
const maxTargets = 4096

interface Row extends TargetPlugins {
  readonly operation: AdmissionTarget['operation']
  readonly group: string
  readonly version: string
  readonly subresource: string
}

/** Caches which plugins handle which targets. */
export class PluginTable {
  readonly #plugins: readonly AdmissionPlugin[]
  /** Keyed by resource; the few operations and subresources of one resource are scanned. */
  readonly #rows = new Map<string, Row[]>()
  #count = 0

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins
  }

  of(target: AdmissionTarget): TargetPlugins {
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

  #add(target: AdmissionTarget): TargetPlugins {
    const { operation, resource, subresource = '' } = target
    const handling = this.#plugins.filter((plugin) => plugin.handles(target))
    const row = {
      operation,
      group: resource.group,
      version: resource.version,
      subresource,
      mutating: handling.filter(({ check, admit }) => check !== undefined || (admit !== undefined && operation !== 'DELETE')),
      validating: handling.filter(({ validate }) => validate !== undefined),
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
