import { builtInPlugins } from '@krmkit/admission'
import { type Command, Option } from '../commander.ts'
import { integer, list } from '../flag-values.ts'

const seconds = integer({ min: 0, max: 2_147_483_647 })

/** Adds the flags that choose and configure admission plugins; named as those of kube-apiserver. */
export function addAdmissionFlags(command: Command): Command {
  command.optionsGroup('Admission:')
  for (const option of options()) command.addOption(option)
  return command
}

function options(): Option[] {
  const [on, off] = [true, false].map((isDefault) =>
    builtInPlugins
      .filter((plugin) => plugin.enabledByDefault === isDefault)
      .map(({ name }) => name)
      .join(', '),
  )
  return [
    new Option(
      '--enable-admission-plugins <names>',
      `plugins to run beside those that are on: ${on}. Whatever the order of the names, they run in the order that docs/admission.md shows. Off: ${off}`,
    )
      .default([])
      .argParser(list),
    new Option('--disable-admission-plugins <names>', 'plugins to switch off; counts more than enabling them')
      .default([])
      .argParser(list),
    new Option('--admission-control-config-file <file>', 'AdmissionConfiguration: what plugins have to be told, in YAML or JSON'),
    new Option('--default-not-ready-toleration-seconds <seconds>', 'how long pods stay on nodes that are not ready')
      .default(300)
      .argParser(seconds),
    new Option('--default-unreachable-toleration-seconds <seconds>', 'how long pods stay on nodes that cannot be reached')
      .default(300)
      .argParser(seconds),
  ]
}
