/** A resource of the configuration: `secrets`, `widgets.example.com`, `*.`, `*.apps` or `*.*`. */
export interface ResourceName {
  readonly resource: string
  readonly group: string
}

export function parseResourceName(text: string): ResourceName {
  const dot = text.indexOf('.')
  return dot < 0 ? { resource: text, group: '' } : { resource: text.slice(0, dot), group: text.slice(dot + 1) }
}

/** Formats a resource as in the configuration file: `*.` for all resources of the core group. */
export function formatResourceName({ resource, group }: ResourceName): string {
  if (group === '') return resource === '*' ? '*.' : resource
  return `${resource}.${group}`
}
