/** The names of the templates. */
export type TemplateName = 'control-plane' | 'operator' | 'ci-linter'

export interface Template {
  readonly name: TemplateName
  /** One-line description of the project. */
  readonly description: string
}

/** The templates, in the order in which the command lists them. */
export const templates: readonly Template[] = [
  { name: 'control-plane', description: 'an API server for kubectl with a kind and a controller of yours' },
  { name: 'operator', description: 'an operator, tested against an API server in the same process' },
  { name: 'ci-linter', description: 'validation of manifests, as a script and as a GitHub action' },
]

export function isTemplateName(name: string): name is TemplateName {
  return templates.some((template) => template.name === name)
}

/** Returns the folder with the files of a template. */
export function templateFolder(name: TemplateName): URL {
  return new URL(`../templates/${name}/`, import.meta.url)
}
