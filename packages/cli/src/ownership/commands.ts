import { Command, Option } from '../commander.ts'
import { append, managerName } from '../flag-values.ts'
import { colorOption, exitCodeHelp, runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'
import type { ApplyFlags } from './apply.ts'
import type { BlameFlags } from './blame.ts'
import type { DiffFlags } from './diff.ts'
import type { MergeFlags } from './merge.ts'

/** The sub-commands for field ownership and patches. Their implementations are loaded when they run. */

const files = 'files, folders (*.yaml, *.yml, *.json at any depth), or - for standard input'

function definitionsOption(): Option {
  return new Option('--definitions <path>', 'additional files with CustomResourceDefinitions; may be repeated')
    .default([], 'definitions in the files')
    .argParser(append)
}

function formOption(): Option {
  return new Option('-o, --output <form>', 'output format').choices(['yaml', 'json']).default('yaml')
}

export function applyCommand(terminal: Terminal): Command {
  return new Command('apply')
    .summary('server-side apply to files: results with field owners, or conflicts')
    .description(
      'Apply configurations to objects in files as server-side apply does. Prints the results with their managed fields, or the conflicts and how to resolve them.',
    )
    .argument('<path...>', `configurations: ${files}`)
    .addOption(new Option('--live <path>', 'live objects with managedFields; default: none, all objects are created'))
    .addOption(new Option('--field-manager <name>', 'field manager').default('krmkit').argParser(managerName))
    .addOption(new Option('--force-conflicts', 'take over fields owned by other managers').default(false))
    .addOption(definitionsOption())
    .addOption(
      new Option('-w, --write', 'write all objects to the file of --live instead of printing the applied ones').default(false),
    )
    .addOption(formOption())
    .addOption(new Option('-q, --quiet', 'do not print changes').default(false))
    .addOption(colorOption())
    .addHelpText('after', exitCodeHelp('applied', 'conflicts; nothing is printed or written'))
    .action((paths: string[], flags: ApplyFlags) =>
      runToExitCode(terminal, async () => (await import('./apply.ts')).runApply(paths, flags, terminal)),
    )
}

export function diffCommand(terminal: Terminal): Command {
  return new Command('diff')
    .summary('compare objects, matching list items by their keys')
    .description(
      'Compare the objects of two files or folders field by field. List items are matched by their keys, independent of their order.',
    )
    .argument('<from>', files)
    .argument('<to>', files)
    .addOption(new Option('--defaults', 'apply defaults to both sides first').default(false))
    .addOption(
      new Option('--ignore <field>', 'ignore a field and all fields below it, such as .status; may be repeated')
        .default([], 'none')
        .argParser(append),
    )
    .addOption(new Option('--show-managed-fields', 'compare metadata.managedFields as well').default(false))
    .addOption(definitionsOption())
    .addOption(
      new Option('-o, --output <form>', 'text, json, or the patches from the first to the second')
        .choices(['text', 'json', 'patch'])
        .default('text'),
    )
    .addOption(colorOption())
    .addHelpText('after', exitCodeHelp('no difference', 'differences'))
    .action((from: string, to: string, flags: DiffFlags) =>
      runToExitCode(terminal, async () => (await import('./diff.ts')).runDiff([from, to], flags, terminal)),
    )
}

export function blameCommand(terminal: Terminal): Command {
  return new Command('blame')
    .summary('show the field manager, operation and time of each line of an object')
    .description('Print objects as YAML with the field manager, operation and time of each line, from metadata.managedFields.')
    .argument('<path...>', files)
    .addOption(definitionsOption())
    .addOption(new Option('-o, --output <form>', 'output format').choices(['text', 'json']).default('text'))
    .addOption(colorOption())
    .addHelpText('after', exitCodeHelp('printed', 'never'))
    .action((paths: string[], flags: BlameFlags) =>
      runToExitCode(terminal, async () => (await import('./blame.ts')).runBlame(paths, flags, terminal)),
    )
}

export function mergeCommand(terminal: Terminal): Command {
  return new Command('merge')
    .summary('apply a patch to an object: strategic, JSON merge, JSON patch, three-way')
    .description(
      'Apply a patch to the object in a file, or compute and apply the patch of client-side apply (--original, --modified).',
    )
    .argument('<target>', 'file with the live object, or -')
    .argument('[patch]', 'file with the patch, YAML or JSON')
    .addOption(new Option('-p, --patch <text>', 'the patch as text'))
    .addOption(
      new Option('--type <type>', 'patch type (default: json for lists; strategic for built-in kinds, merge for others)').choices(
        ['strategic', 'merge', 'json'],
      ),
    )
    .addOption(new Option('--modified <path>', 'three-way: the wanted object'))
    .addOption(new Option('--original <path>', 'three-way: the last applied object'))
    .addOption(new Option('--no-overwrite', 'three-way: report fields that changed since as conflicts'))
    .addOption(new Option('--print-patch', 'print the patch instead of the result').default(false))
    .addOption(definitionsOption())
    .addOption(formOption())
    .addOption(colorOption())
    .addHelpText('after', exitCodeHelp('merged', 'the patch does not apply to the object'))
    .action((target: string, patch: string | undefined, flags: MergeFlags) =>
      runToExitCode(terminal, async () => (await import('./merge.ts')).runMerge(target, patch, flags, terminal)),
    )
}
