import { type Command, Option } from '../commander.ts'
import { flag } from '../flag-values.ts'

/** Adds the flags that say how other servers of the same API are reached; named as those of kube-apiserver. */
export function addAggregationFlags(command: Command): Command {
  command.optionsGroup('Other servers of the same API:')
  for (const option of [
    new Option(
      '--proxy-client-cert-file <file>',
      'PEM certificate to prove the server with to those it passes requests on to; followed when it is renewed',
    ),
    new Option('--proxy-client-key-file <file>', 'its PEM key'),
    new Option(
      '--enable-aggregator-routing [bool]',
      'reach them, and webhooks, at the addresses behind their services instead of at those of the services',
    )
      .default(false)
      .argParser(flag),
    new Option(
      '--aggregator-reject-forwarding-redirect [bool]',
      'answer with 502 where they lead elsewhere, instead of passing that on',
    )
      .default(true)
      .argParser(flag),
  ]) {
    command.addOption(option)
  }
  return command
}
