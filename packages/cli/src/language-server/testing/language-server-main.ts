/** The program of a language server, as tests start it. The argument is the time limit of its threads in milliseconds. */
import { runLanguageServer } from '../run.ts'

void runLanguageServer({
  version: '0.0.0',
  program: process.argv[1] ?? '',
  limits: { timeoutMs: Number(process.argv[2]) || 20_000, heapMb: 256 },
})
