import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSimulation } from './simulation.ts'
import { temporaryFolder } from './testing/temporary-folder.ts'

const folder = temporaryFolder()

async function start(text: string, simulateNodes = 2) {
  const simulationFile = join(folder, 'simulation.yaml')
  await writeFile(simulationFile, text)
  return createSimulation({ simulateNodes, simulationFile })
}

describe('--simulation-file', () => {
  it('declares behaviours in YAML or JSON', async () => {
    const yaml = await start('behaviors:\n- match: {imagePattern: "^slow:"}\n  readyAfter: 5s\n')
    expect(yaml?.nodes).toEqual(['node-1', 'node-2'])
    expect(await start('{"behaviors": [{"crashes": 2}]}')).toBeDefined()
    expect(await start('behaviors: [{portForward: "127.0.0.1:3000", probe: "http://127.0.0.1:3000"}]')).toBeDefined()
  })

  it.each([
    ['an unknown member', 'behaviors: [{readyafter: 5s}]', 'simulation.yaml: behaviors[0]: unknown member "readyafter"'],
    ['a malformed address', 'behaviors: [{portForward: "http://a"}]', 'behaviors[0].portForward: "http://a" is not an address'],
    ['a repeated member', 'behaviors: []\nbehaviors: []', 'simulation.yaml: '],
    ['an empty file', '', 'simulation.yaml: the simulation: must be an object'],
    ['malformed YAML', 'behaviors: [', 'simulation.yaml: '],
  ])('rejects %s', async (_, text, message) => {
    const error = { code: 'InvalidFlag', message: expect.stringContaining(message) }
    await expect(start(text)).rejects.toMatchObject(error)
  })

  it('requires simulated nodes and a file that can be read', async () => {
    await expect(start('behaviors: []', 0)).rejects.toThrow('--simulation-file requires --simulate-nodes')
    const missing = createSimulation({ simulateNodes: 1, simulationFile: join(folder, 'missing') })
    await expect(missing).rejects.toThrow('--simulation-file: cannot read')
  })
})
