import { Command, InvalidArgumentError, Option } from '../commander.ts'
import { release } from '../flag-values.ts'
import { colorOption, runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'
import type { ConvertFlags } from './run.ts'

/** The sub-command `convert`. Its implementation is loaded when it runs. */
export function convertCommand(terminal: Terminal): Command {
  return new Command('convert')
    .summary('convert manifests to API versions that a release serves')
    .description(
      'Convert manifests to other API versions, forwards and back. Comments, order and style of the files stay. Objects that cannot be converted without loss are left and reported.',
    )
    .argument('<path...>', 'files, folders (*.yaml, *.yml, *.json at any depth), or - for standard input')
    .addOption(
      new Option('--release <release>', 'convert what this Kubernetes release does not serve or deprecates')
        .default('1.33')
        .argParser(release),
    )
    .addOption(
      new Option('--to <group/version>', 'convert the kinds of this group and version, instead of by release').argParser(version),
    )
    .optionsGroup('Output:')
    .addOption(new Option('-w, --write', 'write the files instead of printing the result').default(false))
    .addOption(new Option('-q, --quiet', 'do not print what was converted').default(false))
    .addOption(colorOption())
    .addHelpText(
      'after',
      '\nExit codes: 0 converted, or nothing to convert; 1 objects that are not converted or need attention; 2 invalid flags or unreadable files.',
    )
    .action((paths: string[], flags: ConvertFlags) =>
      runToExitCode(terminal, async () => (await import('./run.ts')).runConvert(paths, flags, terminal)),
    )
}

function version(text: string): string {
  if (/^(?:[a-z0-9.-]{1,253}\/)?v[0-9][a-z0-9]{0,30}$/.test(text)) return text
  throw new InvalidArgumentError('It must be a group and version, such as networking.k8s.io/v1.')
}
