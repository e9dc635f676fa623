/** Runs scenarios on both sides, and prints what differs. */
import { parseArgs } from 'node:util'
import { compare } from './compare.ts'
import { observe, untilQuiet } from './observe.ts'
import { type Scenario, ScenarioNamespace } from './scenario.ts'
import { scenarios } from './scenarios/index.ts'
import { type ControllersSide, startSide } from './sides.ts'

/** Scenarios that run at the same time. */
const atOnce = 16

const { values } = parseArgs({
  options: {
    krmkit: { type: 'string', default: '' },
    manager: { type: 'string', default: '' },
    only: { type: 'string', multiple: true, default: [] },
  },
})

async function runOn(side: ControllersSide, scenario: Scenario) {
  const name = `s-${scenario.name}`
  await side.endpoint.send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  const namespace = new ScenarioNamespace(side.endpoint, name)
  for (;;) {
    if ((await namespace.find('v1/serviceaccounts/default')) !== undefined) break
    await namespace.wait(0.1)
  }
  await scenario.run(namespace)
  await untilQuiet(namespace)
  return observe(namespace)
}

async function compareSides(scenario: Scenario): Promise<void> {
  const [own, stock] = await Promise.allSettled(sides.map((side) => runOn(side, scenario)))
  const problems: string[] = []
  if (own?.status === 'rejected') problems.push(`krmkit: ${own.reason}`)
  if (stock?.status === 'rejected') problems.push(`stock: ${stock.reason}`)
  if (own?.status === 'fulfilled' && stock?.status === 'fulfilled') problems.push(...compare(own.value, stock.value))
  if (problems.length > 0) differing++
  console.log(`\n=== ${scenario.name}: ${problems.length === 0 ? 'equal' : 'DIFFERENT'}\n${problems.join('\n')}`)
}

const chosen = scenarios.filter(({ name }) => values.only.length === 0 || values.only.some((each) => name.includes(each)))
const options = { command: values.krmkit, manager: values.manager }
const sides = await Promise.all([startSide('krmkit', options), startSide('stock', options)])
let differing = 0
try {
  const label = (side: ControllersSide) => (i: number) =>
    side.endpoint.send(
      'PATCH',
      `/api/v1/nodes/node-${i}`,
      { metadata: { labels: { 'topology.kubernetes.io/zone': `zone-${i}` } } },
      'application/merge-patch+json',
    )
  await new Promise((resolve) => setTimeout(resolve, 3000))
  for (const side of sides) await Promise.all([1, 2, 3].map(label(side)))
  const waiting = chosen.filter(({ isAlone }) => isAlone !== true)
  const worker = async () => {
    for (let scenario = waiting.shift(); scenario !== undefined; scenario = waiting.shift()) await compareSides(scenario)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  for (const scenario of chosen.filter(({ isAlone }) => isAlone === true)) await compareSides(scenario)
  console.log(`\n${chosen.length} scenarios, ${differing} differ`)
} finally {
  await Promise.all(sides.map((side) => side.stop()))
}
process.exitCode = differing === 0 ? 0 : 1
