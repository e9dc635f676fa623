/** The program of `lmdb` histories in tests: serves the store in the folder that is its last argument. */
import { serveStore } from './backends/serve-store.ts'

await serveStore(process.argv.at(-1) ?? '')
