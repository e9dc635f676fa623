import type { RolldownBuild } from 'rolldown'
import { browserBuild, nodeBuild } from '../browser-build.ts'
import { root } from '../source-files.ts'

/** The suite as one file for each sort of runtime. */

const checks = `${root}tests/runtimes/checks.ts`
const portChecks = `${root}tests/runtimes/port-checks.ts`

/** A program that prints the results as JSON in its last line, with the entry points that Node, Deno and Bun import. */
export const programBundle = once(async () => {
  const source = `import { runChecks } from '${checks}'
import { portChecks } from '${portChecks}'
runChecks(portChecks).then((results) => console.log(JSON.stringify(results)))
`
  return codeOf(await nodeBuild(source), 'es')
})

/** A script that assigns `runChecks` to the global `suite`, with the entry points for browsers. */
export const pageBundle = once(async () => codeOf(await browserBuild(`export { runChecks } from '${checks}'`), 'iife'))

/** A module whose fetch handler responds with the results, with the entry points for browsers. */
export const workerBundle = once(async () => {
  const source = `import { runChecks } from '${checks}'\nexport default { fetch: async () => Response.json(await runChecks()) }\n`
  return codeOf(await browserBuild(source), 'es')
})

async function codeOf(build: RolldownBuild, format: 'es' | 'iife'): Promise<string> {
  const { output } = await build.generate({ format, name: 'suite', codeSplitting: false })
  await build.close()
  return output[0].code
}

/** Several runtimes share a bundle. */
function once(build: () => Promise<string>): () => Promise<string> {
  let built: Promise<string> | undefined
  return () => {
    built ??= build()
    return built
  }
}
