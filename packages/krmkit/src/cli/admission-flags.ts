import { type AdmissionPlugin, defaultAdmissionPlugins } from '@krmkit/admission'
import type { NamingProfile, Random } from '@krmkit/meta'
import { CliError } from './cli-error.ts'

export interface AdmissionFlags {
  readonly enable: readonly string[]
  readonly disable: readonly string[]
  /** Whether the controller runs that makes the accounts which the plugin ServiceAccount asks for. */
  readonly hasServiceAccounts: boolean
  readonly profile: NamingProfile
  readonly random: Random
}

/** The server runs it in any case. */
const always = 'NamespaceLifecycle'

/**
 * The plugins to run beside `NamespaceLifecycle`, in their order.
 *
 * @throws CliError `InvalidFlag` for a plugin that is unknown or cannot be switched off.
 */
export function chooseAdmissionPlugins(flags: AdmissionFlags): readonly AdmissionPlugin[] {
  const available = defaultAdmissionPlugins(flags)
  const known = [always, ...available.map(({ name }) => name)].sort()
  for (const name of [...flags.enable, ...flags.disable]) {
    if (known.includes(name)) continue
    const message = `${JSON.stringify(name)} is no admission plugin that krmkit has; it has ${known.join(', ')}`
    throw new CliError({ code: 'InvalidFlag', message })
  }
  if (flags.disable.includes(always)) {
    throw new CliError({ code: 'InvalidFlag', message: `the admission plugin ${always} cannot be switched off` })
  }
  return available.filter(({ name }) => {
    if (flags.disable.includes(name)) return false
    return name !== 'ServiceAccount' || flags.hasServiceAccounts || flags.enable.includes(name)
  })
}
