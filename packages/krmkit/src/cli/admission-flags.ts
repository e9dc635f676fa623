import { CliError } from './cli-error.ts'

/** Plugins that are there, and whether one may do without them. */
const plugins: Readonly<Record<string, { readonly required: boolean }>> = {
  NamespaceLifecycle: { required: true },
}

/** @throws CliError `InvalidFlag` for a plugin that is unknown or cannot be switched off. */
export function checkAdmissionFlags(flags: { readonly enable: readonly string[]; readonly disable: readonly string[] }): void {
  const known = Object.keys(plugins).sort().join(', ')
  for (const name of [...flags.enable, ...flags.disable]) {
    if (!Object.hasOwn(plugins, name)) {
      throw new CliError({
        code: 'InvalidFlag',
        message: `${JSON.stringify(name)} is no admission plugin that krmkit has; it has ${known}`,
      })
    }
  }
  for (const name of flags.disable) {
    if (plugins[name]!.required)
      throw new CliError({ code: 'InvalidFlag', message: `the admission plugin ${name} cannot be switched off` })
  }
}
