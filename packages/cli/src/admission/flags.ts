import { builtInPlugins } from '@krmkit/admission'
import { addOptionGroup, type Command, option } from '../commander.ts'
import { integer, list } from '../flag-values.ts'

const seconds = integer({ min: 0, max: 2_147_483_647 })

/** Adds the flags that select and configure admission plugins, named as those of kube-apiserver. */
export function addAdmissionFlags(command: Command): Command {
  const [enabled, disabled] = [true, false].map((isDefault) =>
    builtInPlugins
      .filter((plugin) => plugin.enabledByDefault === isDefault)
      .map(({ name }) => name)
      .join(', '),
  )
  return addOptionGroup(command, 'Admission', [
    option(
      '--enable-admission-plugins <names>',
      `plugins to enable in addition to the default ones: ${enabled}. The order of the names does not matter; docs/guide/admission.md lists the order in which plugins run. Disabled by default: ${disabled}`,
    )
      .default([])
      .argParser(list),
    option('--disable-admission-plugins <names>', 'plugins to disable; takes precedence over --enable-admission-plugins')
      .default([])
      .argParser(list),
    option('--admission-control-config-file <file>', 'AdmissionConfiguration with plugin settings, YAML or JSON'),
    option('--default-not-ready-toleration-seconds <seconds>', 'default toleration of pods for not-ready nodes')
      .default(300)
      .argParser(seconds),
    option('--default-unreachable-toleration-seconds <seconds>', 'default toleration of pods for unreachable nodes')
      .default(300)
      .argParser(seconds),
  ])
}
