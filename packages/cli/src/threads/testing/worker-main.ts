/** The program of a worker, as tests start it. */
import { createStreamLog } from '../../log.ts'
import { runWorker } from '../worker-process.ts'

runWorker((format) => createStreamLog((text) => void process.stderr.write(text), format))
