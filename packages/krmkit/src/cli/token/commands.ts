import type { BootstrapTokenUsage } from '@krmkit/certificates'
import { foregroundClock, systemRandom } from '@krmkit/meta'
import { Command, InvalidArgumentError, Option } from '../commander.ts'
import { append, duration, list } from '../flag-values.ts'
import { runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'
import { joiningGroup, signingKeys, tokenUsages } from './options.ts'

const load = () => import('./tokens.ts')

/** The command `token` with its sub-commands. */
export function tokenCommand(terminal: Terminal): Command {
  return new Command('token')
    .summary('bootstrap tokens, with which nodes and users join')
    .description('Make, list and delete bootstrap tokens, and publish where they may join.')
    .addCommand(createCommand(terminal))
    .addCommand(listCommand(terminal))
    .addCommand(deleteCommand(terminal))
    .addCommand(generateCommand(terminal))
    .addCommand(publishCommand(terminal))
}

function createCommand(terminal: Terminal): Command {
  const command = new Command('create')
    .description('Make a token known to the server and print it.')
    .argument('[token]', 'ID.SECRET, or - to read it from standard input; default: a random one')
    .addOption(
      new Option('--ttl <duration>', 'how long it lasts; 0: until it is deleted')
        .default(86_400_000, '24h0m0s')
        .argParser(duration),
    )
    .addOption(
      new Option('--usages <names>', `what it is good for, of ${tokenUsages.join(', ')}`)
        .default(tokenUsages, tokenUsages.join(','))
        .argParser(usages),
    )
    .addOption(
      new Option('--groups <names>', 'groups that its bearer is in, each beginning with system:bootstrappers:')
        .default([joiningGroup], joiningGroup)
        .argParser((text) => list(text)),
    )
    .addOption(new Option('--description <text>', 'for people'))
    .addOption(new Option('--print-join-command', 'print the command that joins with it').default(false))
  return withServer(command).action((token, flags) =>
    runToExitCode(terminal, async () => (await load()).runCreate(token, flags, { terminal, random: systemRandom })),
  )
}

function listCommand(terminal: Terminal): Command {
  const command = new Command('list')
    .description('Print the tokens that the server knows.')
    .addOption(new Option('-o, --output <form>', 'form of the answer').choices(['text', 'json', 'yaml']).default('text'))
  return withServer(command).action((flags) => runToExitCode(terminal, async () => (await load()).runList(flags, terminal)))
}

function deleteCommand(terminal: Terminal): Command {
  const command = new Command('delete')
    .description('Take tokens away.')
    .argument('<token...>', 'their ids, or the tokens themselves')
  return withServer(command).action((tokens, flags) =>
    runToExitCode(terminal, async () => (await load()).runDelete(tokens, flags, terminal)),
  )
}

function generateCommand(terminal: Terminal): Command {
  return new Command('generate')
    .description('Print a random token that no server knows of.')
    .action(() => runToExitCode(terminal, async () => (await load()).runGenerate(terminal, systemRandom)))
}

function publishCommand(terminal: Terminal): Command {
  const command = new Command('publish-cluster-info')
    .description('Keep ConfigMap cluster-info, readable for everybody, and give those who join their rights, as kubeadm does.')
    .addOption(new Option('--server <url>', 'where the server is reached (default: as the kubeconfig has it)'))
  return withServer(command).action((flags) => runToExitCode(terminal, async () => (await load()).runPublish(flags, terminal)))
}

/** The command `join-info`. */
export function joinInfoCommand(terminal: Terminal): Command {
  return new Command('join-info')
    .summary('a kubeconfig for whoever has a token')
    .description('Learn from a bootstrap token how to reach a cluster, and print a kubeconfig for its bearer.')
    .argument('<server>', 'HOST:PORT of the cluster')
    .addOption(new Option('--token <token>', 'ID.SECRET, or - to read it from standard input').makeOptionMandatory())
    .addOption(
      new Option(
        '--discovery-token-ca-cert-hash <hash>',
        'sha256: and the digest of the public key of the authority; may be repeated',
      )
        .default([], 'none')
        .argParser(append),
    )
    .addOption(
      new Option('--discovery-token-unsafe-skip-ca-verification', 'believe everybody who knows the token').default(false),
    )
    .addOption(
      new Option('--bootstrap-signing-key <key>', 'what the server signs with').choices(signingKeys).default('token-secret'),
    )
    .addOption(new Option('--timeout <duration>', 'how long to try').default(300_000, '5m0s').argParser(duration))
    .addOption(new Option('--write-kubeconfig <file>', 'write it there (mode 0600) instead of printing it'))
    .action((server, flags) =>
      runToExitCode(terminal, async () =>
        (await import('./join-info.ts')).runJoinInfo(server, flags, { terminal, clock: foregroundClock }),
      ),
    )
}

function withServer(command: Command): Command {
  return command
    .addOption(new Option('--kubeconfig <file>', 'how to reach the server (default: as kubectl finds it)'))
    .addOption(new Option('--context <name>', 'context of the kubeconfig'))
}

function usages(text: string): readonly BootstrapTokenUsage[] {
  const names = list(text)
  const unknown = names.find((name) => !(tokenUsages as readonly string[]).includes(name))
  if (unknown === undefined && names.length > 0) return names as readonly BootstrapTokenUsage[]
  throw new InvalidArgumentError(`They must be of ${tokenUsages.join(', ')}.`)
}
