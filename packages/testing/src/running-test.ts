/** The properties of the running test, as reported by the test runner. */
export interface RunningTest {
  /** Undefined if the runner does not report it. */
  readonly title: string | undefined
  /** Path or name of the file of the test. */
  readonly file: string | undefined
  /** Undefined if the runner does not report it, or before the end of the test. */
  readonly hasFailed: boolean | undefined
}

type HookBody = (test: RunningTest) => Promise<void>

/**
 * Creates a hook from a function that receives the running test. Runners pass the test in different ways:
 *
 *     vitest       hook(context)        context.task.name, .task.file.name, .task.result.state
 *     node:test    hook(context)        context.name, .filePath, .passed
 *     playwright   hook(fixtures, info) info.title, .file, .status and .expectedStatus
 *     mocha        hook.call(context)   context.currentTest.title, .file, .state
 *     jest         hook()               the state of `expect` has the title and the file, that of jest-circus the errors
 *
 * The hook declares no parameters, because jest and mocha check their number and playwright parses their text.
 */
export function hookOf(body: HookBody): () => Promise<void> {
  const hook = () => Promise.resolve()
  return new Proxy(hook, { apply: (_, self: unknown, args: readonly unknown[]) => body(runningTest(self, args)) })
}

function runningTest(self: unknown, [first, second]: readonly unknown[]): RunningTest {
  const vitest = member(first, 'task')
  if (vitest !== undefined) {
    const state = text(member(vitest, 'result'), 'state')
    const hasFailed = state === undefined ? undefined : state === 'fail'
    return { title: text(vitest, 'name'), file: text(member(vitest, 'file'), 'name'), hasFailed }
  }
  const playwright = text(second, 'expectedStatus')
  if (playwright !== undefined) {
    const status = text(second, 'status')
    const hasFailed = status === undefined ? undefined : status !== playwright
    return { title: text(second, 'title'), file: text(second, 'file'), hasFailed }
  }
  const mocha = member(self, 'currentTest')
  if (mocha !== undefined) {
    const state = text(mocha, 'state')
    return {
      title: text(mocha, 'title'),
      file: text(mocha, 'file'),
      hasFailed: state === undefined ? undefined : state === 'failed',
    }
  }
  const name = text(first, 'name')
  if (name !== undefined) {
    const passed = member(first, 'passed')
    return {
      title: name,
      file: text(first, 'filePath') ?? programFile(),
      hasFailed: typeof passed === 'boolean' ? !passed : undefined,
    }
  }
  const jest = expectState()
  return { title: text(jest, 'currentTestName'), file: text(jest, 'testPath'), hasFailed: hasFailedInCircus() }
}

/** The file of the test: node:test runs each file as the main program of a process. */
function programFile(): string | undefined {
  const argv = member(member(globalThis, 'process'), 'argv')
  return Array.isArray(argv) && typeof argv[1] === 'string' ? argv[1] : undefined
}

/**
 * Whether the test has failed in jest-circus, the default runner of jest, which keeps its state under a symbol of the global
 * object.
 */
function hasFailedInCircus(): boolean | undefined {
  const symbol = Object.getOwnPropertySymbols(globalThis).find(({ description }) => description === 'JEST_STATE_SYMBOL')
  if (symbol === undefined) return undefined
  const errors = member(member((globalThis as Readonly<Record<symbol, unknown>>)[symbol], 'currentlyRunningTest'), 'errors')
  return Array.isArray(errors) ? errors.length > 0 : undefined
}

function expectState(): unknown {
  const getState = member(member(globalThis, 'expect'), 'getState')
  return typeof getState === 'function' ? (getState as () => unknown)() : undefined
}

function member(value: unknown, name: string): unknown {
  const holds = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return holds ? (value as Readonly<Record<string, unknown>>)[name] : undefined
}

function text(value: unknown, name: string): string | undefined {
  const found = member(value, name)
  return typeof found === 'string' ? found : undefined
}
