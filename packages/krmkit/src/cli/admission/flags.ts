import { builtInPlugins } from '@krmkit/admission'
import { type Command, Option } from '../commander.ts'
import { list } from '../flag-values.ts'

/** Adds the flags that choose and configure admission plugins; named as those of kube-apiserver. */
export function addAdmissionFlags(command: Command): Command {
  command.optionsGroup('Admission:')
  for (const option of options()) command.addOption(option)
  return command
}

function options(): Option[] {
  const [on, off] = [true, false].map((isDefault) =>
    builtInPlugins
      .filter((plugin) => plugin.isDefault === isDefault)
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
  ]
}
