/**
 * `npm run NAME -- ARGUMENTS` for the suites that are programs of `tests/` and print a table; their flags stand in the table below. Those that compare
 * with programs of Kubernetes take them from the folder that KRMKIT_PEER names.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { bundle, bundleFile } from './bundle.ts'
import { type BundledProgram, runBundled } from './lib/run-bundled.ts'
import { stockFolder, stockRelease, withoutStock } from './lib/stock-folder.ts'

interface Suite extends Omit<BundledProgram, 'args'> {
  /** The program of Kubernetes that the suite needs, and what the suite does without it. */
  readonly needs?: { readonly program: string; readonly otherwise: 'skip' | 'fail' }
  /** Flags of the suite for the folder of the programs of Kubernetes. */
  readonly flags?: (folder: string) => readonly string[]
}

/** Bundles that find the optional packages of storage. */
const besideStorage = 'packages/storage/node_modules/.cache'

const suites: Readonly<Record<string, Suite>> = {
  // [--family NAME] [--only TEXT] [--seed N] [--short] [--json]: attacks a server.
  attacks: { source: 'tests/attacks/run.ts' },
  // [--kills 200] [--full-disks 20] [--flips 20] [--seed 1]: kills writers of durable stores, fills disks, flips bits.
  crashes: { source: 'tests/crashes/run.ts', folder: besideStorage },
  // [--requests 1000000] [--seed N] [--transport http1|http2|in-process|all] [--only INDEX]: random requests.
  // --kept-alive [--requests N] [--transport NAME|all]: requests of all sizes over kept connections, each of which is answered.
  fuzz: { source: 'tests/fuzz/run.ts', nodeFlags: ['--expose-gc'] },
  // [--backend memory|lmdb|follower|etcd] [--runs 200] [--seed 1]: checks recorded histories of concurrent clients.
  histories: { source: 'tests/histories/run.ts', folder: besideStorage },
  // [--steps 2000] [--seed N] [--area NAME]: compares krmkit with kube-apiserver on random scenarios, as the release that kube-apiserver has.
  // --find: prints the folder of kube-apiserver's executables; the exit code is 1 when there is none.
  divergence: {
    source: 'packages/conformance/src/divergence/run.ts',
    needs: { program: 'kube-apiserver', otherwise: 'skip' },
    flags: (folder) => ['--peer', folder, '--release', stockRelease(folder)],
  },
  // [--only NAME]: compares krmkit's controllers with a kube-controller-manager on scenarios.
  controllers: {
    source: 'packages/conformance/src/controllers/run.ts',
    needs: { program: 'kube-controller-manager', otherwise: 'skip' },
    flags: (folder) => ['--manager', join(folder, 'kube-controller-manager')],
  },
  // [--manifests 3000] [--seed N] [--report FILE]: validators of manifests beside a kube-apiserver. The variable KUBECONFORM is the path of
  // kubeconform, if it is to be compared.
  validators: {
    source: 'packages/conformance/src/validators/run.ts',
    needs: { program: 'kube-apiserver', otherwise: 'fail' },
    flags: (folder) => ['--peer', folder, ...kubeconform()],
  },
}

function kubeconform(): string[] {
  const { KUBECONFORM: path } = process.env
  return path === undefined ? [] : ['--kubeconform', path]
}

/** The first argument is the name of the suite. */
export async function main([name = '', ...args]: readonly string[]): Promise<void> {
  const suite = suites[name]
  if (suite === undefined) throw new Error(`unknown suite ${JSON.stringify(name)}; available: ${Object.keys(suites).join(', ')}`)
  const { needs, flags, ...program } = suite
  if (needs === undefined) return runBundled(name, { ...program, args })
  const folder = stockFolder()
  const isFinding = args.includes('--find')
  if (folder === undefined || !existsSync(join(folder, needs.program))) {
    const isFailure = isFinding || needs.otherwise === 'fail'
    console[needs.otherwise === 'fail' ? 'error' : 'log'](
      `${name}: ${needs.otherwise === 'fail' ? '' : 'skipped, '}no ${needs.program}: ${withoutStock}`,
    )
    process.exitCode = isFailure ? 1 : 0
  } else if (isFinding) console.log(folder)
  else {
    bundle()
    await runBundled(name, { ...program, args: [...(flags?.(folder) ?? []), '--krmkit', bundleFile, ...args] })
  }
}
