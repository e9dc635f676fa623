import { ControllersError, type MatchedBehavior, NodeSimulation, parseSimulation } from '@krmkit/controllers'
import { forwardTo } from '@krmkit/http'
import { DecodeError, parseYaml } from '@krmkit/schema'
import { CliError } from './cli-error.ts'
import { readText } from './files.ts'
import type { ServeOptions } from './serve-options.ts'

const flag = 'simulation-file'

/** Creates the simulated nodes that the flags request; undefined without any. @throws CliError */
export async function createSimulation({
  simulateNodes,
  simulationFile,
}: Pick<ServeOptions, 'simulateNodes' | 'simulationFile'>): Promise<NodeSimulation | undefined> {
  if (simulateNodes === 0) {
    if (simulationFile === undefined) return undefined
    throw new CliError({ code: 'InvalidFlag', message: `--${flag} requires --simulate-nodes` })
  }
  const behaviors = simulationFile === undefined ? [] : await readBehaviors(simulationFile)
  return new NodeSimulation({ nodes: simulateNodes, behaviors })
}

async function readBehaviors(path: string): Promise<readonly MatchedBehavior[]> {
  const text = await readText(path, flag)
  try {
    const { value, problems } = parseYaml(text)
    const [problem] = problems
    if (problem !== undefined) throw new CliError({ code: 'InvalidFlag', message: `--${flag}: ${path}: ${problem}` })
    return parseSimulation(value, { forwardTo })
  } catch (error) {
    if (!(error instanceof ControllersError) && !(error instanceof DecodeError)) throw error
    throw new CliError({ code: 'InvalidFlag', message: `--${flag}: ${path}: ${error.message}`, cause: error })
  }
}
