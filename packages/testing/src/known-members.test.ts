import { describe, expect, it } from 'vitest'
import { createTestServer } from './test-server.ts'

/** Mistakes that JavaScript does not notice. */

describe('misspelt members', () => {
  it.each([
    [{ nodes: 3 }, 'createTestServer has no "nodes"; known: seed, from, kubeconfig, users, controllers, cluster'],
    [{ seeds: [] }, 'createTestServer has no "seeds"'],
    ['manifests/', 'createTestServer needs an object, not "manifests/"'],
  ])('of options are errors: %j', async (options, message) => {
    const error = { code: 'InvalidOption', message: expect.stringContaining(message) }
    await expect(createTestServer(options as object)).rejects.toMatchObject(error)
  })

  it('of matches are errors', async () => {
    await using server = await createTestServer({ controllers: [] })
    const wrong = { verbs: ['create'] } as object
    const error = expect.objectContaining({
      code: 'InvalidOption',
      message: expect.stringContaining('no "verbs"; known: verb, '),
    })
    expect(() => server.ledger.find(wrong)).toThrow(error)
    expect(() => server.ledger.expectNone(wrong)).toThrow(error)
    expect(() => server.faults.next(wrong, { fail: 503 })).toThrow(error)
    expect(() => server.faults.dropWatches(wrong)).toThrow(error)
    expect(() => server.faults.freezeReads(wrong)).toThrow(error)
  })

  it('of durations are errors with the form to write', async () => {
    await using server = await createTestServer({ controllers: [] })
    for (const [span, message] of [
      ['1 hour', 'write 1h30m, 90s or 250ms'],
      [{ hour: 1 }, 'unknown part "hour"; known parts: days, hours'],
      [undefined, 'undefined is not a duration'],
      [-1, 'time cannot go back'],
    ] as const)
      await expect(server.clock.advance(span as string)).rejects.toMatchObject({
        code: 'InvalidDuration',
        message: expect.stringContaining(message),
      })
  })
})
