import { functionsProblem, type OptionKinds, optionsProblem } from '@krmkit/base/arguments'
import { ControllersError } from './controllers-error.ts'
import type { ControllersOptions } from './interfaces.ts'

const optionKinds: OptionKinds<ControllersOptions> = {
  client: 'any',
  clock: 'object',
  random: 'object',
  profile: 'object',
  features: 'object',
  controllers: 'texts',
  available: 'list',
  rootCA: 'text',
  legacyToken: 'any',
  bootstrapSigningKey: 'text',
  rateLimit: 'object',
  paced: 'flag',
  signing: 'object',
  signerRules: 'object',
  metrics: 'object',
  heartbeats: 'object',
  fieldManager: 'text',
  onError: 'function',
  onRun: 'function',
  newestVersion: 'function',
}

/**
 * Validates the options of `runControllers` for callers that are not type-checked. @throws ControllersError `InvalidOption`
 */
export function checkOptions(options: ControllersOptions): void {
  const problem =
    optionsProblem(options, { what: 'runControllers', kinds: optionKinds, example: '{ client }' }) ??
    functionsProblem('`client`', options.client, ['list', 'watch', 'request']) ??
    options.available?.map((each, index) => functionsProblem(`\`available[${index}]\``, each, ['start'])).find(isProblem)
  if (problem !== undefined) throw new ControllersError({ code: 'InvalidOption', message: problem })
}

const isProblem = (problem: string | undefined) => problem !== undefined
