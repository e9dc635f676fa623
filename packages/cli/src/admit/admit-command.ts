import { Command, Option } from '../commander.ts'
import { append, gates, list } from '../flag-values.ts'
import { colorOption, exitCodeHelp, runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'
import type { AdmitFlags } from './admit-flags.ts'

/** The sub-command `admit`. Its implementation is loaded when it runs. */
export function admitCommand(terminal: Terminal): Command {
  return new Command('admit')
    .summary('simulate admission: accepted or refused, and what each plugin changes')
    .description(
      'Simulate the creation or update of objects in a cluster that files describe: whether each is accepted, and what each admission plugin changes and why. Accepted objects are part of the cluster for the following ones. Runs offline.',
    )
    .argument('<path...>', 'objects to create or update: files, folders, or - for standard input')
    .optionsGroup('Cluster:')
    .addOption(
      new Option(
        '--config <path>',
        'objects of the cluster: namespaces, limit ranges, quotas, classes, service accounts, roles, policies, workloads; may be repeated',
      )
        .default([], 'an empty cluster')
        .argParser(append),
    )
    .addOption(
      new Option('--enable-admission-plugins <names>', 'plugins to enable in addition to the default ones of serve')
        .default([], 'none')
        .argParser(list),
    )
    .addOption(new Option('--disable-admission-plugins <names>', 'plugins to disable').default([], 'none').argParser(list))
    .addOption(new Option('--admission-control-config-file <file>', 'AdmissionConfiguration with plugin settings'))
    .addOption(new Option('--feature-gates <pairs>', 'Name=true or Name=false').default({}, 'none').argParser(gates))
    .addOption(new Option('--runtime-config <pairs>', 'group versions to enable or disable').default([], 'none').argParser(list))
    .optionsGroup('User:')
    .addOption(
      new Option('--as <user>', 'user of the requests, authorized by the roles of the cluster; default: an administrator'),
    )
    .addOption(new Option('--as-group <group>', 'group of the user; may be repeated').default([], 'none').argParser(append))
    .optionsGroup('Output:')
    .addOption(
      new Option(
        '-o, --output <form>',
        'text: decisions and changes; json: the same, machine-readable; yaml: the objects as stored',
      )
        .choices(['text', 'json', 'yaml'])
        .default('text'),
    )
    .addOption(new Option('-n, --namespace <name>', 'namespace of objects without one').default('default'))
    .addOption(colorOption())
    .addHelpText('after', exitCodeHelp('all objects accepted', 'some objects refused'))
    .action(async (paths: string[], flags: AdmitFlags) => {
      await runToExitCode(terminal, async () => {
        const { runAdmit } = await import('./run.ts')
        return runAdmit(paths, flags, terminal)
      })
    })
}
